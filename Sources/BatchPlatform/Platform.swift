package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchJSON
package import BatchReport
package import BatchStore

/// A service that recorded behaviour is replayed to: everything that the core does not know of it.
///
/// The core reads, partitions, keeps and delivers; a platform says what a line may be, decides what its events are, keeps them in
/// blocks of its own form, and talks to its service. The boundary is crossed once a run, a line, a device, a block, never in the
/// loops of a platform.
package protocol Platform: Sendable {
  /// The `destination` of jobs; also stands beside every chunk of a store.
  var name: String { get }

  // MARK: Records and events

  var vocabulary: any RecordVocabulary { get }

  /// The vocabulary of another platform, which takes records that only this one knows and makes nothing of them: one export may be
  /// for several platforms.
  func ignoringOwnRecords(in vocabulary: any RecordVocabulary) -> any RecordVocabulary

  /// Loads and checks what the rules of a run need: files that the job names, and settings.
  ///
  /// - Throws: an error that ends the run before anything is created.
  func rules(for run: RunContext) throws -> any DecisionRules

  // MARK: Stores

  var storeFormat: StoreFormat { get }

  /// Whom a store is for, as far as the configuration says it; what it does not say stays open.
  func storeDestination(_ settings: Settings) -> StoreDestination

  // MARK: Service

  /// How much goes into one request.
  func limits(_ settings: Settings) -> BlockLimits

  /// When events have to lie that the service takes; nil for any time.
  func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow?

  /// The version of request bodies as of now (``Destination/form``).
  func form(_ settings: Settings) -> Int

  /// How chunks are sent, besides what the destination's traits demand.
  func deliverySettings(_ settings: Settings) -> DeliverySettings

  /// The service of the job, or the sandbox that stands in for it; opens no connection.
  ///
  /// - Throws: ``ServiceSettingsError`` with every setting that is missing.
  func connect(_ run: RunContext) throws -> any PlatformService

  /// Fills in what a sandbox does not need to be told, so that a job without it runs there all the same.
  func completeForSandbox(_ settings: inout Settings)

  // MARK: What people are shown

  /// What the configuration alone shows of events that will not be sent; told when a run begins.
  func announcements(_ run: RunContext) -> [String]

  /// Puts into the report what the platform counted: its deciders (``DecisionTally``), its service, or both.
  ///
  /// - Parameter details: of the deciders; nil where they noted none.
  func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport)

  /// Every event of the store that was not sent: how many, why, under which setting, and what ends it.
  func unsentEvents(in store: EventStore) throws -> [UnsentEvents]

  /// Changes at the service that a run began and that wait for a person.
  func stoppedPlans(in store: EventStore) throws -> Int

  /// What of a store would go wrong at another address than the one it belongs to, in words for people; nil if nothing would.
  func obstacle(toMoving store: EventStore) throws -> String?

  /// An event of a store as listings show it.
  func describe(_ event: StoredEvent) throws -> EventDescription

  /// Where a device stands, on one line; personal data.
  func summary(of device: StoredDevice) throws -> String
}

extension Platform {
  package func ignoringOwnRecords(in vocabulary: any RecordVocabulary) -> any RecordVocabulary { vocabulary }
  package func form(_ settings: Settings) -> Int { 0 }
  package func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? { nil }
  package func deliverySettings(_ settings: Settings) -> DeliverySettings {
    DeliverySettings(settings, limits: limits(settings))
  }
  package func completeForSandbox(_ settings: inout Settings) {}
  package func announcements(_ run: RunContext) -> [String] { [] }
  package func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport
  ) {}
  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] {
    try UnsentEvents.all(in: store, held: [], expired: nil)
  }
  package func stoppedPlans(in store: EventStore) throws -> Int { 0 }
  package func obstacle(toMoving store: EventStore) throws -> String? { nil }
  package func summary(of device: StoredDevice) throws -> String { "a state of \(device.state.count) bytes" }
}

/// An event as a listing shows it; its members as they stand on the wire.
package struct EventDescription: Sendable {
  /// Code or name.
  package var name: JSONNode
  package var timestamp: JSONNode
  /// Personal data; nil for an event without device.
  package var device: String?
  /// What else it carries; personal data.
  package var content: JSONNode

  /// - Parameters: nil stands for a member that the event does not have.
  package init(name: JSONNode?, timestamp: JSONNode?, device: String?, content: JSONNode?) {
    self.name = name ?? .text(nil)
    self.timestamp = timestamp ?? .text(nil)
    self.device = device
    self.content = content ?? .text(nil)
  }
}
