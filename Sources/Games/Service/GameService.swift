import BatchConfiguration
package import BatchDelivery
import BatchFoundation
package import BatchPipeline
import BatchReport
import BatchStore
package import BatchWire
import GameRules

/// Collect and, if configured, deltaDNA Engage. Events are sent first, then questions (reference deltadna 8 and 9).
struct GameService: PlatformService {
  private let context: RunContext
  let collect: GameEndpoint
  /// Nil if `engageURL` is not set.
  private let engage: GameEndpoint?

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
        case .key:
          problems.append(
            "DeltaDNA.environmentKey may contain only letters, digits, '-', '.', '_' and '~', and must not be '.' or '..'"
          )
        }
        return nil
      }
    }
    let collectAddress = address(collectURL, "collectURL")
    let engageAddress = engageURL.flatMap { address($0, "engageURL") }
    guard problems.isEmpty, let collectAddress else { throw ServiceSettingsError(problems: problems) }
    collect = GameEndpoint(collectAddress, http: http, timeout: settings.collectTimeout)
    engage = engageAddress.map { GameEndpoint($0, http: http, timeout: settings.engageTimeout) }
  }

  var origin: String { collect.address.shown }

  var destination: any Destination {
    GameDestination(collect, call: "bulk", isIdempotent: true, retries: context.settings.deltaDNA.maxRetries)
  }

  func beforeDelivery(_ stage: inout ServiceStage) throws { try ServiceTimes.collect.warn(context, &stage) }

  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {
    try GameBacklog.count(in: &stage)
    // A decision depends on the events before it, so no questions are sent if delivery stopped.
    let asking = DecisionRun(
      store: stage.store, run: stage.run, asOf: context.asOf, service: report.stop == nil ? engage : nil,
      lifespan: context.settings.deltaDNA.engageCacheLifespan)
    let decisions = try stage.interruption.during({ try asking.ask() }, end: { asking.end() })
    stage.figures.merge(decisions.figures) { $1 }
    // Exit status 76, for held events, is less specific and is replaced.
    guard let end = decisions.end, [.done, .protocolRefused].contains(stage.exit) else { return }
    stage.exit = .credentialsRefused
    let reason =
      end.kind == .unknownEnvironment
      ? "Engage does not know the environment (status 404): DeltaDNA.engageURL or DeltaDNA.environmentKey is wrong"
      : "Engage refused the key or the hash (status \(end.status))"
    stage.report.failure = "\(reason); the remaining decisions were not requested"
  }
}

/// Counts the events from earlier runs that a game's current run sent.
package enum GameBacklog {
  /// Adds these events to the summary, which counts all of `--events-out` (reference deltadna 10).
  /// Throws ``StoreError``.
  package static func count(in stage: inout ServiceStage) throws {
    var backlog = NameTable<Int>(atMost: RunSummary.typeLimit)
    for sequence in try stage.store.ledger.sequences([.backlog(postedIn: stage.run)]) {
      while let block = try sequence() {
        let cursor = try EventBlockReader(block, .game)
        while try cursor.next() { backlog.add(1, to: ByteText(cursor.type.description)) }
      }
    }
    stage.report.summary.addEvents(backlog)
  }
}

extension DeliveryWindow {
  /// Creates the window of event times that Collect accepts at an instant (reference deltadna 5).
  init(_ settings: Settings, asOf: Instant) {
    let game = settings.deltaDNA
    self.init(
      after: Instant(milliseconds: asOf.milliseconds - game.oldestEvent.count), before: asOf + game.furthestAhead)
  }
}

/// The destination for a game's events, which are sent in the order in which they happened.
package final class GameDestination: Destination {
  package let traits: DeliveryTraits
  private let endpoint: GameEndpoint
  private let call: String?
  private let addressSettings: String?
  private let cancellation = HTTPCancellation()

  /// - Parameters:
  ///   - call: the last part of the path of requests; nil for none.
  ///   - isIdempotent: whether the service drops a second event with the same `eventUUID`, as Collect does (reference
  ///     deltadna 8), so that sending again after a lost response creates no duplicates.
  ///   - addressSettings: the settings to check if the service refuses everything; nil if the path of the address
  ///     contains a key.
  ///   - retries: the maximum number of retries for a request.
  package init(
    _ endpoint: GameEndpoint, call: String? = nil, isIdempotent: Bool, addressSettings: String? = nil, retries: Int
  ) {
    traits = DeliveryTraits(isIdempotent: isIdempotent, isOrdered: true, lanes: 8, mostAttempts: retries + 1)
    self.endpoint = endpoint
    self.call = call
    self.addressSettings = addressSettings
  }

  package var form: Int { 0 }

  /// - Parameter group: the raw value of the ``PIPLConsent`` under which the events were recorded.
  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let consent = PIPLConsent(rawValue: UInt8(truncatingIfNeeded: group))
    return SendOutcome(
      collect: endpoint.post(body, to: call, consent: consent, cancellation: cancellation),
      isIdempotent: traits.isIdempotent, addressSettings: addressSettings, now: Instant.now.milliseconds / 1000)
  }

  package func abort() { cancellation.cancel() }
}

/// Compares events with a sandbox's verdicts; Collect itself reports nothing about accepted events (reference
/// deltadna-service 3.7).
extension GameService {
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals
  ) throws {
    guard let verdicts = try sandboxVerdicts(interruption) else {
      arrivals.count(.taken, .events, by: try store.ledger.statusCounts()[.successfullyPosted, default: 0])
      arrivals.explain(
        .events,
        "Collect does not report the fate of accepted events; look them up in the environment's event browser, "
          + "or check events in a sandbox beforehand")
      try ServiceTimes.collect.doubt(store, &arrivals)
      return
    }
    arrivals.explain(
      .events,
      "each event is looked up by its eventUUID among those that the sandbox has checked"
        + (verdicts.areAll ? "" : "; the sandbox lists only the last \(verdicts.events.count)"))
    try store.ledger.forEachEvent(status: .successfullyPosted) { event in
      try interruption.check()
      let uuid = try JSONNode.parse(event.json)["eventUUID"]?.string ?? ""
      guard let finding = Self.finding(event.id, verdicts.events[ByteText(uuid.lowercased())], verdicts.areAll) else {
        arrivals.count(verdicts.events[ByteText(uuid.lowercased())] == nil ? .taken : .confirmed, .events)
        return true
      }
      arrivals.add(finding)
      return true
    }
  }

  /// Returns the problem with an event; nil if there is none. `found` is nil if the sandbox does not know the event.
  private static func finding(
    _ id: EventID, _ found: SandboxVerdicts.Event?, _ areAll: Bool
  ) -> Arrivals.Finding? {
    switch found?.verdict {
    case "valid", "duplicate": nil
    case "invalid":
      Arrivals.Finding(
        .different, .events, "\(id)",
        "accepted, but rejected by the checks: \(found?.reasons.joined(separator: ", ") ?? "")",
        repair:
          "check the inputs against the schema with 'validate'; the service keeps one event per id, so only later events can be corrected"
      )
    case "outOfWindow":
      Arrivals.Finding(
        .missing, .events, "\(id)", "accepted, then dropped because of its timestamp",
        repair: "set DeltaDNA.oldestEvent and DeltaDNA.furthestAhead so that such events are not sent")
    case .some(let other):
      Arrivals.Finding(.unknown, .events, "\(id)", "the sandbox reports '\(other)'", repair: "")
    case nil where areAll:
      Arrivals.Finding(
        .missing, .events, "\(id)", "the sandbox does not have this event",
        repair: "if the sandbox was restarted without its state, delete the store as well and run again")
    case nil: nil
    }
  }

  /// Returns the verdicts of the sandbox at the origin of the address; nil if something else responds.
  private func sandboxVerdicts(_ interruption: Interruption) throws -> SandboxVerdicts? {
    let origin = collect.address.service.origin
    // Plain HTTP is allowed only for connections to this machine. The origin of an address is always a valid address.
    guard origin.utf8.starts(with: "http://".utf8), let address = try? ServiceAddress(origin) else { return nil }
    var request = HTTPRequest(.get, address, "/sandbox/state")
    request.answerLimit = 64 << 20
    let (state, http, cancellation) = (request, collect.http, HTTPCancellation())
    switch interruption.during(
      { http.send(state, cancellation: cancellation) }, end: { cancellation.cancel() })
    {
    case .answer(let answer): return answer.status == 200 ? SandboxVerdicts(answer.body) : nil
    case .notSent(let fault), .noAnswer(let fault):
      try interruption.check()
      throw CommandError.unqueried("\(fault)", exit: .serviceUnavailable)
    }
  }
}
