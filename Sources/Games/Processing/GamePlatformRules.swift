package import BatchConfiguration
package import BatchFoundation
import BatchPipeline
import BatchStore
import EventSchemas
package import GameRules

/// The rules of a game's job with the settings, schema and session configuration of a run.
struct GamePlatformRules: PlatformRules {
  /// The settings, whose texts are in `texts`.
  let rules: GameSettings
  // Only read after initialization.
  nonisolated(unsafe) let texts: Arena
  let configuration: SessionConfiguration?
  let schema: EventSchema?
  let environment: GameEnvironment
  /// The maximum number of bytes of a request; a larger event cannot be sent.
  let largestRequest: Int
  /// Whether events with findings are sent.
  let sendsInvalid: Bool
  let window: DeliveryWindow
  /// The output for `--findings-out`; nil if not requested.
  let findings: OrderedLines?

  /// - Throws: the fault in the schema or the session configuration.
  init(_ run: RunContext) throws {
    let game = run.settings.deltaDNA
    unsafe texts = Arena()
    rules = unsafe GameSettings(run.settings, in: texts)
    configuration = try game.sessionConfiguration.map { path in
      try SessionConfiguration.read(InputBytes.read(path), name: path)
    }
    schema = try game.eventSchema.map { path in try EventSchema.read(InputBytes.read(path), name: path) }
    environment = game.environment
    largestRequest = game.maxBytesPerRequest
    sendsInvalid = game.onInvalid == .send
    window = DeliveryWindow(run.settings, asOf: run.asOf)
    findings = run.findings
  }

  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider { GameDecider(self, options) }

  var longestSilence: Milliseconds { rules.sessionTimeout }

  func processedTime(of device: StoredDevice, known: Instant?) throws -> ProcessedTime? {
    try unsafe device.state.withUnsafeBytes { processedTime(try unsafe GameState(decoding: $0), known: known) }
  }

  /// Returns how far a device has been processed; inactivity counts up to the known time `known`. Nil if the device has
  /// no records.
  func processedTime(_ state: GameState, known: Instant?) -> ProcessedTime? {
    // The app may have become inactive again after its session was measured; this inactivity counts up to the known
    // time.
    let silence = state.lastUseOfMeasuredSession.flatMap(rules.over(after:))
    return state.lastSeen.map {
      ProcessedTime(
        newest: $0, state.lastKind, state.lastSource, end: $0,
        silence: silence.flatMap { silence in known.map { min(silence, $0) } },
        settled: state.lastUseOfOpenSession.flatMap(rules.over(after:)))
    }
  }

  /// Returns whether an event with these findings is sent.
  func sends(_ findings: [EventFinding]) -> Bool {
    findings.isEmpty || sendsInvalid && !findings.contains { $0.id == .tooLarge }
  }
}

extension EventChecker {
  mutating func findings(of event: GameEvent) -> [EventFinding] {
    findings(
      ofEvent: event.name, shared: event.parameters, byteBound: event.byteBound, byteCount: event.byteCount)
  }
}

extension GameEvent {
  /// The event as shown in a line for `--findings-out` (reference deltadna 6).
  var shown: JSONNode {
    [
      "eventName": .text(name.description), "userID": .text(userID.description),
      "eventUUID": .text(eventUUID.description), "eventTimestamp": .text(timestamp.eventTimestamp),
    ]
  }
}

extension GameSettings {
  /// - Parameter arena: memory for the texts; it must outlive the settings.
  package init(_ settings: Settings, in arena: Arena) {
    let game = settings.deltaDNA
    self.init()
    sdkVersion = arena.text(game.sdkVersion)
    platform = arena.text(game.platform ?? "")
    clientVersion = arena.text(game.clientVersion ?? "")
    dropsEmpty = game.dropsEmpty
    dropsEmptied = game.dropsEmptied
    fillsSessionID = game.fillsSessionID
    deepLinkEventName = arena.text(game.deepLinkEventName ?? "")
    sendsNewPlayer = game.sendsNewPlayer
    sendsGameStarted = game.sendsGameStarted
    sendsClientDevice = game.sendsClientDevice
    sessionTimeout = game.sessionTimeout
    triggersMultipleActions = game.runsAllTriggeredActions
    acceptsLateRecords = settings.ingest.lateRecords != .quarantine
  }
}
