package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchReport
package import BatchStore

/// The code for one kind of service, with everything about the service that the core does not know.
///
/// The core reads and partitions records, and stores and delivers events. A platform defines its record types, rules
/// and block format, and calls its service. It is called once per run, line, device or block, never per
/// event.
///
/// Functions for a store or a device throw ``StoreError``, and ``DeviceStateError`` for a state that is damaged or of
/// an unknown format.
package protocol Platform: Sendable {
  /// The value of `destination` in jobs, also stored with every chunk.
  var name: String { get }

  // MARK: - Processing

  var vocabulary: RecordVocabulary { get }

  /// Loads and validates the files and settings that the rules for a run need.
  ///
  /// - Throws: an error that ends the run before anything is created.
  func rules(for run: RunContext) throws -> any PlatformRules

  var storeFormat: StoreFormat { get }

  /// Returns the destination of a job's store. Values that the configuration does not set are left unset.
  func storeDestination(_ settings: Settings) -> StoreDestination

  /// Returns whether a job of the platform depends on the setting.
  func reads(_ setting: Setting) -> Bool

  /// Returns messages, shown when a run begins, about events that cannot be sent because of the configuration alone.
  func announcements(_ run: RunContext) -> [String]

  /// Adds to the report the counts from the platform's deciders (``ProcessingTally``), its service, or both.
  ///
  /// - Parameter details: the deciders' details; nil if there is none.
  func add(
    _ figures: [String: Int], _ details: ProcessingDetails?, of run: RunContext, to report: inout RunReport)

  /// Returns the capabilities of a run's rules and how often each was used; tests of a job should cover all of them.
  ///
  /// - Parameter figures: the counts from the deciders.
  func coverage(of run: RunContext, _ figures: [String: Int], _ details: ProcessingDetails?) -> [RuleCoverage]

  // MARK: - Delivery

  /// Returns the window of event times that the service accepts; nil if it accepts any time.
  func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow?

  /// Returns the current version of request bodies (``Destination/form``).
  func form(_ settings: Settings) -> Int

  /// Returns the settings for sending chunks, in addition to the destination's traits, and the limits of a chunk.
  func deliverySettings(_ settings: Settings) -> DeliverySettings

  /// Returns the missing settings that the service of a job needs. A sandbox needs none.
  func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting]

  /// Returns the service of the job, or the sandbox that replaces it; opens no connection.
  ///
  /// - Throws: ``ServiceSettingsError`` with every setting that cannot be used.
  func connect(_ run: RunContext) throws -> any PlatformService

  /// Fills in settings that a sandbox does not need, so that a job without them runs in the sandbox too.
  func completeForSandbox(_ settings: inout Settings)

  /// Returns a description of each kind of call that a run makes to the service, other than sending events.
  func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String]

  /// Returns the number of changes to the service's data that runs began and that only a person can resolve.
  func stoppedPlans(in store: EventStore) throws -> Int

  /// Counts the devices whose records in a run are for a different person than before; nil if people are not
  /// identified.
  func newOwners(in store: EventStore, of run: RunID) throws -> NewOwners?

  /// Passes the service's answers to a run's questions to `body`, one line each, without line endings
  /// (`--decisions-out`); nil for a service that answers no questions.
  var decisionLines: ((RunID, EventStore, _ body: (String) throws -> Void) throws -> Void)? { get }

  /// Returns the reason a store cannot move to another address, to show to the user; nil if it can.
  func obstacle(toMoving store: EventStore) throws -> String?

  // MARK: - Listings

  /// Returns the counts of the store's unsent events, each with the reason, the responsible setting and the condition
  /// that ends it.
  func unsentEvents(in store: EventStore) throws -> [UnsentEvents]

  var eventColumns: [EventColumn] { get }

  /// Describes an event in wire form for listings.
  ///
  /// - Parameters:
  ///   - event: the event; without its fields if the last column is not shown.
  ///   - device: the id of the device in the export; nil if only the event is known.
  func describe(_ event: JSONView, device: JSONView?) -> EventDescription

  /// Adds an event to the outline of its device. A device's events are added in the order in which the rules produced
  /// them.
  ///
  /// - Parameter settings: the settings under which the rules produced the event.
  func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline)

  /// Returns the time of a device's last record; nil if unknown.
  func lastSeen(_ device: StoredDevice) throws -> Instant?

  /// Returns a description of a device's state on one line. It is personal data.
  func summary(of device: StoredDevice) throws -> String

  /// The kinds of ids that can name people to be forgotten, including device ids.
  var personIDs: [PersonID.Kind] { get }

  /// Returns a predicate for devices whose state has one of the ids; it is created once for many devices.
  func belonging(to ids: [PersonID]) -> (StoredDevice) throws -> Bool

  /// Returns the unhashed ids of people in a device's state, except the device's own and empty ones.
  func ids(of device: StoredDevice) throws -> [String]

  /// Returns the event, in a store or its quarantine, that the service knows by this name; nil if there is none.
  func event(named text: String, in store: EventStore) throws -> EventID?
}

/// The counts of devices whose records are for a different person than before (reference decisions 58).
package struct NewOwners: Sendable {
  package var devices: Int
  /// The number of these devices that had a recipient.
  package var known: Int
  package var all: Int

  package init(devices: Int = 0, known: Int = 0, all: Int = 0) {
    (self.devices, self.known, self.all) = (devices, known, all)
  }
}

extension Platform {
  package func limits(_ settings: Settings) -> RequestLimits { deliverySettings(settings).limits }
  package func newOwners(in store: EventStore, of run: RunID) throws -> NewOwners? { nil }
  package var personIDs: [PersonID.Kind] { [.device] }
  package func belonging(to ids: [PersonID]) -> (StoredDevice) throws -> Bool { { _ in false } }
  package func ids(of device: StoredDevice) throws -> [String] { [] }
  package func event(named text: String, in store: EventStore) throws -> EventID? { nil }
  package func lastSeen(_ device: StoredDevice) throws -> Instant? { nil }
  package func reads(_ setting: Setting) -> Bool { true }
  package func form(_ settings: Settings) -> Int { 0 }
  package func window(_ settings: Settings, asOf: Instant) -> DeliveryWindow? { nil }
  package func missingSettings(_ settings: Settings, for job: Job) -> [MissingSetting] { [] }
  package func completeForSandbox(_ settings: inout Settings) {}
  package func announcements(_ run: RunContext) -> [String] { [] }
  package func add(
    _ figures: [String: Int], _ details: ProcessingDetails?, of run: RunContext, to report: inout RunReport
  ) {}
  package func otherCalls(of run: RunContext, _ figures: [String: Int]) -> [String] { [] }
  package func unsentEvents(in store: EventStore) throws -> [UnsentEvents] {
    try UnsentEvents.all(in: store, held: [], expired: nil)
  }
  package var decisionLines: ((RunID, EventStore, _ body: (String) throws -> Void) throws -> Void)? { nil }
  package func stoppedPlans(in store: EventStore) throws -> Int { 0 }
  package func obstacle(toMoving store: EventStore) throws -> String? { nil }
  package func outline(_ event: JSONNode, _ settings: Settings, into outline: inout DeviceOutline) {}
  package func coverage(of run: RunContext, _ figures: [String: Int], _ details: ProcessingDetails?) -> [RuleCoverage] {
    []
  }
  package func summary(of device: StoredDevice) throws -> String { "a state of \(device.state.count) bytes" }
}

/// Describes events for listings, one after another, reusing its memory.
package final class EventDescriber {
  private let platform: any Platform
  private let showsContent: Bool
  private var json = ByteBuffer()
  private var reader = JSONReader()
  private var tape = JSONTape()

  /// - Parameter showsContent: whether the last of ``Platform/eventColumns`` is needed; otherwise its value is arbitrary.
  package init(_ platform: any Platform, showsContent: Bool) {
    self.platform = platform
    self.showsContent = showsContent
  }

  /// Passes the description to `body`, which must not call the describer.
  ///
  /// - Throws: ``StoreError/damagedBlock`` if the stored bytes are not an event.
  package func describe<Result>(_ event: ListedEvent, _ body: (EventDescription) throws -> Result) throws -> Result {
    json.removeAll()
    event.appendJSON(to: &json, isWhole: showsContent)
    return try unsafe describe(json.bytes, device: event.device, body)
  }

  /// Like ``describe(_:_:)-(ListedEvent,_)``, for an event on the wire.
  ///
  /// - Parameter device: the id of the device in the export; empty if only the event is known.
  package func describe<Result>(
    _ event: [UInt8], device: [UInt8] = [], _ body: (EventDescription) throws -> Result
  ) throws -> Result {
    try unsafe event.withUnsafeBufferPointer { event in
      try device.withText { try unsafe describe(event, device: $0, body) }
    }
  }

  private func describe<Result>(
    _ event: UnsafeBufferPointer<UInt8>, device: Text, _ body: (EventDescription) throws -> Result
  ) throws -> Result {
    tape.reset(keeping: 1 << 20)
    var flaws: JSONFlaws
    do { flaws = try unsafe reader.read(event, onto: &tape) } catch { throw StoreError.damagedBlock }
    // A link may have brought a NUL character into an event, which a line may not have.
    flaws.nulCharacter = nil
    guard !flaws.hasAny, tape.view(at: 0).kind == .object else { throw StoreError.damagedBlock }
    let end = tape.count
    tape.string(device, at: 0)
    return try body(platform.describe(tape.view(at: 0), device: device.isEmpty ? nil : tape.view(at: end)))
  }
}

/// A column of a listing of events, named like the member of the event on the wire.
package struct EventColumn: Sendable {
  package enum Content: Sendable {
    case plain
    /// An id that can identify a person; hashed unless personal data is requested.
    case id
    /// The rest of the event's content; hidden unless personal data is requested.
    case values
  }

  package var name: String
  package var content: Content

  package init(_ name: String, _ content: Content = .plain) {
    self.name = name
    self.content = content
  }
}

/// A description of an event, valid only during the call that it is passed to.
package struct EventDescription {
  /// The code or name; empty if the event has none.
  package var type: Text
  /// A value for each of ``Platform/eventColumns``; nil if the event has no such value.
  package var values: [JSONView?]

  package init(type: Text?, values: [JSONView?]) {
    self.type = type ?? .empty
    self.values = values
  }

  /// A copy of the last value, which has the event's content; null if there is none.
  package var content: JSONNode { values.last.flatMap(\.self).map { JSONNode($0) } ?? .text(nil) }
}

/// A summary of one device's events, for comparing or testing runs.
package struct DeviceOutline: Sendable, Equatable {
  /// A session. Its times come from the events; a time is nil if no event has it.
  package struct Session: Sendable, Equatable {
    /// The id; nil if the platform's sessions have none.
    package var id: String?
    package var start: String?
    package var end: String?
    /// The time of use; nil if no event has it.
    package var seconds: Int64?

    package init(id: String? = nil, start: String? = nil, end: String? = nil) {
      self.id = id
      self.start = start
      self.end = end
    }
  }

  /// The numbers of events, by code or name.
  package var events: [String: Int] = [:]
  package var sessions: [Session] = []
  /// The number of events with each campaign, by its name.
  package var campaigns: [String: Int] = [:]
}

/// A capability of a job's rules and the number of its uses.
package struct RuleCoverage: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case rule, route, trigger
  }

  package var kind: Kind
  /// A description of the capability, or its name in the job's file.
  package var name: String
  package var count: Int

  package init(_ kind: Kind, _ name: String, _ count: Int) {
    self.kind = kind
    self.name = name
    self.count = count
  }
}
