package import BatchFoundation
package import BatchIngest
package import BatchStore

/// The rules of a platform for one run, with everything they need loaded and checked.
package protocol DecisionRules: Sendable {
  /// Decides on one thread.
  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider

  /// How far a device was decided; nil where order does not matter, and for one without records.
  ///
  /// - Parameter known: up to where silence had decided when it was in that state; nil for nowhere.
  /// - Throws: what is wrong with the state.
  func decided(of device: StoredDevice, known: Instant?) throws -> DecidedTime?

  /// A record can change events from so long before it.
  var lookback: Milliseconds { get }

  /// So long a silence can end something.
  var longestSilence: Milliseconds { get }

  /// Checks events again that were quarantined, by the settings and files of now.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  func recheck(_ events: [QuarantinedEvent], limits: BlockLimits) throws -> RecheckedEvents
}

extension DecisionRules {
  package func decided(of device: StoredDevice, known: Instant?) -> DecidedTime? { nil }
  package var lookback: Milliseconds { .zero }
  package var longestSilence: Milliseconds { .zero }

  /// A platform that sets no events aside has none to check again.
  package func recheck(_ events: [QuarantinedEvent], limits: BlockLimits) -> RecheckedEvents { RecheckedEvents() }
}

/// How far a device was decided (reference decisions 34).
package struct DecidedTime: Sendable {
  /// The newest instant of its records.
  package var newest: Instant
  /// Of the last of them: records of one instant come in the order of their kinds (reference formats 3.8).
  package var kind: InputKind
  /// Where that one was read: lines of one file, instant and kind come in their order.
  package var source: StoredSource
  /// Records before it are late: those before the newest, and those within a silence after it that ended something.
  package var end: Instant
  /// Records before it come into a silence that something was decided by, if only what is counted.
  package var silence: Instant
  /// Silence can decide something of what the device did, up to there and no further.
  package var settled: Instant

  /// - Parameters:
  ///   - silence: nil where silence decided nothing besides.
  ///   - settled: nil where it decides nothing more.
  package init(
    newest: Instant, _ kind: InputKind, _ source: StoredSource, end: Instant, silence: Instant? = nil,
    settled: Instant? = nil
  ) {
    self.newest = newest
    self.kind = kind
    self.source = source
    self.end = end
    self.silence = max(end, silence ?? end)
    self.settled = max(end, settled ?? end)
  }

  /// Of records at an instant, ``end`` or ``silence``, those of an earlier kind come before what was decided.
  package func kind(at instant: Instant) -> InputKind { instant == newest ? kind : .events }

  /// Whether a record comes into what was decided up to an instant, ``end`` or ``silence``.
  ///
  /// - Parameter source: where it was read. Of one instant and kind, lines of other files than the last come behind (reference decisions 35).
  package func covers(_ timestamp: Instant, _ kind: InputKind, _ source: StoredSource, until instant: Instant) -> Bool {
    guard timestamp == instant else { return timestamp < instant }
    guard instant == newest, kind == self.kind else { return kind < self.kind(at: instant) }
    return source.file == self.source.file && source.line < self.source.line
  }
}

/// What became of quarantined events that were checked again; those that are not refused go out.
package struct RecheckedEvents: Sendable {
  /// In the order of delivery; nil if all were refused.
  package var blocks: EventBlocks?
  /// What is wrong with the others, by their id in the quarantine.
  package var refused: [Int64: String] = [:]

  package init() {}
}

/// How a decider works; but for the known time, which events there are does not depend on it.
package struct DeciderOptions: Sendable {
  package var limits: BlockLimits
  /// What only silence decides is decided up to there (reference decisions 33); nil decides nothing by silence.
  package var knownUntil: Instant?
  /// Keep the events until the last time they are handed over, so that requests are full and in the order of time.
  package var keepsAll: Bool
  /// Decides for the states alone: there is nothing to hand over.
  package var keepsStatesOnly = false
  /// Notes ``DeviceDecider/causes``.
  package var notesCauses = false
  /// Of the records' positions; none where records come from no file.
  package var files = InputFiles.none
  /// Events, and bytes of the records behind them, after which a decider is full: small enough that all of it stays in the
  /// processor's cache, large enough that the requests are full.
  package var events = 2048
  package var bytes = 1 << 20

  package init(limits: BlockLimits, keepsAll: Bool = false) {
    self.limits = limits
    self.keepsAll = keepsAll
  }
}

extension DeviceDecider {
  package var decided: DecidedTime? { nil }
  package var causes: [Int64: StoredSource] { [:] }
}

/// Decides devices one after the other: a pure function of records, states, settings and the end of the known time.
///
/// Use is, for each device, `begin(_:earlier:isExplained:)`, `take(_:lookahead:)` unless it has no records, ``finish()`` unless
/// more records follow in a later slice, `end(into:)`; then `handOver(to:isLast:)` when ``isFull``, and once at the end.
package protocol DeviceDecider: AnyObject {
  /// Starts a device.
  ///
  /// - Parameters:
  ///   - device: lives until the next hand-over.
  ///   - earlier: what earlier runs, or earlier slices of this one, left of it; nil for one that was never seen.
  ///   - isExplained: whether every step is noted for ``DecisionTally/explanation``.
  func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) throws

  /// Decides records in their order; they live until the next hand-over.
  ///
  /// - Parameter lookahead: what is to come of the device; nil when `records` are all.
  func take(_ records: RecordList, lookahead: DeviceLookahead?) throws

  /// What only silence decides is decided up to there; for a rewind, which decides by the known times of earlier runs.
  var knownUntil: Instant? { get set }

  /// Of events that silence emits, by their numbers: where the record was read that causes them (reference decisions 34). Valid until
  /// what was decided is handed over.
  var causes: [Int64: StoredSource] { get }

  /// Ends what is over by the end of the known time.
  func finish()

  /// Adds the state of the device, with how many events it holds and when it is due.
  func end(into states: inout DeviceStates)

  /// How far the device at hand was decided; nil where order does not matter, and without records. Valid between `end(into:)` and the next
  /// device.
  var decided: DecidedTime? { get }

  /// Records of the device at hand that are quarantined as late; valid between `end(into:)` and the next device.
  var late: Set<RecordPosition> { get }

  /// Whether what was decided should be handed over now.
  var isFull: Bool { get }

  /// Moves everything that was decided into a batch, and lets go of all records.
  ///
  /// - Parameter isLast: whether nothing follows, so that kept events have to go too.
  func handOver(to batch: inout LocalBatch, isLast: Bool) throws

  /// What was decided since the last call, in figures.
  func takeTally() -> DecisionTally
}
