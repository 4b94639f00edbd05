/// An error that says itself how a run ends for it, so that a platform's errors need no line in the core.
public protocol RunError: Error {
  var exit: RunExit { get }
}

/// How the program ends for whoever started it (reference command-line 4): the one list of exit codes.
///
/// `RunFailure` says which error has which.
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
}
