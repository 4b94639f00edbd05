import ArgumentParser
import EngageIngest
import EngageModel
import EngagePipeline
import EngageReport
import FoundationEssentials

/// One run as a person sees it: progress, end summary, figures, exit code.
struct RunSession {
  let output: OutputOptions

  init(_ output: OutputOptions) { self.output = output }

  func run(_ request: (Instant) throws -> RunRequest) throws {
    let now = Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
    var request = try request(now)
    request.eventsOut = output.eventsOut
    request.explain = output.explain
    if let limit = output.maxQuarantine { request.maxQuarantine = limit }
    let outcome: RunOutcome
    do {
      outcome = try Pipeline(request, monitor: TerminalMonitor(output.progress)).run()
      if let path = output.summary { try OutputFile(path).write(outcome.summary.json + "\n") }
    } catch {
      Streams.note("\(error)")
      throw ExitCode(RunFailure.exit(of: error).rawValue)
    }
    for line in outcome.explanation { Streams.note(line) }
    for note in outcome.notes { Streams.note(note) }
    guard outcome.exit == .done else { throw ExitCode(outcome.exit.rawValue) }
  }
}
