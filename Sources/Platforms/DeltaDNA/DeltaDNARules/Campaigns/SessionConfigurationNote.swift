package import BatchFoundation

/// One finding about a session configuration, and where.
package struct SessionConfigurationNote: Equatable, Sendable, CustomStringConvertible {
  package enum Severity: String, Sendable {
    /// The file cannot be used.
    case error
    case warning
  }

  /// As the caller named the file.
  package var file: String
  /// From 1; the column counts bytes.
  package var line: Int
  package var column: Int
  package var severity: Severity
  package var message: String

  package var description: String { "\(file):\(line):\(column): \(severity.rawValue): \(message)" }
}

/// A session configuration that cannot be used, with everything that is wrong with it.
package struct SessionConfigurationError: RunError, Equatable, Sendable, CustomStringConvertible {
  package var faults: [SessionConfigurationNote]

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
