package import BatchFoundation
package import BatchIngest
package import BatchStore
package import EventSchemas

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
}

extension DecisionRules {
  package func decided(of device: StoredDevice, known: Instant?) -> DecidedTime? { nil }
  package var lookback: Milliseconds { .zero }
  package var longestSilence: Milliseconds { .zero }
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

/// The options of a decider; apart from the known time, they do not affect the events.
package struct DeciderOptions: Sendable {
  package var limits: BlockLimits
  /// The known time, up to which silence leads to decisions (reference decisions 33); nil for none.
  package var knownUntil: Instant?
  /// Whether to keep the events until the last hand-over, so that requests are full and in time order.
  package var keepsAll: Bool
  /// Whether only the states are needed and nothing is handed over.
  package var keepsStatesOnly = false
  /// Whether to note ``DeciderCore/causes``.
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

/// A decider, which processes one device after another: a pure function of records, states, settings and the end of the
/// known time. It hands over events in stretches, each a series of chunks in the order of delivery.
///
/// For each device, call `begin(_:earlier:isExplained:)`, `take(_:lookahead:)` unless it has no records, ``finish()``
/// unless more records follow in a later slice, and ``end(into:)``; then `handOver(to:isLast:)` when `isFull`, and once
/// at the end.
///
/// A platform runs its rules. Its members are called once for a device or a stretch, never for an event: its loops over
/// records and events are compiled with the rules.
package protocol DeviceDecider: AnyObject {
  var core: DeciderCore { get }

  /// Starts a device.
  ///
  /// - Parameter state: the memory of its state, which lives until the next hand-over; nil for a new device.
  func begin(_ device: Text, _ state: UnsafeRawBufferPointer?, _ explanation: Explanation?) throws

  /// Processes records in order; they live until the next hand-over.
  func process(_ records: RecordList, _ lookahead: DeviceLookahead?) throws

  /// Ends everything that is over by the end of the known time.
  func finish()

  /// Adds the state of the device, with the number of events it holds and when it is due, and drops it.
  func end(into states: inout DeviceStates)

  /// The number of events that are not settled.
  var eventCount: Int { get }

  /// Checks and counts the rules' output; its events are encoded next, or kept in ``DeciderCore/keptArena``.
  func settle() throws

  /// Encodes the settled events in the order of delivery; returns nil if there are none.
  func encode() -> EventBlocks?

  /// Empties the rules' output, which continues across the devices of a stretch.
  func clearOutput()

  /// Adds the counts that are kept outside the tally.
  func completeTally()

  /// Returns the name of an event, for people, and the findings for which it may not be sent.
  func check(_ event: EventBlockReader) throws -> (name: String, findings: [EventFinding])
}

extension DeviceDecider {
  package func finish() {}
  package func settle() throws {}
  package func clearOutput() {}
  package func completeTally() {}
  package func check(_ event: EventBlockReader) throws -> (name: String, findings: [EventFinding]) { ("", []) }

  /// Starts a device.
  ///
  /// - Parameters:
  ///   - device: lives until the next hand-over.
  ///   - earlier: the state left by earlier runs, or earlier slices of this one; nil for a new device.
  ///   - isExplained: whether every step is noted for ``DecisionTally/explanation``.
  /// - Throws: an error for an invalid state.
  package func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) throws {
    core.late.removeAll(keepingCapacity: true)
    core.causes = [:]
    try unsafe begin(device, earlier.map { unsafe core.copied($0.state) }, isExplained ? Explanation() : nil)
  }

  /// Processes records in order; they live until the next hand-over.
  ///
  /// - Parameter lookahead: facts about later records of the device; nil if `records` are all.
  package func take(_ records: RecordList, lookahead: DeviceLookahead?) throws {
    core.touched &+= records.touch()
    try process(records, lookahead)
  }

  /// Whether the results should be handed over now.
  package var isFull: Bool {
    core.hasStretches(1, of: eventCount) || !core.results.events.isEmpty || core.results.quarantine.count > 256
  }

  /// Moves all results into a batch, and releases all records.
  ///
  /// - Parameter isLast: whether nothing follows, so that kept events are moved too.
  package func handOver(to batch: inout LocalBatch, isLast: Bool) throws {
    try endStretch()
    if isLast { encodeEvents() }
    core.arena.reset()
    batch.events += core.results.events
    batch.quarantine += core.results.quarantine
    if let rows = core.results.rows { batch.add(rows) }
    core.results = LocalBatch()
  }

  /// Returns the counts since the last call.
  package func takeTally() -> DecisionTally {
    defer { core.tally = core.emptyTally }
    core.counter.takeCounts(into: &core.tally, isLast: true)
    completeTally()
    return core.tally
  }

  package func endStretch() throws {
    core.stretchBytes = 0
    if !core.options.keepsStatesOnly {
      try settle()
      if !core.options.keepsAll { encodeEvents() }
      core.counter.takeCounts(into: &core.tally, isLast: false)
      try core.findings?.append(&core.findingsLines)
    }
    clearOutput()
  }

  /// Encodes the settled events as a separate series.
  package func encodeEvents() {
    guard let encoded = encode() else { return }
    core.tally.chunks += encoded.entries.count
    core.results.events.append(encoded)
    core.keptArena.reset()
  }

  /// Returns why an event in quarantine may not be sent by the present settings and files, in words; nil if it may.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  package func refusal(of event: EventBlockReader) throws -> String? {
    defer { core.arena.reset() }
    let (name, findings) = try check(event)
    return findings.isEmpty ? nil : core.words.words(findings, ofEvent: name)
  }
}

/// The part of a decider that does not depend on the platform: memory, counts, and the results of stretches.
package final class DeciderCore {
  package let options: DeciderOptions
  /// The memory of texts that the rules derive; free again after each hand-over.
  package let arena: Arena
  /// The memory of events kept until the last hand-over.
  package let keptArena = Arena(blockSize: 1 << 20)
  /// The known time, up to which silence leads to decisions; a rewind sets it to the known times of earlier runs.
  package var knownUntil: Instant?
  /// How far the current device was processed; valid from ``DeviceDecider/end(into:)`` to the next device. Nil if order
  /// does not matter, or without records.
  package var decided: DecidedTime?
  /// The records of the current device that are quarantined as late; valid between ``DeviceDecider/end(into:)`` and the
  /// next device.
  package fileprivate(set) var late: Set<RecordPosition> = []
  /// The sources of records causing events of silence, by event number, until the hand-over (reference decisions 34).
  package var causes: [Int64: StoredSource] = [:]

  /// The bytes of records that became events since the last stretch ended.
  package var stretchBytes = 0
  /// The memory of ``order(_:timestamp:precedes:)``, kept from stretch to stretch.
  private var keys: [(timestamp: Int64, place: Int)] = []
  package var encoder: EventBlockWriter
  package var counter = EventCounter()
  package var tally = DecisionTally()
  /// The results until the next hand-over.
  package var results = LocalBatch()
  private let rules: any DecisionRules
  private let form: WireForm
  fileprivate var words: FindingWords
  fileprivate let findings: OrderedLines?
  /// The findings of the current stretch, for `--findings-out`.
  fileprivate var findingsLines = LineSeries()
  /// Unused; keeping the result forces the reads of `RecordList.touch`.
  fileprivate var touched: UInt8 = 0

  /// - Parameters:
  ///   - schema: the schema of events; nil if they are not checked.
  ///   - findings: the destination of findings, if any.
  package init(
    _ rules: any DecisionRules, _ options: DeciderOptions, _ form: WireForm, _ arena: Arena = Arena(),
    schema: EventSchema? = nil, findings: OrderedLines? = nil
  ) {
    self.rules = rules
    self.arena = arena
    self.options = options
    self.form = form
    self.findings = findings
    knownUntil = options.knownUntil
    encoder = EventBlockWriter(form, limits: options.limits)
    words = FindingWords(schema)
    tally = emptyTally
  }

  fileprivate var emptyTally: DecisionTally {
    var tally = DecisionTally()
    tally.details = DecisionDetails(rules)
    return tally
  }

  /// Returns whether the rules' events, or the records they came from, amount to this many stretches.
  @inline(__always)
  package func hasStretches(_ times: Int, of events: Int) -> Bool {
    !options.keepsAll && (events >= times * options.events || stretchBytes >= times * options.bytes)
  }

  /// Returns a state in memory that lives until the next hand-over.
  package func copied(_ state: [UInt8]) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(state.withUnsafeBufferPointer { unsafe arena.copy($0) }.bytes)
  }

  /// Moves the late records out of the rules' output.
  package func noteLate(_ positions: inout [RecordPosition]) {
    late.formUnion(positions)
    positions.removeAll(keepingCapacity: true)
  }

  /// Returns the places of events in the order of delivery.
  ///
  /// It knows only places: a generic function, not specialized across targets, would cost more than the sorting.
  ///
  /// - Parameters:
  ///   - timestamp: returns the time of the event at a place.
  ///   - precedes: orders the events at two places with equal timestamps (reference formats 4.2).
  package func order(_ count: Int, timestamp: (Int) -> Instant, precedes: (Int, Int) -> Bool) -> [Int] {
    keys.removeAll(keepingCapacity: true)
    for place in 0..<count { keys.append((timestamp(place).milliseconds, place)) }
    keys.sort { one, other in
      one.timestamp == other.timestamp ? precedes(one.place, other.place) : one.timestamp < other.timestamp
    }
    return keys.map(\.place)
  }

  /// Counts the findings of an event and lists them for `--findings-out`.
  ///
  /// - Parameters:
  ///   - event: the event by its name for people.
  ///   - id: the id for people.
  ///   - shown: the event in the list.
  package func note(_ findings: [EventFinding], of event: EventHead, id: Text, as shown: @autoclosure () -> JSONNode) {
    for finding in findings { tally.figures[FindingReport.figure(finding.id), default: 0] += 1 }
    tally.details?.findings.add(findings, ofEvent: event.type, eventUUID: id)
    if self.findings != nil {
      findingsLines.add(EventFinding.line(shown(), findings), at: event.timestamp, event.device, event.emission)
    }
  }

  /// Quarantines an event with these findings; `block` has it alone.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  package func quarantine(_ event: EventHead, _ findings: [EventFinding], block: [UInt8]) throws {
    tally.quarantinedEvents += 1
    var line = QuarantinedLine(
      event: EventID(timestamp: event.timestamp, device: event.device, emission: event.emission),
      reason: .schemaInvalid, detail: words.words(findings, ofEvent: event.type.description),
      raw: try form.event(block).json)
    line.block = block
    line.source = options.files.source(of: event.source)
    results.quarantine.append(line)
  }
}
