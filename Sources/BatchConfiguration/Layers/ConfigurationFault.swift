package import BatchFoundation

/// Where a value or a fault stands: a file with a line, a variable of the environment, or an option of the command line.
package struct Place: Hashable, Sendable, CustomStringConvertible {
  package var source: String
  /// Counted from 1; nil where there are no lines.
  package var line: Int?

  package init(_ source: String, line: Int? = nil) {
    self.source = source
    self.line = line
  }

  package var description: String {
    if let line { "\(source):\(line)" } else { source }
  }
}

/// One thing that is wrong with a configuration or a job, in the words that people see.
package struct ConfigurationFault: Hashable, Sendable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    case error, warning
    /// Nothing is wrong; a person may want to know.
    case note
  }

  package var place: Place
  package var severity: Severity
  /// What is wrong, with the key in single quotes. Never the value of a secret.
  package var problem: String
  /// What was probably meant, or what to do.
  package var hint: String?

  package init(_ place: Place, _ problem: String, hint: String? = nil) {
    self.init(place, .error, problem, hint: hint)
  }

  package init(_ place: Place, _ severity: Severity, _ problem: String, hint: String? = nil) {
    self.place = place
    self.severity = severity
    self.problem = problem
    self.hint = hint
  }

  package var description: String {
    // One line, whatever names and values of files it quotes.
    ("\(place): \(severity.rawValue): \(problem.shortened(to: 1000))" + (hint.map { "; \($0)" } ?? "")).printable
  }
}

/// Everything that is wrong with a configuration and its job, of all files at once.
package struct ConfigurationErrors: Error, Hashable, Sendable, CustomStringConvertible {
  /// Errors and warnings in the order in which they were found; at least one is an error.
  package var faults: [ConfigurationFault]
  /// As much of the job as could be read; nil without a job.
  package private(set) var job: Job?

  /// More faults of one file than this are counted.
  static let most = 200

  package init(_ faults: [ConfigurationFault], of job: Job? = nil) {
    (self.faults, self.job) = (faults, job)
    if faults.count > Self.most, let last = faults.last {
      let more = faults.count - Self.most
      self.faults = Array(faults.prefix(Self.most))
      // One of those that are left out may be the error.
      self.faults.append(
        ConfigurationFault(Place(last.place.source), "\(more.counted("more finding")) here and elsewhere"))
    }
  }

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
