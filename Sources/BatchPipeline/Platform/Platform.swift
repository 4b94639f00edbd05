package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchReport
package import BatchStore

/// A service that recorded behaviour is replayed to: everything that the core does not know of it.
///
/// The core reads, partitions, keeps and delivers; a platform says what a line may be, decides what its events are, keeps them in
/// blocks of its own form, and talks to its service. The boundary is crossed once a run, a line, a device, a block, never in the
/// loops of a platform.
package protocol Platform: Deciding, Delivering, Showing {
  /// The `destination` of jobs; also stands beside every chunk of a store.
  var name: String { get }
}

/// What records become: the rules of a platform, and the form in which a store keeps what they decide.
package protocol Deciding: Sendable {
  var vocabulary: any RecordVocabulary { get }

  /// The presets of maps whose records mean something to the platform; nil for all.
  var presets: [String]? { get }

  /// The vocabulary of another platform, which takes records that only this one knows and makes nothing of them: one export may be
  /// for several platforms.
  func ignoringOwnRecords(in vocabulary: any RecordVocabulary) -> any RecordVocabulary

  /// Loads and checks what the rules of a run need: files that the job names, and settings.
  ///
  /// - Throws: an error that ends the run before anything is created.
  func rules(for run: RunContext) throws -> any DecisionRules

  var storeFormat: StoreFormat { get }

  /// Whom a store is for, as far as the configuration says it; what it does not say stays open.
  func storeDestination(_ settings: Settings) -> StoreDestination

  /// Whether a job of the platform depends on the setting.
  func reads(_ setting: Setting) -> Bool

  /// What the configuration alone shows of events that will not be sent; told when a run begins.
  func announcements(_ run: RunContext) -> [String]

  /// Puts into the report what the platform counted: its deciders (``DecisionTally``), its service, or both.
  ///
  /// - Parameter details: of the deciders; nil where they noted none.
  func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport)

  /// What deciders noted, as text that another process adds up: parts of a run are decided apart. Nil where nothing has to be carried over.
  func portable(_ details: any PlatformDetails) throws -> String?

  /// What ``portable(_:)`` told of a run with the same settings; nil where it carries nothing over.
  ///
  /// - Throws: for a text that it did not write, and for files of the configuration that cannot be read.
  func details(portable text: String, of run: RunContext) throws -> (any PlatformDetails)?

  /// What the rules of a run can do, and how often they did it; for tests of a job, which should touch all of it.
  ///
  /// - Parameters: what deciders counted.
  func coverage(of run: RunContext, _ figures: [String: Int], _ details: (any PlatformDetails)?) -> [RuleCoverage]
}

/// How events reach the service, and what else a run does there.
package protocol Delivering: Sendable {
  /// How much goes into one request.
  func limits(_ settings: Settings) -> BlockLimits

  /// When events have to lie that the service takes; nil for any time.
  func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow?

  /// The version of request bodies as of now (``Destination/form``).
  func form(_ settings: Settings) -> Int

  /// How chunks are sent, besides what the destination's traits demand.
  func deliverySettings(_ settings: Settings) -> DeliverySettings

  /// What the service of a job has to be told, and is not. A sandbox needs none of it.
  func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting]

  /// The service of the job, or the sandbox that stands in for it; opens no connection.
  ///
  /// - Throws: ``ServiceSettingsError`` with every setting that cannot be used.
  func connect(_ run: RunContext) throws -> any PlatformService

  /// Fills in what a sandbox does not need to be told, so that a job without it runs there all the same.
  func completeForSandbox(_ settings: inout Settings)

  /// What a run would ask the service besides sending events, in words.
  func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String]

  /// Changes at the service that a run began and that wait for a person.
  func stoppedPlans(in store: EventStore) throws -> Int

  /// Devices of a run that record another person than before, how many of them had a recipient, and of how many that have one; nil where
  /// nobody is to be known.
  func newOwners(in store: EventStore, of run: RunID) throws -> NewOwners?

  /// Whether its service answers questions about devices, which `--decisions-out` lists.
  var asksQuestions: Bool { get }

  /// What of a store would go wrong at another address than the one it belongs to, in words for people; nil if nothing would.
  func obstacle(toMoving store: EventStore) throws -> String?
}

/// What of a platform people see: events and devices in listings, and who is meant by an id.
package protocol Showing: Sendable {
  /// Every event of the store that was not sent: how many, why, under which setting, and what ends it.
  func unsentEvents(in store: EventStore) throws -> [UnsentEvents]

  /// What listings show of an event, in their order.
  var eventColumns: [EventColumn] { get }

  /// An event in the form of the wire, as listings show it.
  ///
  /// - Parameter device: that of the export; empty where only the event is known.
  func describe(_ event: JSONNode, device: String) -> EventDescription

  /// Adds an event to what is known of its device, whose events come in the order in which they were decided.
  ///
  /// - Parameter settings: those that the event was decided by.
  func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline)

  /// When a device had its last record; nil where that is not known.
  func lastSeen(_ device: StoredDevice) throws -> Instant?

  /// Where a device stands, on one line; personal data.
  func summary(of device: StoredDevice) throws -> String

  /// What people can be named by who are to be forgotten, devices included.
  var personIDs: [PersonID.Kind] { get }

  /// Whether the state of a device has one of the ids.
  func belongs(_ device: StoredDevice, to ids: [PersonID]) throws -> Bool

  /// The ids of people that the state of a device has as they are, the device's own aside; empty ones are left out.
  func ids(of device: StoredDevice) throws -> [String]

  /// The event of a store, or of its quarantine, that the service knows by this name; nil for none.
  func event(named text: String, in store: EventStore) throws -> EventID?
}

/// Devices that record another person than before (reference decisions 58).
package struct NewOwners: Sendable {
  package var devices: Int
  /// Of these, those that had a recipient.
  package var known: Int
  /// Devices that have a recipient.
  package var all: Int

  package init(devices: Int, known: Int, all: Int) {
    (self.devices, self.known, self.all) = (devices, known, all)
  }
}

extension Platform {
  package var presets: [String]? { nil }
  package func newOwners(in store: EventStore, of run: RunID) throws -> NewOwners? { nil }
  package func ignoringOwnRecords(in vocabulary: any RecordVocabulary) -> any RecordVocabulary { vocabulary }
  package var personIDs: [PersonID.Kind] { [.device] }
  package func belongs(_ device: StoredDevice, to ids: [PersonID]) throws -> Bool { false }
  package func ids(of device: StoredDevice) throws -> [String] { [] }
  package func event(named text: String, in store: EventStore) throws -> EventID? { nil }
  package func lastSeen(_ device: StoredDevice) throws -> Instant? { nil }
  package func reads(_ setting: Setting) -> Bool { true }
  package func form(_ settings: Settings) -> Int { 0 }
  package func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? { nil }
  package func deliverySettings(_ settings: Settings) -> DeliverySettings {
    DeliverySettings(settings, limits: limits(settings))
  }
  package func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting] { [] }
  package func completeForSandbox(_ settings: inout Settings) {}
  package func announcements(_ run: RunContext) -> [String] { [] }
  package func add(
    _ figures: [String: Int], _ details: (any PlatformDetails)?, of run: RunContext, to report: inout RunReport
  ) {}
  package func portable(_ details: any PlatformDetails) throws -> String? { nil }
  package func details(portable text: String, of run: RunContext) throws -> (any PlatformDetails)? { nil }
  package func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String] { [] }
  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] {
    try UnsentEvents.all(in: store, held: [], expired: nil)
  }
  package var asksQuestions: Bool { false }
  package func stoppedPlans(in store: EventStore) throws -> Int { 0 }
  package func obstacle(toMoving store: EventStore) throws -> String? { nil }
  package func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline) {}
  package func coverage(
    of run: RunContext, _ figures: [String: Int], _ details: (any PlatformDetails)?
  ) -> [RuleCoverage] { [] }
  package func summary(of device: StoredDevice) throws -> String { "a state of \(device.state.count) bytes" }
}

extension Platform {
  /// An event of a store as listings show it.
  ///
  /// - Throws: an error where the store holds something else than an event.
  package func describe(_ event: StoredEvent) throws -> EventDescription {
    describe(try JSONNode.parse(event.json), device: String(decoding: event.device, as: UTF8.self))
  }
}

/// A column of a listing of events, called like the member of the event on the wire.
package struct EventColumn: Sendable {
  package enum Content: Sendable {
    case plain
    /// An id of a person or of what a person holds; hashed unless personal data is asked for.
    case id
    /// What else the event carries; hidden unless personal data is asked for.
    case values
  }

  package var name: String
  package var content: Content

  package init(_ name: String, _ content: Content = .plain) {
    self.name = name
    self.content = content
  }
}

/// An event as a listing shows it.
package struct EventDescription: Sendable {
  /// Code or name; empty for an event without one.
  package var type: String
  /// A value for each of ``Platform/eventColumns``; null where the event has none.
  package var values: [JSONNode]

  package init(type: String, values: [JSONNode?]) {
    self.type = type
    self.values = values.map { $0 ?? .text(nil) }
  }
}
