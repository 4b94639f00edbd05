package import BatchFoundation
package import BatchIngest
package import BatchStore

/// The rules of a platform for one run, loaded and checked with everything they need.
package protocol DecisionRules: Sendable {
  /// Returns a decider for one thread.
  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider

  /// Returns how far a device was processed; nil if order does not matter, or without records.
  ///
  /// - Parameter known: the known time when the device was in that state; nil for none.
  /// - Throws: an error for an invalid state.
  func decided(of device: StoredDevice, known: Instant?) throws -> DecidedTime?

  /// The maximum distance from a record back to events that it can change.
  var lookback: Milliseconds { get }

  /// The longest silence that can end something.
  var longestSilence: Milliseconds { get }

  /// Checks quarantined events again, by the present settings and files.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  func recheck(_ events: [QuarantinedEvent], limits: BlockLimits) throws -> RecheckedEvents
}

extension DecisionRules {
  package func decided(of device: StoredDevice, known: Instant?) -> DecidedTime? { nil }
  package var lookback: Milliseconds { .zero }
  package var longestSilence: Milliseconds { .zero }

  /// Returns nothing: a platform that quarantines no events has none to check again.
  package func recheck(_ events: [QuarantinedEvent], limits: BlockLimits) -> RecheckedEvents { RecheckedEvents() }
}

/// The times up to which a device was processed (reference decisions 34).
package struct DecidedTime: Sendable {
  /// The newest instant of its records.
  package var newest: Instant
  /// The kind of the last record: records of one instant are ordered by kind (reference formats 3.8).
  package var kind: InputKind
  /// The place where that one was read: lines of one file, instant and kind are ordered by line.
  package var source: StoredSource
  /// Records before it are late: those before the newest, and those within a silence after it that ended something.
  package var end: Instant
  /// Records before it interrupt a silence that led to a decision, if only about counts.
  package var silence: Instant
  /// The instant up to which silence can still decide something about the device.
  package var settled: Instant

  /// - Parameters:
  ///   - silence: nil if silence decided nothing else.
  ///   - settled: nil if it can decide nothing more.
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

  /// Returns the kind before which records at an instant, ``end`` or ``silence``, precede those already processed.
  package func kind(at instant: Instant) -> InputKind { instant == newest ? kind : .events }

  /// Returns whether a record precedes the processed ones up to an instant, ``end`` or ``silence``.
  ///
  /// - Parameter source: the place where it was read. At one instant and kind, lines of files other than the last come
  ///   after it (reference decisions 35).
  package func covers(_ timestamp: Instant, _ kind: InputKind, _ source: StoredSource, until instant: Instant) -> Bool {
    guard timestamp == instant else { return timestamp < instant }
    guard instant == newest, kind == self.kind else { return kind < self.kind(at: instant) }
    return source.file == self.source.file && source.line < self.source.line
  }
}

/// The results of checking quarantined events again; those not refused are sent.
package struct RecheckedEvents: Sendable {
  /// The events not refused, in the order of delivery; nil if all were refused.
  package var blocks: EventBlocks?
  /// The faults of the refused events, by id in the quarantine.
  package var refused: [Int64: String] = [:]

  package init() {}
}

/// The options of a decider; apart from the known time, they do not affect the events.
package struct DeciderOptions: Sendable {
  package var limits: BlockLimits
  /// The known time, up to which silence leads to decisions (reference decisions 33); nil for none.
  package var knownUntil: Instant?
  /// Whether to keep the events until the last hand-over, so that requests are full and in time order.
  package var keepsAll: Bool
  /// Whether only the states are needed and nothing is handed over.
  package var keepsStatesOnly = false
  /// Whether to note ``DeviceDecider/causes``.
  package var notesCauses = false
  /// The files of the records' positions; none for records without a file.
  package var files = InputFiles.none
  /// The number of events, and of bytes of their records, at which a decider is full: small enough to stay in the
  /// processor's cache, large enough for full requests.
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

/// A decider, which processes one device after another: a pure function of records, states, settings and the end of the
/// known time.
///
/// For each device, call `begin(_:earlier:isExplained:)`, `take(_:lookahead:)` unless it has no records, ``finish()``
/// unless more records follow in a later slice, and `end(into:)`; then `handOver(to:isLast:)` when ``isFull``, and once
/// at the end.
package protocol DeviceDecider: AnyObject {
  /// Starts a device.
  ///
  /// - Parameters:
  ///   - device: lives until the next hand-over.
  ///   - earlier: the state left by earlier runs, or earlier slices of this one; nil for a new device.
  ///   - isExplained: whether every step is noted for ``DecisionTally/explanation``.
  /// - Throws: an error for an invalid state.
  func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) throws

  /// Processes records in order; they live until the next hand-over.
  ///
  /// - Parameter lookahead: facts about later records of the device; nil if `records` are all.
  func take(_ records: RecordList, lookahead: DeviceLookahead?) throws

  /// The known time, up to which silence leads to decisions; a rewind sets it to the known times of earlier runs.
  var knownUntil: Instant? { get set }

  /// The sources of records causing events of silence, by event number, until the hand-over (reference decisions 34).
  var causes: [Int64: StoredSource] { get }

  /// Ends everything that is over by the end of the known time.
  func finish()

  /// Adds the state of the device, with the number of events it holds and when it is due.
  func end(into states: inout DeviceStates)

  /// How far the current device was processed; valid from `end(into:)` to the next device. Nil if order does not
  /// matter, or without records.
  var decided: DecidedTime? { get }

  /// The records of the current device that are quarantined as late; valid between `end(into:)` and the next device.
  var late: Set<RecordPosition> { get }

  /// Whether the results should be handed over now.
  var isFull: Bool { get }

  /// Moves all results into a batch, and releases all records.
  ///
  /// - Parameter isLast: whether nothing follows, so that kept events are moved too.
  func handOver(to batch: inout LocalBatch, isLast: Bool) throws

  /// Returns the counts since the last call.
  func takeTally() -> DecisionTally
}

/// The order of delivery of some events, found by small keys; it keeps its memory from series to series.
///
/// It knows only places: a generic type, not specialized across targets, would cost more than the sorting.
package struct DeliveryOrder {
  private var keys: [Key] = []

  private struct Key {
    var timestamp: Int64
    var place: Int
  }

  package init() {}

  /// Finds the order of events.
  ///
  /// - Parameters:
  ///   - timestamp: returns the time of the event at a place.
  ///   - precedes: orders the events at two places with equal timestamps (reference formats 4.2).
  package mutating func find(_ count: Int, timestamp: (Int) -> Instant, precedes: (Int, Int) -> Bool) {
    keys.removeAll(keepingCapacity: true)
    for place in 0..<count { keys.append(Key(timestamp: timestamp(place).milliseconds, place: place)) }
    keys.sort { one, other in
      one.timestamp == other.timestamp ? precedes(one.place, other.place) : one.timestamp < other.timestamp
    }
  }

  /// Returns the place of the event with this number in the order, from 0.
  package func place(_ number: Int) -> Int { keys[number].place }

  /// Passes on the place of each event in the order of delivery.
  package func forEach(_ body: (Int) -> Void) {
    for key in keys { body(key.place) }
  }
}
