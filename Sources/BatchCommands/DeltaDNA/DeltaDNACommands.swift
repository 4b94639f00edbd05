import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import EventSchemas
import GameRules
import Games

/// The part of the shared commands that is the same for all platforms of games: files, devices and stories.
protocol GameCommands: PlatformCommands {
  /// Says how events and parameters are declared at the service, which has no call for that.
  var preparationNote: String { get }
  /// The error for an erasure at the service, which has no call for that: phones request erasure with an event.
  var erasureRefusal: String { get }
}

extension GameCommands {
  var firstJob: FirstJob.Content { .game }

  /// Checks only files and the connection, because every call to the service would have an effect.
  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    examineFiles(request.loaded, &findings)
    try findings.addConnection(of: request)
  }

  /// Checks the event schema and the session configuration, which a run refuses if they are unusable.
  func examineFiles(_ loaded: LoadedJob, _ findings: inout DoctorFindings) {
    let problems = lint(loaded.job, loaded.configuration)
    findings.add(problems, as: "files")
    guard !problems.contains(where: { $0.severity == .error }) else { return }
    let game = loaded.configuration.settings.deltaDNA
    findings.ok(
      "files",
      game.eventSchema.map { "the event schema \($0) is valid" }
        ?? "DeltaDNA.eventSchema is not set: event names, empty values and event sizes are checked, but parameters are not"
    )
    if let file = game.sessionConfiguration { findings.ok("files", "the session configuration \(file) is valid") }
  }

  /// Checks the event schema and the saved Engage response that the configuration names.
  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigurationFault] {
    guard let game = configuration?.settings.deltaDNA else { return [] }
    let schema = game.eventSchema.map { ConfigurationFault.lint(schema: $0, of: .game) }
    let answer = game.sessionConfiguration.map { path in
      ConfigurationFault.lint(path, "the session configuration") { bytes, name throws(FileError) in
        try SessionConfiguration.read(bytes, name: name).notes
      }
    }
    return (schema ?? []) + (answer ?? [])
  }

  func prepare(_ request: RunRequest, _ options: PreparationOptions) -> PreparationReport {
    PreparationReport(notes: [preparationNote])
  }

  func campaigns(in store: EventStore) -> (JSONNode) -> [String] {
    { parameters in
      ["ddnaEventTriggeredCampaignID", "ddnaEventTriggeredCampaignName", "campaignId", "notificationName"]
        .compactMap { parameters[$0].map { $0.string ?? $0.compactText } }
    }
  }

  func stories(in store: EventStore, _ personal: PersonalData) -> any PlatformStories {
    GameStories(store: store, personal: personal)
  }

  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) throws -> [String] {
    throw CommandError(.configuration, erasureRefusal)
  }
}

/// The deltaDNA part of the commands that all platforms share.
struct DeltaDNACommands: GameCommands {
  var platform: any Platform { DeltaDNAPlatform() }

  let preparationNote =
    "events and parameters can be declared only in deltaDNA's own web interface; 'deltadna schema infer' lists those that an export needs"

  let erasureRefusal = """
    error: Collect accepts only events, so --at-service cannot delete anything in deltaDNA; nothing was changed. Instead, \
    run the job with a 'forgetMe' record for the player, which sends ddnaForgetMe so that deltaDNA forgets the player; \
    then run 'forget' without --at-service
    """

  func sandbox(for settings: Settings?) -> any SandboxPart { DeltaDNASandboxPart() }

  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    examineFiles(request.loaded, &findings)
    try findings.addConnection(of: request)
    if !request.usesSandbox, request.settings.deltaDNA.engageURL == nil {
      findings.ok("decisions", "DeltaDNA.engageURL is not set: 'engagement' records are kept, and Engage is not called")
    }
  }

  func contents(of store: EventStore) throws -> Facts {
    let counts = try store.decisions.counts()
    let questions = counts.pending == 1 ? "1 engagement pending" : "\(counts.pending) engagements pending"
    var facts: Facts = [
      "decisions": [
        "waiting": .number(counts.pending), "settled": .number(counts.settled), "answers": .number(counts.answers),
      ]
    ]
    facts.note(
      "decisions: \(questions), \(counts.settled) settled by the last run; \(counts.answers.counted("answer")) kept"
    )
    return facts
  }
}

private struct DeltaDNASandboxPart: SandboxPart {
  private var options = DeltaDNASandboxOptions()

  var endpoints: [SandboxEndpoint] { SandboxEndpoint.deltaDNA }

  mutating func read(_ fields: Fields) { options.read(fields) }

  func make(in server: SandboxSettings) -> any SandboxPlatform {
    var options = options
    options.seed = server.seed
    return DeltaDNAEndpoints(options)
  }
}

extension FirstJob.Content {
  static let game = FirstJob.Content(
    identity: false,
    configuration: """
      {
        "DeltaDNA": {
          "clientVersion": "1.0.0",
          "onInvalid": "quarantine",
          "sessionTimeoutSeconds": 300
        }
      }
      """,
    records: [
      (
        "08:00:00",
        #""type":"launch","device":{"name":"Pixel 9","osName":"Android","osVersion":"15","appVersion":"1.0.0","manufacturer":"Google","language":"en","country":"GB","timezoneOffset":"+0000"}"#
      ),
      (
        "08:01:00",
        #""type":"gameEvent","name":"missionStarted","params":{"missionName":"Harbour","isTutorial":true}"#
      ),
      (
        "08:04:00",
        #""type":"gameEvent","name":"missionCompleted","params":{"missionName":"Harbour","userLevel":2}"#
      ),
      ("08:05:00", #""type":"terminate""#),
    ], ownEvent: "gameEvent",
    types: GameRecordType.allCases.filter { !$0.isIgnored }.map(\.name))
}

/// `engage-batch deltadna`: commands only for games that report to deltaDNA (reference deltadna 10).
struct DeltaDNACommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deltadna",
    abstract: "Check and infer event schemas, and explain which campaigns an event triggers.",
    subcommands: [SchemaCommand<GameSchema>.self, TriggersCommand.self])
}

extension GameCommands {
  var sessionColumns: [String] {
    ["device", "userID", "session", "sessionID", "phase", "since", "optedOut", "use", "export", "lastSeen"]
  }

  var campaignNote: String? {
    "a game's campaigns respond to events and are not tied to a device; 'store events --type ddnaEventTriggeredAction' lists the responses"
  }

  /// Returns the session row. `since` is the time when the app went to the background, or the time of the
  /// last event of an open session. `use` and `export` are empty if no record stated them.
  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe GameState(decoding: bytes)
      var status: SessionRow.Status = state.session.isEmpty ? .none : .active
      let phase: String
      var since: Instant?
      switch state.phase {
      case .off: phase = "off"
      case .on: phase = "on"
      case .away(let instant):
        phase = "away"
        since = instant
        if status == .active { status = .paused }
      case .open(let last):
        phase = "open"
        since = last
      }
      return SessionRow(
        status: status, lastSeen: state.lastSeen,
        cells: [
          .text(personal.id(state.device.description).text), .text(personal.id(state.user.description).text),
          .text(status.rawValue), .text(state.session.isEmpty ? nil : state.session.description), .text(phase),
          .text(since?.rfc3339), .flag(state.isOptedOut), .flag(state.use),
          .flag(state.export), .text(state.lastSeen?.rfc3339),
        ])
    }
  }

  func campaign(of device: StoredDevice) -> DeviceCampaign? { nil }
}
