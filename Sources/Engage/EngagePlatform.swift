package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchPipeline
package import BatchReport
package import BatchStore
import EngageRules
import EventSchemas

/// The platform for Universal Behavior events in Acoustic Engage, with everything that a run does at the service.
package struct EngagePlatform: Platform {
  package init() {}

  package var name: String { "engage" }

  package var vocabulary: RecordVocabulary { .engage }

  package func rules(for run: RunContext) throws -> any PlatformRules { try EngagePlatformRules(run) }

  package var storeFormat: StoreFormat { .engage }

  package func storeDestination(_ settings: Settings) -> StoreDestination {
    let list = settings.general.listId
    return StoreDestination(
      kind: name, service: settings.connection.baseURL, share: list.isEmpty ? nil : "list \(list)")
  }

  package func reads(_ setting: Setting) -> Bool { Self.sections.contains(setting.section) }

  private static let sections: Set<SettingSection> = [
    .general, .paramFieldNames, .session, .networking, .ubfFieldNames, .locationServices, .augmentation,
    .localEventStore, .recipient, .auditRecord, .connection, .upload, .ingest, .privacy, .report, .deepLinks, .sandbox,
  ]

  package func form(_ settings: Settings) -> Int { settings.recipient.sendsContactIdInHeader ? 1 : 0 }

  package func deliverySettings(_ settings: Settings) -> DeliverySettings {
    DeliverySettings(
      settings,
      limits: RequestLimits(
        maxEvents: settings.upload.maxEventsPerRequest, maxBodyBytes: settings.upload.maxBytesPerRequest))
  }

  package func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting] {
    let list = MissingSetting(
      "General.databaseListId", "ENGAGE_LIST_ID", cause: "'identity' is true",
      if: job.identity && settings.general.listId.isEmpty)
    return EngageService.missingSettings(settings.connection) + [list].compactMap(\.self)
  }

  package func connect(_ run: RunContext) throws -> any PlatformService { try EngageConnection(run) }

  /// The sandbox accepts any list.
  package func completeForSandbox(_ settings: inout Settings) {
    if settings.general.listId.isEmpty { settings.general.listId = "1" }
  }

  package func announcements(_ run: RunContext) -> [String] {
    guard !run.job.identity, run.mode.readsInputs else { return [] }
    let codes = run.settings.general.eventCodes
    func code(_ kind: EventKind) -> String { codes[kind].code }
    return [
      "Identity: 'identity' is not true, so the events \(code(.installed)), \(code(.sessionStarted)) and \(code(.sessionEnded)) of a device "
        + "are held (HOLD) until a record names its mobile user id"
    ]
  }

  /// A check takes from one call (for an up-to-date recipient) to ten (for a merge that writes all fields).
  package func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String] {
    let checks = figures[EngageFigure.identityChecks]
    let words = "\(checks) identity check\(checks == 1 ? "" : "s") with 1 to 10 calls each"
    return (run.job.identity && checks > 0 ? [words] : [])
      + ["one access token for all calls, renewed before it expires"]
  }

  package func add(
    _ figures: [String: Int], _ details: ProcessingDetails?, of run: RunContext, to report: inout RunReport
  ) {
    func count(_ figure: EngageFigure) -> Int { figures[figure] }
    report.summary.sessionsStarted = count(.sessionsStarted)
    report.summary.sessionsEnded = count(.sessionsEnded)
    report.summary.campaignsSet = count(.campaignsSet)
    report.summary.campaignsExpired = count(.campaignsExpired)
    // Runs other than dry runs count the outcomes of their checks.
    if run.mode.isDryRun { report.summary.identity.checks = count(.identityChecks) }
    let summary = report.summary
    report.platform.lines = [
      .init("campaigns", "\(summary.campaignsSet.orFewer) set, \(summary.campaignsExpired.orFewer) expired")
    ]
    let codes = run.settings.general.eventCodes
    if count(.linksInSessions) > 0 {
      report.platform.lines.append(
        .init(
          "links",
          "\(count(.linksInSessions).grouped) opened within sessions, each with its own event \(codes[.link].code)"
        ))
    }
    // Runs other than dry runs count them in the store.
    if run.mode.isDryRun {
      for (figure, reason) in [
        (EngageFigure.heldForUserId, "until a record names the device's mobile user id"),
        (.heldForSamples, "until a location or placemark arrives or Augmentation.augmentationTimeout is over"),
      ] where count(figure) > 0 {
        report.platform.lines.append(.init("held", "\(count(figure).counted("event")) \(reason)"))
      }
    }
    if let checks = FindingReport.line(figures) { report.platform.lines.append(checks) }
    if let details, let schema = (details.rules as? EngagePlatformRules)?.schema {
      report.platform.sections = FindingReport.sections(details.findings, details.coverage, of: schema)
      report.summary.platform = PlatformFigures(
        name,
        [
          "invalid": .number(report.quarantinedEvents), "findings": PlatformFigures.group("findings", of: figures),
        ])
    }
    report.platform.figures = [
      .init("campaigns set", summary.campaignsSet), .init("campaigns expired", summary.campaignsExpired),
      .init("identity checks", summary.identity.checks),
    ]
    for (code, _) in ([codes] + EventCodes.profiles).flatMap(\.byCode) {
      report.platform.typeNames[code] = codes.words(for: code)
    }
    report.platform.unnamedType = "custom"
    report.platform.settingToTry = "Session.sessionLifecycleExpiration=10 minutes"
  }

  package var personIDs: [PersonID.Kind] { PersonID.Kind.ofEngage }

  package func belonging(to ids: [PersonID]) -> (StoredDevice) throws -> Bool {
    let patterns = Set(ids.map(\.bytes)).map { BytePattern(StateWriter.encoded($0)) }
    return { device in patterns.contains { $0.place(in: device.state) != nil } }
  }

  package func ids(of device: StoredDevice) throws -> [String] {
    try unsafe device.state.withUnsafeBytes { bytes in
      let core = try unsafe DeviceState(decoding: bytes).core
      return [core[.primaryUserId], core[.recipientId]].map(\.description).filter { !$0.isEmpty }
    }
  }
}
