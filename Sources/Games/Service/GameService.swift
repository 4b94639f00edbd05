import BatchConfiguration
import BatchDelivery
import BatchFoundation
package import BatchPipeline
import BatchReport
import BatchStore
import BatchWire
import GameRules

/// Collect and, if configured, Engage: first events are sent, then questions (reference deltadna 8 and 9).
struct GameService: PlatformService {
  private let context: RunContext
  let collect: CollectService
  /// Nil without `engageURL`.
  private let engage: DecisionService?

  /// - Throws: ``ServiceSettingsError``.
  init(_ context: RunContext) throws {
    self.context = context
    let settings = context.settings.deltaDNA
    let sandbox = context.sandboxAddress
    let http = HTTPClient(try HTTPSettings(context.settings.connection))
    var problems: [String] = []
    let collectURL = sandbox.map { "\($0)/collect/api" } ?? settings.collectURL ?? ""
    let engageURL = sandbox.map { "\($0)/engage/api" } ?? settings.engageURL
    // A sandbox accepts any key.
    let key = settings.environmentKey.flatMap { $0.isEmpty ? nil : $0 } ?? Secret("any")
    func address(_ url: String, _ setting: String) -> EnvironmentAddress? {
      do throws(EnvironmentAddress.Fault) {
        return try EnvironmentAddress(endpoint: url, key: key, hashSecret: settings.hashSecret)
      } catch {
        switch error {
        case .endpoint(let fault): problems.append("DeltaDNA.\(setting): \(fault)")
        case .key: problems.append("DeltaDNA.environmentKey has a character that a URL path cannot have")
        }
        return nil
      }
    }
    let collectAddress = address(collectURL, "collectURL")
    let engageAddress = engageURL.flatMap { address($0, "engageURL") }
    guard problems.isEmpty, let collectAddress else { throw ServiceSettingsError(problems: problems) }
    collect = CollectService(
      collectAddress, http: http, timeout: settings.collectTimeout,
      wallClock: { Instant.now.milliseconds / 1000 })
    engage = engageAddress.map { DecisionService($0, http: http, timeout: settings.engageTimeout) }
  }

  var origin: String { collect.address.shown }

  var destination: any Destination {
    GameDestination(collect, retries: context.settings.deltaDNA.maxRetries)
  }

  var decisionLines: ((RunID, EventStore, _ body: (String) throws -> Void) throws -> Void)? {
    { run, store, body in try store.decisions.forEachLine(of: run, body) }
  }

  func beforeDelivery(_ stage: inout ServiceStage) throws { try ServiceTimes.collect.warn(context, &stage) }

  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {
    try GameBacklog.count(in: &stage)
    // A decision follows from the events before it, so without them nothing is asked.
    let asking = DecisionRun(
      store: stage.store, run: stage.run, asOf: context.asOf, service: report.stop == nil ? engage : nil,
      lifespan: context.settings.deltaDNA.engageCacheLifespan)
    let decisions = try stage.interruption.during({ try asking.ask() }, end: { asking.end() })
    stage.figures[GameFigure.asked.rawValue] = decisions.asked
    stage.figures[GameFigure.answered.rawValue] = decisions.answered
    stage.figures[GameFigure.cached.rawValue] = decisions.cached
    stage.figures[GameFigure.failed.rawValue] = decisions.failed
    for (place, outcomes) in decisions.places {
      for (outcome, count) in outcomes {
        stage.figures[GameFigure.asked(place.decisionPoint, place.flavour, outcome)] = count
      }
    }
    // Held events end a run with 76, which is less specific.
    guard let end = decisions.end, [.done, .protocolRefused].contains(stage.exit) else { return }
    stage.exit = .credentialsRefused
    let reason =
      end.kind == .unknownEnvironment
      ? "nothing at this Engage address (status 404): DeltaDNA.engageURL or DeltaDNA.environmentKey is wrong"
      : "Engage refused key or hash (status \(end.status))"
    stage.report.failure = "\(reason); the rest was not asked"
  }
}

/// Events of earlier runs that were sent by this run of a game.
package enum GameBacklog {
  /// Adds them to the summary, which counts all events of `--events-out` (reference deltadna 10).
  package static func count(in stage: inout ServiceStage) throws {
    var backlog = NameTable<Int>(atMost: RunSummary.typeLimit)
    for sequence in try stage.store.ledger.sequences([.backlog(postedIn: stage.run)]) {
      while let block = try sequence.next() {
        let cursor = try EventBlockReader(block, .game)
        while try cursor.next() { backlog.add(1, to: ByteText(cursor.type.description)) }
      }
    }
    stage.report.summary.addEvents(backlog)
  }
}

extension DeliveryWindow {
  /// Makes the window of events that Collect accepts at an instant (reference deltadna 5).
  init(_ settings: Settings, asOf: Instant) {
    let game = settings.deltaDNA
    self.init(
      after: Instant(milliseconds: asOf.milliseconds - game.oldestEvent.count), before: asOf + game.furthestAhead)
  }
}
