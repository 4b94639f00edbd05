package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchPlatform
package import BatchReport
package import BatchStore
import DeltaDNAPlatform

/// Games that report to Unity Analytics, which deltaDNA became (reference unity).
///
/// Records, rules, checks and ledger are those of a deltaDNA job; what differs is where events go, which of them the service takes, and
/// that nobody is asked for decisions. So a job moves from one to the other by its `destination`.
package struct UnityPlatform: Platform {
  private let game = DeltaDNAPlatform(UnityLimits.times)

  package init() {}

  package var name: String { "unity" }

  // MARK: What Unity Analytics is

  package var storeFormat: StoreFormat {
    var format = game.storeFormat
    format.destination = name
    return format
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
    default: game.reads(setting)
    }
  }

  /// What only deltaDNA's own services are told, and what Unity Analytics decides.
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
    // The real ones, which somebody sets later, must not make another store of the sandbox's.
    settings.unity.projectId = nil
    settings.unity.environment = nil
  }

  package func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String] { [] }

  package func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport
  ) {
    game.add(figures, details, of: run.asGame, to: &report)
    report.summary.platform?.name = name
    report.platform.access = UnityAddress.settings
  }

  // MARK: What it shares with deltaDNA

  package var vocabulary: any RecordVocabulary { game.vocabulary }
  package func rules(for run: RunContext) throws -> any DecisionRules { try game.rules(for: run.asGame) }
  package var personIDs: [PersonID.Kind] { game.personIDs }
  package func belongs(_ device: StoredDevice, to ids: [PersonID]) throws -> Bool {
    try game.belongs(device, to: ids)
  }
  package func ids(of device: StoredDevice) throws -> [String] { try game.ids(of: device) }
  package func event(named text: String, in store: EventStore) throws -> EventID? {
    try game.event(named: text, in: store)
  }
  package func limits(_ settings: Settings) -> BlockLimits { game.limits(settings.forUnity) }
  package func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? {
    game.window(settings.forUnity, asOf: asOf)
  }
  package func deliverySettings(_ settings: Settings) -> DeliverySettings { game.deliverySettings(settings.forUnity) }
  package func announcements(_ run: RunContext) -> [String] { game.announcements(run.asGame) }
  package func portable(_ details: any PlatformDetails) throws -> String? { try game.portable(details) }
  package func details(portable text: String, of run: RunContext) throws -> (any PlatformDetails)? {
    try game.details(portable: text, of: run.asGame)
  }
  package var eventColumns: [EventColumn] { game.eventColumns }
  package func describe(_ event: JSONNode, device: String) -> EventDescription { game.describe(event, device: device) }
  package func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline) {
    game.outline(event, settings, into: &outline)
  }
  package func coverage(
    of run: RunContext, _ figures: [String: Int], _ details: (any PlatformDetails)?
  ) -> [RuleCoverage] { game.coverage(of: run.asGame, figures, details) }
  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] { try game.unsentEvents(in: store) }
  package func lastSeen(_ device: StoredDevice) throws -> Instant? { try game.lastSeen(device) }
  package func summary(of device: StoredDevice) throws -> String { try game.summary(of: device) }
}
