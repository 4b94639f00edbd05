package import BatchConfiguration
import BatchFoundation
package import BatchPipeline
package import BatchStore

/// deltaDNA: games send events to Collect and get decisions from Engage.
package struct DeltaDNAPlatform: GamePlatform {
  package init() {}

  package var name: String { "deltadna" }
  package var times: ServiceTimes { .collect }
  package var access: String { "DeltaDNA.environmentKey, DeltaDNA.hashSecret or the address" }

  package func storeDestination(_ settings: Settings) -> StoreDestination {
    let game = settings.deltaDNA
    // The key is secret; a digest of it distinguishes environments just as well.
    let key = game.environmentKey.map { $0.reveal() }.flatMap { $0.isEmpty ? nil : $0 }.map { key in
      let digest = SHA256.hash("engage-batch environment key\n\(key)")
      return "environment key " + Hexadecimal.text(of: digest.prefix(8))
    }
    let secrets = [game.environmentKey, game.hashSecret].compactMap(\.self)
    let service = game.collectURL.map { secrets.reduce($0) { $1.hidden(in: $0) } }
    return StoreDestination(kind: name, service: service, share: key)
  }

  /// Games have their own sections of settings, whose request sizes and retries replace the shared ones.
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

  package func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting] {
    let game = settings.deltaDNA
    return [
      MissingSetting("DeltaDNA.collectURL", "DELTADNA_COLLECT_URL", if: game.collectURL?.isEmpty ?? true),
      MissingSetting(
        "DeltaDNA.environmentKey", "DELTADNA_ENVIRONMENT_KEY", if: game.environmentKey?.isEmpty ?? true),
    ].compactMap(\.self)
  }

  package var decisionLines: ((RunID, EventStore, _ body: (String) throws -> Void) throws -> Void)? {
    { run, store, body in try store.decisions.forEachLine(of: run, body) }
  }

  package func connect(_ run: RunContext) throws -> any PlatformService { try GameService(run) }
}
