import ArgumentParser
import BatchFoundation
import BatchPipeline

/// A step of a run in parts as a person sees it: progress, one line at its end, exit code.
struct PartSession {
  let now = Instant.now
  let monitor = TerminalMonitor(.auto)
  let interruption: Interruption

  init() throws { interruption = try Signals.interruption() }

  func pipeline(_ request: RunRequest) -> Pipeline {
    Pipeline(request, monitor: monitor, interruption: interruption)
  }

  /// - Parameters:
  ///   - files: how many are open at once, besides those of every run.
  ///   - step: returns what is said at the end.
  func conduct(files: Int = 0, _ step: () throws -> String) throws {
    try Failures.reported {
      try ProcessSetup.requireDescriptors(more: files)
      defer { monitor.finish() }
      let words = try step()
      monitor.note(words)
    }
  }
}
