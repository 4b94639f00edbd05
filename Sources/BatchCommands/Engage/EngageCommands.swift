import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox
import BatchStore
import Engage
import EngageRules
import EventSchemas
import FoundationEssentials

/// The Engage part of the commands that all platforms share.
struct EngageCommands: PlatformCommands {
  var platform: any Platform { EngagePlatform() }

  var firstJob: FirstJob.Content { .engage }

  func sandbox(for settings: Settings?) throws -> any SandboxPart {
    EngageSandboxPart(
      options: try settings.map { try .embedded(for: $0) } ?? EngageSandboxOptions(), completes: settings == nil)
  }

  func examine(_ request: RunRequest, _ findings: inout DoctorFindings) throws {
    findings = try ServiceSession.run(request.settings, usesSandbox: request.usesSandbox) { service in
      var examination = ServiceExamination(
        service: service, settings: request.settings, identity: request.job.identity,
        comparesClocks: !request.usesSandbox, found: findings)
      examination.run()
      return examination.found
    }
  }

  func prepare(_ request: RunRequest, _ options: PreparationOptions) throws -> PreparationReport {
    try request.refuseMissingSettings()
    return try ServiceSession.run(request.settings, usesSandbox: request.usesSandbox) { service in
      var preparation = ServicePreparation(service: service, settings: request.settings, options: options)
      return try preparation.run()
    }
  }

  /// Checks the event schema and the job's route file.
  func lint(_ job: Job?, _ configuration: Configuration?) -> [ConfigurationFault] {
    let schema = configuration?.settings.general.eventSchema
    let routes = job?.deepLinkRoutes.map { path in
      ConfigurationFault.lint(path, "the route file") { bytes, name throws(FileError) in
        try RouteFile.read(bytes, name: name).notes.filter { $0.severity != .note }
      }
    }
    return (schema.map { ConfigurationFault.lint(schema: $0, of: .app) } ?? []) + (routes ?? [])
  }

  func refusals(of job: Job, _ configuration: Configuration) -> [ConfigurationFault] {
    let place = Place(of: job)
    var faults: [ConfigurationFault] = []
    for table in configuration.settings.augmentation.lookupTables {
      do {
        _ = try table.rows(shownFrom: job.directory)
      } catch {
        faults.append(ConfigurationFault(place, .error, ConfigurationFault.problem("\(error)")))
      }
    }
    do {
      _ = try LineProgram.Command.augmenting(job, configuration.settings.augmentation)
    } catch {
      faults += error.faults
    }
    return faults
  }
}

extension EngageCommands {
  func campaigns(in store: EventStore) throws -> (JSONNode) -> [String] {
    let name = try EngageStories.settings(of: store).attributeNames[.campaign]
    return { attributes in
      let attribute = (attributes.array ?? []).first { $0["name"]?.string?.isIdentical(to: name) ?? false }
      return attribute?["value"]?.string.map { [$0] } ?? []
    }
  }

  func stories(in store: EventStore, _ personal: PersonalData) throws -> any PlatformStories {
    try EngageStories(store, personal)
  }
}

extension FirstJob.Content {
  static let engage = FirstJob.Content(
    identity: true,
    configuration: """
      {
        "General": {
          "databaseListId": ""
        },
        "Session": {
          "sessionLifecycleExpiration": "30 minutes"
        },
        "LocalEventStore": {
          "expireLocalEventsAfterNumDays": 30
        }
      }
      """,
    records: [
      (
        "08:00:00",
        #""type":"launch","device":{"name":"iPhone","version":"iPhone15,2","osName":"iOS","osVersion":"18.1","appName":"Shop","appVersion":"5.0.0"}"#
      ),
      (
        "08:00:30",
        #""type":"notificationOpened","payload":{"aps":{"alert":"Sale"},"CurrentCampaign":"sale","CampaignValidFor":"2 days"}"#
      ),
      ("08:01:00", #""type":"namedEvent","name":"Opened cart","params":{"items":3}"#),
      ("08:04:00", #""type":"goalCompleted","name":"Bought","params":{"value":25}"#),
      ("08:05:00", #""type":"background""#),
    ], ownEvent: "namedEvent", types: RecordType.allCases.map { "\($0)" })
}

extension EngageCommands {
  func erase(
    _ ids: [PersonID], from request: RunRequest, _ store: EventStore, isRehearsal: Bool, _ personal: PersonalData
  ) throws -> [String] {
    let settings = request.settings
    guard !settings.general.listId.isEmpty else {
      throw CommandError(
        .configuration,
        "error: General.databaseListId is not set, so the list to delete people from is unknown; nothing was changed")
    }
    let traces = try store.identities.serviceTraces(of: ids)
    let stays = "the recipients of this id are kept unless the id is given with --mobile-user-id"
    func id(_ user: String) -> String { "the mobile user id \(personal.id(user).text ?? "")" }
    let kept =
      traces.shared.sorted().map { "\(id($0)) was recorded by other devices too: \(stays)" }
      + traces.doubtful.sorted().map {
        "\(id($0)) may belong to another person, because a device's recipient was merged into the recipient of this id: \(stays)"
      }
    return try ServiceSession.run(settings, usesSandbox: request.usesSandbox, store: store.path) { service in
      let erasure = ServiceErasure.ofOperator(settings, service: service)
      if isRehearsal {
        let recipients = try erasure.find(ids, traces)
        return recipients.map { "recipient \(personal.id($0).text ?? "") would be deleted from the list" }
          + ["audit rows that would be deleted: \(traces.auditRows.count)"] + kept
      }
      let gone = try erasure.erase(ids, traces)
      return ["recipients deleted from the list: \(gone.recipients)", "audit rows deleted: \(gone.auditRows)"] + kept
    }
  }
}

/// Provides the configured service, or a sandbox inside the process, for the duration of a command.
enum ServiceSession {
  /// - Parameter store: The store next to which the sandbox keeps its state; nil to start empty and keep nothing.
  static func run<Value>(
    _ settings: Settings, usesSandbox: Bool, store: String? = nil, _ body: (EngageService) throws -> Value
  ) throws -> Value {
    let sandbox = try usesSandbox ? EmbeddedSandbox.start(settings, beside: store) : nil
    defer { EmbeddedSandbox.stop(sandbox) }
    return try body(EngageService.of(settings.connection, sandbox: sandbox?.baseURL))
  }
}

struct EngageSandboxPart: SandboxPart {
  var options: EngageSandboxOptions
  /// Whether to create lists that calls name, because no configuration names the existing ones.
  var completes: Bool

  var endpoints: [SandboxEndpoint] { SandboxEndpoint.engage }

  mutating func read(_ fields: Fields) { options.read(fields) }

  func make(in server: SandboxSettings) throws -> any SandboxPlatform {
    var options = options
    if completes, options.organization.lists.isEmpty { options.organization.createsWhatIsMissing = true }
    options.server = server
    return try EngageEndpoints(options)
  }
}

extension EngageSandboxOptions {
  /// Returns options for the in-process sandbox, with the lists, columns and tables that the configuration names.
  ///
  /// - Throws: ``CommandError`` or ``FileError`` for the file of recipients.
  static func embedded(for settings: Settings) throws -> EngageSandboxOptions {
    let recipient = settings.recipient
    let audit = settings.audit
    var options = embedded(
      list: settings.general.listId,
      columns: [
        Column(recipient.mobileUserIdColumn), Column(recipient.mergedRecipientIdColumn),
        Column(recipient.mergedDateColumn, .timestamp), Column(settings.location.addressColumn),
        Column(settings.location.timeColumn, .date),
      ],
      auditTable: audit.isWritten ? audit.tableId : nil,
      auditColumns: [
        Column(audit.keyColumn, isRequired: true), Column(audit.oldRecipientIdColumn, isRequired: true),
        Column(audit.newRecipientIdColumn, isRequired: true), Column(audit.dateColumn, .timestamp, isRequired: true),
      ])
    if let path = settings.sandbox.recipients {
      options.organization.merge(try OrganizationSeed(json: InputBytes.read(path), of: path))
    }
    options.filesFolder = recipient.transferFolder
    return options
  }

  private typealias Column = OrganizationSeed.Column
}

extension EngageCommands {
  var sessionColumns: [String] {
    ["device", "session", "mode", "startedAt", "pausedAt", "expiresAt", "usedMilliseconds", "heldEvents", "lastSeen"]
  }

  /// Returns the session row. `startedAt` is the start of the current period of use; `usedMilliseconds` is the time of
  /// use before that start, or up to the pause.
  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe DeviceState(decoding: bytes)
      var (started, paused, expires): (Instant?, Instant?, Instant?)
      var used: Int64?
      let status: SessionRow.Status
      switch state.session {
      case .none: status = .none
      case .active(let start, let accumulated):
        status = .active
        started = start
        used = accumulated.count
      case .paused(let pause):
        status = .paused
        (started, paused, expires) = (pause.segmentStart, pause.at, pause.expiresAt)
        used = pause.accumulated.count
      }
      return SessionRow(
        status: status, lastSeen: state.lastSeen,
        cells: [
          .text(personal.id(state.device.description).text), .text(status.rawValue),
          .text(state.hasLifecycle ? "lifecycle" : "gap"), .text(started?.rfc3339), .text(paused?.rfc3339),
          .text(expires?.rfc3339), .number(used), .number(state.heldCount),
          .text(state.lastSeen?.rfc3339),
        ])
    }
  }

  func campaign(of device: StoredDevice) throws -> DeviceCampaign? {
    try unsafe device.state.withUnsafeBytes { bytes in
      try unsafe DeviceState(decoding: bytes).campaign.map {
        DeviceCampaign(name: $0.name.description, expiresAt: $0.expiresAt)
      }
    }
  }
}
