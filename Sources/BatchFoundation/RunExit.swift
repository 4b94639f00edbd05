/// The exit codes of the program (reference command-line 4).
public enum RunExit: Int32, CaseIterable, Codable, Sendable {
  case done = 0
  case usage = 64
  case inputRefused = 65
  case noInput = 66
  case serviceUnavailable = 69
  case cannotWrite = 73
  case inputOutput = 74
  case storeIsHeld = 75
  case protocolRefused = 76
  case credentialsRefused = 77
  case configuration = 78
  case interrupted = 130
  case terminated = 143

  /// Creates the exit code of a run that ends with the error.
  package init(of error: any Error) { self = (error as? any RunError)?.exit ?? .inputOutput }
}

/// An error that determines the exit code of the run that it ends, so that the core need not list platforms' errors.
public protocol RunError: Error {
  var exit: RunExit { get }
}

/// An error that only says why a command ends, because nothing handles it in any other way.
package struct CommandError: RunError, Equatable, CustomStringConvertible {
  package let exit: RunExit
  package let description: String

  package init(_ exit: RunExit, _ description: String) {
    self.exit = exit
    self.description = description
  }
}

/// An error thrown because an input cannot be read, or can no longer be read as before.
public protocol InputFailure: Error {}
