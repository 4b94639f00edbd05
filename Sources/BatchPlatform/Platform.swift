package import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchIngest
package import BatchReport
package import BatchStore

/// A service that recorded behaviour is replayed to: everything that the core does not know of it.
///
/// The core reads, partitions, keeps and delivers; a platform says what a line may be, decides what its events are, keeps them in
/// blocks of its own form, and talks to its service. The boundary is crossed once a line, a device, a block, never in the loops of
/// a platform.
package protocol Platform: Sendable {
  /// The `destination` of jobs; also stands beside every chunk of a store.
  var name: String { get }

  var vocabulary: any RecordVocabulary { get }

  var storeFormat: StoreFormat { get }

  /// Loads and checks what the rules of a run need: files that the job names, and settings.
  ///
  /// - Throws: an error that ends the run before anything is created.
  func rules(for run: RunContext) throws -> any DecisionRules

  /// How much goes into one request.
  func limits(_ settings: Settings) -> BlockLimits

  /// How chunks are sent, besides what the destination's traits demand.
  func deliverySettings(_ settings: Settings) -> DeliverySettings

  /// The service of the job, or the sandbox that stands in for it; opens no connection.
  ///
  /// - Throws: an error that names every setting that is missing.
  func connect(_ run: RunContext) throws -> any PlatformService

  /// Puts what the platform's deciders counted into the summary.
  func add(_ figures: [String: Int], to summary: inout RunSummary)

  /// An event of a store as listings show it.
  func describe(_ event: StoredEvent) throws -> EventDescription
}

/// What a run is about, as far as a platform has to know.
package struct RunContext: Sendable {
  package var job: Job
  package var settings: Settings
  /// The end of the known time.
  package var asOf: Instant
  /// The time of day when the run began.
  package var now: Instant
  /// Where a sandbox inside the process listens that takes the place of the service; nil for the real one.
  package var sandboxAddress: String?
  /// Gets a line for each event that something is wrong with (`--findings-out`); nil if nobody asks for them.
  package var findings: OrderedLines?

  package init(job: Job, settings: Settings, asOf: Instant, now: Instant, sandboxAddress: String? = nil) {
    self.job = job
    self.settings = settings
    self.asOf = asOf
    self.now = now
    self.sandboxAddress = sandboxAddress
  }
}

/// A service that a run can talk to.
package protocol PlatformService: Sendable {
  /// Scheme, host and port, for messages.
  var origin: String { get }

  var destination: any Destination { get }

  /// What has to be known before events are sent, such as who is who.
  func beforeDelivery(_ stage: inout ServiceStage) throws

  /// What can be asked once events were sent, such as which of them the service refused later.
  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws
}

extension PlatformService {
  package func beforeDelivery(_ stage: inout ServiceStage) throws {}

  package func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {}
}

/// What a platform may use and change beside a delivery.
package struct ServiceStage {
  package let store: EventStore
  package let run: RunID
  package let context: RunContext
  /// Tells whoever watches the run.
  package let note: (String) -> Void
  /// Runs a body; a signal meanwhile calls `end` once, from another thread.
  package let interruptible: (_ body: () throws -> Void, _ end: @escaping @Sendable () -> Void) throws -> Void
  package var summary: RunSummary
  /// Lines for the report.
  package var notes: [String] = []
  /// How the run ends if nothing else goes wrong.
  package var exit = RunExit.done

  package init(
    store: EventStore, run: RunID, context: RunContext, summary: RunSummary, note: @escaping (String) -> Void,
    interruptible: @escaping (_ body: () throws -> Void, _ end: @escaping @Sendable () -> Void) throws -> Void
  ) {
    self.store = store
    self.run = run
    self.context = context
    self.summary = summary
    self.note = note
    self.interruptible = interruptible
  }
}

/// An event as a listing shows it.
package struct EventDescription: Sendable, Equatable {
  /// Code or name.
  package var name: String?
  /// As it stands on the wire.
  package var timestamp: String?
  /// Personal data.
  package var device: String?
  /// What else it carries, as JSON text; personal data.
  package var content: String

  package init(name: String?, timestamp: String?, device: String?, content: String) {
    self.name = name
    self.timestamp = timestamp
    self.device = device
    self.content = content
  }
}
