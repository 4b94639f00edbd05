package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchPlatform
package import BatchReport
package import BatchStore
import DeltaDNAEvents
import DeltaDNARules

/// Games that report to deltaDNA: Collect and Engage decisions.
package struct DeltaDNAPlatform: Platform {
  /// Of what takes the events.
  let times: ServiceTimes

  package init(_ times: ServiceTimes = .collect) { self.times = times }

  package var name: String { "deltadna" }

  package var vocabulary: any RecordVocabulary { GameVocabulary() }

  package func ignoringOwnRecords(in vocabulary: any RecordVocabulary) -> any RecordVocabulary {
    GameRecordsIgnored(in: vocabulary)
  }

  package func rules(for run: RunContext) throws -> any DecisionRules { try GameDecisionRules(run) }

  package var storeFormat: StoreFormat {
    StoreFormat(
      destination: name, codec: GameEventCodec(), migrations: DecisionTables.migrations,
      retention: DecisionTables.retention, personal: PersonalDecisions(),
      collection: DecisionTables.collection)
  }

  package func storeDestination(_ settings: Settings) -> StoreDestination {
    let game = settings.deltaDNA
    // The key is a secret, and its digest tells environments apart as well.
    let key = game.environmentKey.map { $0.reveal() }.flatMap { $0.isEmpty ? nil : $0 }.map { key in
      let digest = SHA256.hash("engage-batch environment key\n\(key)")
      return "environment key " + Hexadecimal.text(of: digest.prefix(8))
    }
    let secrets = [game.environmentKey, game.hashSecret].compactMap(\.self)
    let service = game.collectURL.map { secrets.reduce($0) { $1.hidden(in: $0) } }
    return StoreDestination(kind: name, service: service, share: key)
  }

  /// Games have sections of their own; of what all services share, sizes and retries of requests stand there too.
  package func reads(_ setting: Setting) -> Bool {
    switch setting.section {
    case .deltaDNA, .ingest, .report, .localEventStore: true
    case .upload: ["onUnknown", "patience", "patienceAtStart"].contains(setting.key)
    case .networking: ["breakerFailures", "retryBudget", "maxRetryDelay"].contains(setting.key)
    case .connection:
      [
        "caFile", "proxy", "proxyCredentials", "connectTimeout", "totalTimeout", "idleTimeout", "minimumRate",
        "maxResponseBytes",
      ].contains(setting.key)
    default: false
    }
  }

  package func limits(_ settings: Settings) -> BlockLimits {
    BlockLimits(maxEvents: settings.deltaDNA.maxEventsPerRequest, maxBodyBytes: settings.deltaDNA.maxBytesPerRequest)
  }

  package func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? {
    DeliveryWindow(settings, asOf: asOf)
  }

  package func deliverySettings(_ settings: Settings) -> DeliverySettings {
    var delivery = DeliverySettings(settings, limits: limits(settings))
    delivery.concurrency = settings.deltaDNA.concurrency
    delivery.backoff.first = settings.deltaDNA.retryDelay
    return delivery
  }

  package func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting] {
    let game = settings.deltaDNA
    return [
      MissingSetting("DeltaDNA.collectURL", "DELTADNA_COLLECT_URL", if: game.collectURL?.isEmpty ?? true),
      MissingSetting(
        "DeltaDNA.environmentKey", "DELTADNA_ENVIRONMENT_KEY", if: game.environmentKey?.isEmpty ?? true),
    ].compactMap(\.self)
  }

  package var asksQuestions: Bool { true }

  package func connect(_ run: RunContext) throws -> any PlatformService { try GameService(run) }

  package func announcements(_ run: RunContext) -> [String] {
    // One that cannot be read or used ends the run with an error of its own.
    let configuration = run.settings.deltaDNA.sessionConfiguration.flatMap {
      try? SessionConfiguration.read(InputBytes.read($0), name: $0)
    }
    return configuration?.notes.map(\.description) ?? []
  }

  package func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String] {
    let questions = figures[GameFigure.decisions.rawValue, default: 0]
    guard questions > 0, run.settings.deltaDNA.engageURL != nil else { return [] }
    return ["\(questions) question\(questions == 1 ? "" : "s") to Engage at most"]
  }

  package func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport
  ) {
    report.summary.sessionsStarted = figures[GameFigure.sessionsStarted.rawValue, default: 0]
    report.summary.sessionsEnded = figures[GameFigure.sessionsEnded.rawValue, default: 0]
    report.summary.platform = PlatformFigures(deltaDNA: figures)
    report.platform = PlatformReport(figures, details as? GameDetails, times: times, hasSent: run.mode.sends)
    report.platform.access = "DeltaDNA.environmentKey, DeltaDNA.hashSecret or the address"
    report.platform.settingToTry = "DeltaDNA.sessionTimeoutSeconds=600"
  }

  package func portable(_ details: any PlatformDetails) throws -> String? {
    try (details as? GameDetails)?.portable()
  }

  package func details(portable text: String, of run: RunContext) throws -> (any PlatformDetails)? {
    try GameDetails(portable: text, GameDecisionRules(run))
  }
}
