import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchSandbox

/// The conversion of errors to messages on stderr and exit codes (reference command-line 4).
enum Failures {
  /// Runs `body`, reports an error on stderr and throws its exit code. Errors of the argument parser pass unchanged.
  static func reported<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw report(error)
    }
  }

  /// Reports the error, unless that is done already or left to the argument parser, and returns the error to end with.
  static func report(_ error: any Error) -> any Error {
    if error is ExitCode || error is CleanExit || error is ValidationError { return error }
    Streams.note("\(error)")
    if error is SandboxInputError { return ExitCode(.configuration) }
    return ExitCode(RunFailure.exit(of: error))
  }
}

extension ExitCode {
  init(_ exit: RunExit) { self.init(exit.rawValue) }
}
