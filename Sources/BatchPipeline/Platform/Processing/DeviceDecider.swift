package import BatchFoundation
package import BatchIngest
import BatchReport
package import BatchStore
package import EventSchemas

/// The rules of a platform for one run, loaded and validated with everything they need.
package protocol PlatformRules: Sendable {
  /// Returns a decider for one thread.
  func makeDecider(_ options: DeciderOptions) -> any DeviceDecider

  /// Returns how far a device was processed; nil if record order does not matter or there were no records.
  ///
  /// - Parameter known: the known time when the device was in that state; nil if there is none.
  /// - Throws: an error for an invalid state.
  func processedTime(of device: StoredDevice, known: Instant?) throws -> ProcessedTime?

  /// The maximum distance from a record back to events that it can change.
  var lookback: Milliseconds { get }

  /// The longest period of inactivity that can end a session, campaign or hold.
  var longestSilence: Milliseconds { get }
}

extension PlatformRules {
  package func processedTime(of device: StoredDevice, known: Instant?) -> ProcessedTime? { nil }
  package var lookback: Milliseconds { .zero }
  package var longestSilence: Milliseconds { .zero }
}

/// The times up to which a device was processed (reference decisions 34).
package struct ProcessedTime: Sendable {
  /// The latest instant of the device's records.
  package var newest: Instant
  /// The kind of the last record: records of one instant are ordered by kind (reference formats 3.8).
  package var kind: InputKind
  /// The place where the last record was read: records of one file, instant and kind are ordered by line.
  package var source: StoredSource
  /// The instant before which records are late: ``newest``, or the end of a later period of inactivity that
  /// ended a session, campaign or hold.
  package var end: Instant
  /// The instant before which a record interrupts a period of inactivity that had an effect, even if only on
  /// counts.
  package var silence: Instant
  /// The instant up to which inactivity can still affect the device.
  package var settled: Instant

  /// - Parameters:
  ///   - silence: nil if inactivity had no further effect.
  ///   - settled: nil if inactivity can have no more effect.
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

  /// Returns the kind that separates records at an instant: those of earlier kinds precede the processed records.
  ///
  /// - Parameter instant: ``end`` or ``silence``.
  package func kind(at instant: Instant) -> InputKind { instant == newest ? kind : .events }

  /// Returns whether a record precedes the records processed up to `instant`, which is ``end`` or
  /// ``silence``.
  ///
  /// - Parameter source: the place where the record was read. If instant and kind are equal, a record from a
  ///   different file than the last record comes after it (reference decisions 35).
  package func covers(_ timestamp: Instant, _ kind: InputKind, _ source: StoredSource, until instant: Instant) -> Bool {
    guard timestamp == instant else { return timestamp < instant }
    guard instant == newest, kind == self.kind else { return kind < self.kind(at: instant) }
    return source.file == self.source.file && source.line < self.source.line
  }
}

/// The options for a decider; except for the known time, they do not affect the events.
package struct DeciderOptions: Sendable {
  package var limits: RequestLimits
  /// The known time, up to which inactivity counts (reference decisions 33); nil if there is none.
  package var knownUntil: Instant?
  /// Whether to keep the events until the last hand-over, so that requests are full and in time order.
  package var keepsAll = false
  /// Whether only the states are needed and nothing is handed over.
  package var keepsStatesOnly = false
  /// Whether to note ``DeciderCore/causes``.
  package var notesCauses = false
  /// The files that the positions of records refer to; ``InputFiles/none`` for records without a file.
  package var files = InputFiles.none
  /// The number of events at which a decider is full; ``bytes`` is the same limit for the bytes of their records. Both
  /// are small enough for the processor's cache and large enough for full requests.
  package var events = 2048
  package var bytes = 1 << 20
}

/// Processes one device after another. The results depend only on records, states, settings and the known time. Events
/// are handed over in stretches, each of which is a series of chunks in the order of delivery.
///
/// For each device, call `begin(_:earlier:isExplained:)`, `take(_:lookahead:)` unless it has no records, ``finish()``
/// unless more records follow in a later slice, and ``end(into:)``; then `handOver(to:isLast:)` when `isFull`, and once
/// at the end.
///
/// A platform's decider runs the rules of the platform. Its members are called once per device or stretch, never per
/// event, so that the loops over records and events are compiled together with the rules.
///
/// Functions throw ``DeviceStateError`` for a state that is damaged or of an unknown format, and ``StoreError`` if an
/// event cannot be read again or a finding cannot be kept.
package protocol DeviceDecider: AnyObject {
  var core: DeciderCore { get }

  /// Starts a device.
  ///
  /// - Parameter state: the state of the device, whose memory is valid until the next hand-over; nil for a new device.
  func begin(_ device: Text, _ state: UnsafeRawBufferPointer?, _ explanation: Explanation?) throws

  /// Processes records in order. Their memory is valid until the next hand-over.
  func process(_ records: RecordList, _ lookahead: DeviceLookahead?) throws

  /// Ends sessions, campaigns and holds that are over by the known time.
  func finish()

  /// Ends the device: adds its state to `states`, with the number of events that it holds and the time when it is due.
  func end(into states: inout DeviceStates)

  /// The number of events that are not yet settled.
  var eventCount: Int { get }

  /// Validates and counts the rules' output; its events are encoded next, or kept in ``DeciderCore/keptArena``.
  func settle() throws

  /// Encodes the settled events in the order of delivery; returns nil if there are none.
  func encode() -> EventBlocks?

  /// Clears the rules' output, which accumulates over the devices of a stretch.
  func clearOutput()

  /// Adds to ``DeciderCore/tally`` the counts that the platform keeps elsewhere.
  func completeTally()

  /// Returns the display name of an event and the findings that prevent it from being sent.
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
  ///   - device: the id of the device, whose memory is valid until the next hand-over.
  ///   - earlier: the state after earlier runs, or after earlier slices in this run; nil for a new device.
  ///   - isExplained: whether every step is noted for ``ProcessingTally/explanation``.
  /// - Throws: an error for an invalid state.
  package func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) throws {
    core.late.removeAll(keepingCapacity: true)
    core.causes = [:]
    try unsafe begin(device, earlier.map { unsafe core.copied($0.state) }, isExplained ? Explanation() : nil)
  }

  /// Processes records in order. Their memory is valid until the next hand-over.
  ///
  /// - Parameter lookahead: facts about later records of the device; nil if none are needed.
  package func take(_ records: RecordList, lookahead: DeviceLookahead?) throws {
    core.touched &+= records.touch()
    try process(records, lookahead)
  }

  /// Whether the results should be handed over now.
  package var isFull: Bool {
    let core = core
    return core.hasStretches(1, of: eventCount) || !core.results.events.isEmpty || core.results.quarantine.count > 256
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

  /// Returns the counts accumulated since the last call.
  package func takeTally() -> ProcessingTally {
    defer { core.tally = core.emptyTally }
    core.counter.takeCounts(into: &core.tally, isLast: true)
    core.closeSteps()
    completeTally()
    return core.tally
  }

  /// Settles the rules' output and, unless all events are kept, encodes it as a series.
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

  /// Returns the reason the current settings and files prevent a quarantined event from being sent; nil if
  /// they do not.
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
  /// The memory for strings that the rules derive; released at each hand-over.
  package let arena: Arena
  /// The memory for events kept until the last hand-over.
  package let keptArena = Arena(blockSize: 1 << 20)
  /// The known time, up to which inactivity counts; a rewind sets it to the known times of earlier runs.
  package var knownUntil: Instant?
  /// The times up to which the current device was processed; valid from ``DeviceDecider/end(into:)`` until the next
  /// device begins. Nil if the order of records does not matter, or the device had no records.
  package var processed: ProcessedTime?
  /// The records of the current device that are quarantined as late; valid from ``DeviceDecider/end(into:)`` until the
  /// next device begins.
  package fileprivate(set) var late: Set<RecordPosition> = []
  /// The sources of the records that caused events after a period of inactivity, by event number (reference decisions
  /// 34).
  package var causes: [Int64: StoredSource] = [:]

  /// The total size, in bytes, of the records that became events since the last stretch ended.
  package var stretchBytes = 0
  package var order = DeliveryOrder()
  package var encoder: EventBlockWriter
  package var counter = EventCounter()
  package var steps = StepCounter()
  package var tally = ProcessingTally()
  /// The results until the next hand-over.
  package var results = LocalBatch()
  private let rules: any PlatformRules
  private let form: WireForm
  fileprivate var words: FindingWords
  fileprivate let findings: OrderedLines?
  /// The findings of the current stretch, for `--findings-out`.
  fileprivate var findingsLines = LineSeries()
  /// Unused; keeping the result forces the reads of `RecordList.touch`.
  fileprivate var touched: UInt8 = 0

  /// - Parameters:
  ///   - schema: the schema of events; nil if they are not validated.
  ///   - findings: the destination of findings, if any.
  package init(
    _ rules: any PlatformRules, _ options: DeciderOptions, _ form: WireForm, _ arena: Arena = Arena(),
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

  fileprivate var emptyTally: ProcessingTally {
    var tally = ProcessingTally()
    tally.details = ProcessingDetails(rules)
    return tally
  }

  /// Counts the devices in ``steps``, none of which has further events in this run.
  func closeSteps() {
    tally.people += steps.close(into: &tally.activity)
  }

  /// Returns whether the rules' events, or the records they came from, amount to this many stretches.
  @inline(__always)
  package func hasStretches(_ times: Int, of events: Int) -> Bool {
    !options.keepsAll && (events >= times * options.events || stretchBytes >= times * options.bytes)
  }

  /// Copies a state into memory that remains valid until the next hand-over.
  package func copied(_ state: [UInt8]) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(state.withUnsafeBufferPointer { unsafe arena.copy($0) }.bytes)
  }

  /// Moves the positions of late records from the rules' output to ``late``.
  package func noteLate(_ positions: inout [RecordPosition]) {
    late.formUnion(positions)
    positions.removeAll(keepingCapacity: true)
  }

  /// Counts the findings of an event and lists them for `--findings-out`.
  ///
  /// - Parameters:
  ///   - event: the event, with its display name as type.
  ///   - id: the id to display.
  ///   - shown: the event as the list shows it.
  package func note(_ findings: [EventFinding], of event: EventHead, id: Text, as shown: @autoclosure () -> JSONNode) {
    for finding in findings { tally.figures[FindingReport.figure(finding.id), default: 0] += 1 }
    tally.details?.findings.add(findings, ofEvent: event.type, eventUUID: id)
    if self.findings != nil {
      findingsLines.add(EventFinding.line(shown(), findings), at: event.timestamp, event.device, event.emission)
    }
  }

  /// Quarantines an event with these findings.
  ///
  /// - Parameter block: the encoded block with only this event.
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
