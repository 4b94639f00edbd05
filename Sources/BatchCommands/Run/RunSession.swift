import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import EngageSandbox
import FoundationEssentials

/// One run as a person sees it: progress, end summary, figures, exit code.
struct RunSession {
  let output: OutputOptions
  let usesSandbox: Bool

  init(_ output: OutputOptions, usesSandbox: Bool = false) {
    self.output = output
    self.usesSandbox = usesSandbox
  }

  func run(_ request: (Instant) throws -> RunRequest) throws {
    let now = Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
    var request = try request(now)
    request.eventsOut = output.eventsOut
    request.explain = try Failures.reported { try output.explainedDevice() }
    if let limit = output.maxQuarantine { request.maxQuarantine = limit }
    let monitor = TerminalMonitor(output.progress)
    let interruption = Interruption()
    try Signals.pass(to: interruption)
    let outcome: RunOutcome
    if usesSandbox { request.nameSandboxList() }
    do {
      let sandbox = try usesSandbox ? SandboxServer.start(EngageSandboxOptions.embedded(for: request.settings)) : nil
      defer { stop(sandbox) }
      request.sandboxAddress = sandbox?.baseURL
      if let sandbox { monitor.note("Sandbox: listening on \(sandbox.baseURL)") }
      outcome = try Pipeline(request, monitor: monitor, interruption: interruption).run()
      monitor.finish()
      if let path = output.summary { try OutputFile(path).write(outcome.report.summary.json + "\n") }
    } catch {
      monitor.finish()
      throw Failures.report(error)
    }
    for line in outcome.explanation { Streams.note(line) }
    for line in TextSummary(outcome.report, reportFolder: outcome.reportFolder).lines { Streams.note(line) }
    guard outcome.exit == .done else { throw ExitCode(outcome.exit) }
  }

  private func stop(_ sandbox: SandboxServer?) {
    do {
      try sandbox?.stop()
    } catch {
      Streams.note("Sandbox: did not stop cleanly: \(error)")
    }
  }
}
