import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchSandbox

/// How errors become words on stderr and an exit code (reference command-line 4).
enum Failures {
  /// Runs `body`; an error is told on stderr and becomes its exit code. Those of the argument parser pass.
  static func reported<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw report(error)
    }
  }

  /// Tells the error, unless that was done or is done by the argument parser; the error to end the command with.
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
