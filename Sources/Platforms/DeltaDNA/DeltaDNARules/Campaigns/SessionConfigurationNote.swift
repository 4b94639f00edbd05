package import BatchFoundation

/// A session configuration that cannot be used, with everything that is wrong with it.
package struct SessionConfigurationError: RunError, Equatable, Sendable, CustomStringConvertible {
  package var faults: [FileNote]

  package var exit: RunExit { .configuration }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
