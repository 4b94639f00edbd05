package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchPipeline
package import BatchReport
package import BatchStore
import BatchWire
import GameRules

/// A platform for games: deltaDNA or its successor. Only the service differs, so a job can change its `destination`.
package protocol GamePlatform: Platform {
  /// The event times that the service accepts.
  var times: ServiceTimes { get }

  /// The settings that determine access to the service, for messages.
  var access: String { get }

  /// Returns the settings with which the game's rules process events for the service.
  func gameSettings(_ settings: Settings) -> Settings
}

extension GamePlatform {
  package var vocabulary: RecordVocabulary { .game }

  package func gameSettings(_ settings: Settings) -> Settings { settings }

  private func asGame(_ run: RunContext) -> RunContext {
    var run = run
    run.settings = gameSettings(run.settings)
    return run
  }

  package func rules(for run: RunContext) throws -> any PlatformRules { try GamePlatformRules(asGame(run)) }

  package var storeFormat: StoreFormat {
    StoreFormat(
      destination: name, wireForm: WireForm.game, migrations: DecisionTables.migrations,
      retention: DecisionTables.retention, personal: PersonalDecisions(),
      collection: DecisionTables.collection)
  }

  package func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? {
    DeliveryWindow(gameSettings(settings), asOf: asOf)
  }

  package func deliverySettings(_ settings: Settings) -> DeliverySettings {
    let game = gameSettings(settings).deltaDNA
    var delivery = DeliverySettings(
      settings, limits: RequestLimits(maxEvents: game.maxEventsPerRequest, maxBodyBytes: game.maxBytesPerRequest))
    delivery.concurrency = settings.deltaDNA.concurrency
    delivery.patience.backoff.first = settings.deltaDNA.retryDelay
    return delivery
  }

  package func announcements(_ run: RunContext) -> [String] {
    // An unreadable or unusable file ends the run with a separate error.
    let configuration = run.settings.deltaDNA.sessionConfiguration.flatMap {
      try? SessionConfiguration.read(InputBytes.read($0), name: $0)
    }
    return configuration?.notes.map(\.description) ?? []
  }

  package func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String] {
    let questions = figures[GameFigure.decisions]
    guard questions > 0, gameSettings(run.settings).deltaDNA.engageURL != nil else { return [] }
    return ["at most \(questions) decision request\(questions == 1 ? "" : "s") to Engage"]
  }

  package func add(
    _ figures: [String: Int], _ details: ProcessingDetails?, of run: RunContext, to report: inout RunReport
  ) {
    report.summary.sessionsStarted = figures[GameFigure.sessionsStarted]
    report.summary.sessionsEnded = figures[GameFigure.sessionsEnded]
    report.summary.platform = PlatformFigures(name, ofGame: figures)
    report.platform = PlatformReport(figures, details, times: times, hasSent: run.mode.sends)
    report.platform.access = access
    report.platform.settingToTry = "DeltaDNA.sessionTimeoutSeconds=600"
  }

  package var personIDs: [PersonID.Kind] { [.device, .user] }

  /// A state contains the id of its current player, and digests of the ids of the device's known players.
  package func belonging(to ids: [PersonID]) -> (StoredDevice) throws -> Bool {
    let patterns = Set(ids.map(\.bytes)).map { (id: $0, pattern: BytePattern(StateWriter.encoded($0))) }
    return { device in
      let known = try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).known }
      return patterns.contains { id, pattern in
        pattern.place(in: device.state) != nil || id.withText { known.contains($0) }
      }
    }
  }

  package func ids(of device: StoredDevice) throws -> [String] {
    let user = try unsafe device.state.withUnsafeBytes { try unsafe GameState(decoding: $0).user.description }
    return user.isEmpty ? [] : [user]
  }

  /// Finds an event by `eventUUID`, ignoring case as Collect does (reference deltadna 2).
  package func event(named text: String, in store: EventStore) throws -> EventID? {
    let upper = text.uppercased()
    let spellings = [upper, text.lowercased(), text]
    let packed = Array(upper.utf8).withText { NameUUID($0) }
    for mention in (packed.map { [.bytes($0.bytes)] } ?? []) + spellings.map({ BlockText.part(Array($0.utf8)) }) {
      var filter = EventFilter()
      filter.mentions = [mention]
      var found: EventID?
      try store.ledger.forEachEvent(filter) { event in
        if try JSONNode.parse(event.json)["eventUUID"]?.string?.uppercased().isIdentical(to: upper) == true {
          found = event.id
        }
        return found == nil
      }
      if let found { return found }
    }
    for spelling in spellings {
      let member = Array(#""eventUUID":\#(JSONNode.text(spelling).text())"#.utf8)
      if let found = try store.quarantine.events(mentioning: member).first { return found }
    }
    return nil
  }
}
