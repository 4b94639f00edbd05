import ArgumentParser
import BatchFoundation
import BatchPipeline

/// The user interface of a step of a run in parts: progress, a closing line, and the exit code.
struct PartSession {
  let now = Instant.now
  let monitor = TerminalMonitor(.auto)
  let interruption: Interruption

  init() throws { interruption = try Signals.interruption() }

  func pipeline(_ request: RunRequest) -> Pipeline {
    Pipeline(request, monitor: monitor, interruption: interruption)
  }

  /// - Parameters:
  ///   - files: The number of files open at once, in addition to those of every run.
  ///   - step: Returns the closing line.
  func conduct(files: Int = 0, _ step: () throws -> String) throws {
    try Failures.reported {
      try ProcessSetup.requireDescriptors(more: files)
      defer { monitor.finish() }
      let words = try step()
      monitor.note(words)
    }
  }
}
