package import BatchFoundation

/// The place of a value or fault: a file with a line, an environment variable, or a command-line option.
package struct Place: Hashable, Sendable, CustomStringConvertible {
  package var source: String
  /// The line from 1; nil if there are no lines.
  package var line: Int?

  package init(_ source: String, line: Int? = nil) {
    self.source = source
    self.line = line
  }

  package var description: String {
    if let line { "\(source):\(line)" } else { source }
  }
}

/// One fault of a configuration or a job, in the words shown to users.
package struct ConfigurationFault: Hashable, Sendable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    case error, warning
    /// Not a fault, but possibly of interest.
    case note
  }

  package var place: Place
  package var severity: Severity
  /// The problem, with the key in single quotes. Never the value of a secret.
  package var problem: String
  /// A suggestion, or what to do.
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

/// All faults of a configuration and its job, from all files.
package struct ConfigurationErrors: Error, Hashable, Sendable, CustomStringConvertible {
  /// The errors and warnings in the order in which they were found; at least one is an error.
  package var faults: [ConfigurationFault]
  /// The job as far as it could be read; nil without a job.
  package private(set) var job: Job?

  /// The number of faults beyond which the rest are only counted.
  static let most = 200

  package init(_ faults: [ConfigurationFault], of job: Job? = nil) {
    (self.faults, self.job) = (faults, job)
    if faults.count > Self.most, let last = faults.last {
      let more = faults.count - Self.most
      self.faults = Array(faults.prefix(Self.most))
      // The error may be among those left out.
      self.faults.append(
        ConfigurationFault(Place(last.place.source), "\(more.counted("more finding")) here and elsewhere"))
    }
  }

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
