/// The place of a value or fault: a line of a file, an environment variable, or a command-line option.
package struct Place: Hashable, Sendable, CustomStringConvertible {
  package var source: String
  /// The line from 1; nil if the source has no lines.
  package var line: Int?
  /// The column from 1, in bytes; nil if messages do not show it.
  package var column: Int?

  package init(_ source: String, line: Int? = nil, column: Int? = nil) {
    (self.source, self.line, self.column) = (source, line, column)
  }

  package var description: String {
    ([source] + [line, column].compactMap { $0.map { "\($0)" } }).joined(separator: ":")
  }
}

/// One fault in a hand-written document, in the words shown to users.
package struct ConfigurationFault: Hashable, Sendable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    case error, warning
    /// Not a fault, but possibly of interest.
    case note
  }

  package var place: Place
  package var severity: Severity
  /// The problem, with the key in single quotes. It never contains the value of a secret.
  package var problem: String
  /// A suggestion or an instruction.
  package var hint: String?

  package init(_ place: Place, _ severity: Severity, _ problem: String, hint: String? = nil) {
    (self.place, self.severity, self.problem, self.hint) = (place, severity, problem, hint)
  }

  package init(_ place: Place, _ problem: String, hint: String? = nil) {
    self.init(place, .error, problem, hint: hint)
  }

  package var text: String { problem + (hint.map { "; \($0)" } ?? "") }

  package var description: String {
    // The result is one line, even if quoted names or values contain line breaks.
    ("\(place): \(severity.rawValue): \(problem.shortened(to: 1000))" + (hint.map { "; \($0)" } ?? "")).printable
  }
}

/// The error thrown for an unusable hand-written file, with everything that is wrong with it.
package struct FileError: RunError, Hashable, Sendable, CustomStringConvertible {
  package var faults: [ConfigurationFault]

  package init(_ faults: [ConfigurationFault]) { self.faults = faults }

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
