package import BatchConfiguration
package import BatchPipeline
package import BatchStore

/// Games that report to Unity Analytics, the successor of deltaDNA (reference unity). Unity Analytics differs from
/// deltaDNA in the address, in the events that the service accepts, and in having no decisions.
package struct UnityPlatform: GamePlatform {
  package init() {}

  package var name: String { "unity" }
  package var times: ServiceTimes { UnityLimits.times }
  package var access: String { UnityService.addressSettings }

  /// Returns the settings with the `DeltaDNA` section kept within the limits of the service (reference unity 4).
  package func gameSettings(_ settings: Settings) -> Settings {
    var settings = settings
    let game = settings.deltaDNA
    settings.deltaDNA.oldestEvent = min(game.oldestEvent, UnityLimits.oldestEvent)
    settings.deltaDNA.furthestAhead = min(game.furthestAhead, UnityLimits.furthestAhead)
    settings.deltaDNA.maxBytesPerRequest = min(game.maxBytesPerRequest, UnityLimits.bytesPerRequest)
    settings.deltaDNA.dropsEmpty = true
    settings.deltaDNA.dropsEmptied = true
    // Only deltaDNA offers decisions.
    settings.deltaDNA.engageURL = nil
    return settings
  }

  package func storeDestination(_ settings: Settings) -> StoreDestination {
    let unity = settings.unity
    let share = unity.projectId.flatMap { project in unity.environment.map { "environment \(project)/\($0)" } }
    return StoreDestination(kind: name, service: unity.collectURL.isEmpty ? nil : unity.collectURL, share: share)
  }

  package func reads(_ setting: Setting) -> Bool {
    switch setting.section {
    case .unity: true
    case .deltaDNA: !Self.settingsOfDeltaDNA.contains(setting.key)
    default: DeltaDNAPlatform().reads(setting)
    }
  }

  /// Settings that only deltaDNA's services use, or whose values Unity Analytics fixes.
  private static let settingsOfDeltaDNA: Set = [
    "collectURL", "engageURL", "environmentKey", "hashSecret", "httpRequestEngageTimeoutSeconds",
    "engageCacheExpirySeconds", "dropEmpty",
  ]

  package func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting] {
    let unity = settings.unity
    return [
      MissingSetting("Unity.collectUrl", "UNITY_COLLECT_URL", if: unity.collectURL.isEmpty),
      MissingSetting("Unity.projectId", "UNITY_PROJECT_ID", if: unity.projectId == nil),
      MissingSetting("Unity.environment", "UNITY_ENVIRONMENT", if: unity.environment == nil),
    ].compactMap(\.self)
  }

  package func connect(_ run: RunContext) throws -> any PlatformService { try UnityService(run) }

  package func completeForSandbox(_ settings: inout Settings) {
    // Values that are set later must not make the sandbox's store belong to a different environment.
    settings.unity.projectId = nil
    settings.unity.environment = nil
  }
}
