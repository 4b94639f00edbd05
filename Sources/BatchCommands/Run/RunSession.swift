import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import FoundationEssentials
import Glibc

/// The user interface of a run: progress, final summary, metrics, exit code.
struct RunSession {
  let output: OutputOptions
  let messages: MessageOptions
  /// Nil for a command that reads no records.
  var limits: LimitOptions?
  /// Nil for a command that processes no devices.
  var explain: ExplainOptions?
  var explanations = OutputFormat.text
  var usesSandbox = false
  /// Whether the service is called.
  var connects = true
  /// Whether the final summary names the problems of quarantined lines.
  var namesLines = true

  /// - Parameters:
  ///   - request: Returns the request for a run at an instant, for a missed window or, if that is nil, for the run's
  ///     own window.
  ///   - receive: Receives the outcome before the final summary is printed.
  func run(
    _ request: @escaping @Sendable (Instant, MissedWindow?) throws -> RunRequest,
    receive: (RunOutcome) -> Void = { _ in }
  ) throws {
    Streams.begin(messages.log)
    var isReported = false
    do {
      try conduct(request, receive, &isReported)
    } catch {
      let failure = Failures.report(error)
      if !isReported, let exit = failure as? ExitCode { Streams.end(exit.rawValue) }
      Streams.release()
      throw failure
    }
  }

  private func conduct(
    _ make: @escaping @Sendable (Instant, MissedWindow?) throws -> RunRequest, _ receive: (RunOutcome) -> Void,
    _ isReported: inout Bool
  ) throws {
    var request = try make(.now, nil)
    if !request.job.name.isEmpty { Streams.begin(job: request.job.name) }
    request.eventsOut = output.eventsOut
    request.findingsOut = output.findingsOut
    request.decisionsOut = output.decisionsOut
    request.summaryOut = output.summary
    request.metricsOut = output.metrics
    request.otlpOut = output.otlp
    request.junitOut = output.junit
    request.failsOnUnusual = limits?.failOn == .unusual
    if usesSandbox { request.useSandbox() }
    // Checked before anything can fail, because failed runs also write output files.
    try request.checkOutputs(against: explain?.files ?? [])
    try ProcessSetup.requireDescriptors()
    request.explain = try explain?.device()
    if let limit = limits?.maxQuarantine { request.maxQuarantine = limit }
    request.stopsEarly = limits?.stopEarly ?? false
    let monitor = TerminalMonitor(messages.quiet ? .none : messages.progress)
    let interruption = try Signals.interruption()
    let isRefused = request.loaded.refusal != nil
    if !isRefused { for line in request.job.profileLines() { monitor.note(line) } }
    if !isRefused, request.mode != .post { for line in request.job.times { monitor.note(line) } }
    var pipeline = Pipeline(request, monitor: monitor, interruption: interruption)
    var outcome: RunOutcome
    var earlier = RunExit.done
    do {
      let sandbox = try usesSandbox && connects && !isRefused ? EmbeddedSandbox.start(for: request) : nil
      defer { EmbeddedSandbox.stop(sandbox) }
      request.sandboxAddress = sandbox?.baseURL
      if let sandbox { monitor.note("Sandbox: listening on \(sandbox.baseURL), with the store \(request.storePath)") }
      if !isRefused { earlier = try catchUp(&request, make, monitor, interruption) }
      pipeline = Pipeline(request, monitor: monitor, interruption: interruption)
      outcome = try pipeline.run()
      monitor.finish()
    } catch {
      monitor.finish()
      let failure = Failures.report(error)
      let report = failed(request, pipeline, error)
      // The run has already failed; its exit code must not change.
      do { try writeFigures(of: request, report.exit, isWhole: false, report) } catch { Streams.note("\(error)") }
      if report.exit != .usage {
        do {
          if let path = output.junit {
            try OutputFile.write(JUnitReport.document(report).text, to: path, request.storage)
          }
          if let path = output.summary { try OutputFile.write(report.summaryJSON + "\n", to: path, request.storage) }
        } catch { Streams.note("\(error)") }
      }
      var alarm = Alarm(report)
      let isDamage = (error as? StoreError)?.isDamage == true
      if isDamage { alarm.noteDamage(of: request.storePath) }
      AlarmCall(request: request).send(alarm, isKept: false)
      if isDamage { Streams.note("The same command would fail again. To see the damage: \(alarm.command ?? "")") }
      if Self.canGoOn(after: error), !request.mode.isDryRun { Streams.note(Self.resumption(request)) }
      throw failure
    }
    outcome.attempt { outcome in
      if let path = output.summary {
        try OutputFile.write(outcome.report.summaryJSON + "\n", to: path, request.storage)
      }
    }
    if let explanation = outcome.explanation { print(explanation) }
    outcome.attempt { outcome in
      if let path = output.junit {
        try OutputFile.write(JUnitReport.document(outcome.report).text, to: path, request.storage)
      }
    }
    outcome.attempt { outcome in
      try writeFigures(of: request, outcome.exit == .done ? earlier : outcome.exit, outcome.report)
    }
    pipeline.noteEnd(&outcome)
    receive(outcome)
    var alarming = outcome.report
    if alarming.exit == .done, earlier != .done {
      (alarming.exit, alarming.failure) = (earlier, "a missed window failed")
    }
    AlarmCall(request: request).send(Alarm(alarming, folder: outcome.reportFolder), isKept: true)
    let summary = TextSummary(
      outcome.report, reportFolder: outcome.reportFolder, namesLines: namesLines)
    isReported = true
    let exit = outcome.exit == .done ? earlier : outcome.exit
    Streams.summary(
      summary.lines,
      Log.End(exit: exit.rawValue, run: outcome.run, figures: outcome.report.summaryJSON))
    guard exit == .done else { throw ExitCode(exit) }
  }

  /// Runs the job for missed windows, judged together with the run's own window, and returns the exit code of
  /// the first one that failed.
  private func catchUp(
    _ request: inout RunRequest, _ make: @escaping @Sendable (Instant, MissedWindow?) throws -> RunRequest,
    _ monitor: TerminalMonitor, _ interruption: Interruption
  ) throws -> RunExit {
    let windows = try Pipeline(request, monitor: monitor, interruption: interruption).windowsToCatchUp()
    guard !windows.isEmpty else { return .done }
    var caughtUp = CatchUp(windows, interruption) { [request, limits, usesSandbox] window in
      var other = try make(request.now, window)
      if usesSandbox { other.useSandbox() }
      (other.sandboxAddress, other.failsOnUnusual) = (request.sandboxAddress, limits?.failOn == .unusual)
      other.maxQuarantine = limits?.maxQuarantine
      return other
    }
    try caughtUp.run { monitor.note($0) }
    if caughtUp.isUsable { request.isUsableElsewhere = { true } }
    if caughtUp.isRefused, request.mode == .run {
      // Otherwise the events from the refused window would be sent with the rest.
      request.mode = .noUpload
      monitor.note("Delivery: nothing is sent, because the run for a missed window ended with exit code 65")
    }
    return caughtUp.exit
  }

  /// Writes the files for `--metrics` and `--otlp`.
  private func writeFigures(of request: RunRequest, _ exit: RunExit, isWhole: Bool = true, _ report: RunReport) throws {
    if let path = output.metrics {
      try MetricsFile.write(to: path, request.storage, job: request.job.name) { job, lastSuccess in
        MetricsText(
          job: job ?? report.job, exit: exit, endedAt: .now, lastSuccess: lastSuccess, report: report, isWhole: isWhole)
      }
    }
    if let path = output.otlp {
      let metrics = MetricsText(
        job: report.job, exit: exit, endedAt: .now, lastSuccess: nil, report: report, isWhole: isWhole)
      try OutputFile.write(TelemetryText(metrics, startedAt: request.now).text, to: path, request.storage)
    }
  }

  /// Returns the report of a run that failed before it had one.
  private func failed(_ request: RunRequest, _ pipeline: Pipeline, _ error: any Error) -> RunReport {
    // An unreadable job has no name.
    let file = PathText.withoutExtension(PathText.name(of: request.job.file))
    var report = RunReport(
      job: request.job.name.isEmpty ? file : request.job.name, jobFile: request.job.file,
      destination: request.platform.name,
      startedAt: request.now, asOf: request.asOf)
    report.invocation = request.invocation
    (report.from, report.to) = (request.job.window.from, request.job.window.to)
    report.exit = RunExit(of: error)
    report.failure = "\(error)"
    report.summary.stopped = report.failure
    report.summary.missed = pipeline.missedNow()
    return report
  }

  /// Returns whether the same command continues what an error interrupted.
  private static func canGoOn(after error: any Error) -> Bool {
    // If a folder is at the store's path, the same command fails again; the error says what to name instead.
    if case StoreError.notAFile = error { return false }
    if (error as? StoreError)?.isDamage == true { return false }
    return switch RunExit(of: error) {
    case .interrupted, .terminated, .serviceUnavailable, .cannotWrite, .inputOutput, .storeIsHeld: true
    default: false
    }
  }

  private static func resumption(_ request: RunRequest) -> String {
    let invocation = request.invocation
    let command = request.mode == .post ? invocation.post : invocation.run
    return "To continue: \(command.text)\(invocation.omission)"
  }

  /// Prints the explanation to stdout as data, or to stderr if another output uses stdout.
  private func print(_ explanation: Facts) {
    let write = output.takesStdout ? Streams.note : Streams.data
    switch explanations {
    case .text: for line in explanation.lines { write(line.text) }
    case .json:
      write(explanation.document.text())
      guard explanation.document["steps"]?.array?.isEmpty == true else { return }
      for line in explanation.lines { Streams.note(line.text) }
    }
  }
}
