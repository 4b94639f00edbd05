import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchHTTP
import BatchPlatform
import BatchReport
import BatchStore
import DeltaDNAAPI
import DeltaDNADecisions
import DeltaDNAPlatform
import EngageAPI

/// The service that a run sends to.
enum RunService {
  case engage(EngageService)
  case game(GameService)

  /// - Throws: ``ServiceSettingsError`` with everything that is missing.
  init(_ request: RunRequest) throws {
    guard request.game != nil else {
      self = .engage(try EngageService.of(request))
      return
    }
    do throws(GameService.SettingsFault) {
      self = .game(
        try GameService(
          request.settings.deltaDNA, sandbox: request.sandboxAddress,
          http: HTTPClient(HTTPSettings(request.settings.connection)),
          now: { Pipeline.now.milliseconds / 1000 }))
    } catch {
      throw ServiceSettingsError(problems: error.problems)
    }
  }
}

/// What a run does for a job whose destination is deltaDNA, beside what it does for all.
extension Pipeline {
  /// Events to Collect, then the questions to Engage (reference deltadna 8 and 9).
  func connect(_ service: GameService, _ store: EventStore, _ run: RunID, _ outcome: inout RunOutcome) throws {
    let game = request.settings.deltaDNA
    monitor.note("Delivery: sending to \(service.collect.address.shown)")
    if let asOf = request.job.asOf, abs(asOf.milliseconds - request.now.milliseconds) > 3_600_000 {
      // The service measures by its own clock.
      outcome.report.notes.append("asOf is more than an hour off the clock, by which Collect drops events")
      monitor.note("warning: asOf is more than an hour off the clock, by which Collect drops events")
    }
    var settings = DeliverySettings(request.settings)
    settings.concurrency = game.concurrency
    settings.limits = request.limits
    settings.backoff.first = game.retryDelay
    let delivery = Delivery(store: store, destination: service.destination(game), settings: settings)
    let report = try outcome.timed(.delivery) { _ in
      try interruption.during({ try delivery.run(run) { monitor.delivered($0) } }, end: { delivery.end() })
    }
    outcome.report.summary.upload = RunSummary.Upload(report)
    outcome.report.ledger = UploadLedger(report)
    if let stop = outcome.report.ledger.stop { outcome.report.failure = "sending stopped early: \(stop)" }
    if let signal = interruption.signal {
      outcome.exit = signal == 2 ? .interrupted : .terminated
      return
    }
    if report.exit != .done { outcome.exit = report.exit }
    // A decision follows from the events before it, so without them nothing is asked.
    let engage = report.stop == nil ? service.engage : nil
    let asking = DecisionRun(
      store: store, run: run, asOf: request.asOf, service: engage, lifespan: game.engageCacheLifespan)
    let decisions = try interruption.during({ try asking.ask() }, end: { asking.end() })
    outcome.decisions = decisions
    noteFigures(&outcome)
    if decisions.isDenied, outcome.exit == .done {
      outcome.exit = .credentialsRefused
      outcome.report.failure = "Engage refused key or hash; the rest was not asked"
    }
    try writeDecisions(of: run, store, &outcome)
  }

  private func writeDecisions(of run: RunID, _ store: EventStore, _ outcome: inout RunOutcome) throws {
    guard let path = request.decisionsOut else { return }
    do {
      let file = try OutputFile(path)
      try store.forEachDecisionLine(of: run) { try file.write($0 + "\n") }
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// What the platform counted, for the summary.
  func add(_ local: DecisionResult, to outcome: inout RunOutcome) {
    outcome.figures = local.tally.figures
    noteFigures(&outcome)
  }

  private func noteFigures(_ outcome: inout RunOutcome) {
    request.game?.add(outcome.figures, outcome.decisions, to: &outcome.report.summary)
  }

  /// `--findings-out`.
  func write(_ findings: OrderedLines?, _ outcome: inout RunOutcome) throws {
    guard let findings, let path = request.findingsOut else { return }
    do {
      let file = try OutputFile(path)
      for line in findings.sorted() { try line.withUnsafeBytes { try file.write($0) } }
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }
}
