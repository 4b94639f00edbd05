import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// The differences between a device's earlier events and its new ones.
extension DeviceRewind {
  /// The results of processing a device over several nights.
  struct Decided {
    var batch = LocalBatch()
    /// The sources of the records that cause events, by event number, where they differ from the events' own sources.
    var causes: [Int64: StoredSource] = [:]
    var steps = DeviceSteps()

    func cause(of event: EventBlockReader) -> StoredSource { causes[event.emission] ?? event.source }
  }

  private struct Trace {
    var timestamp: Instant
    /// The digest of the event's JSON.
    var digest: LineDigest
    /// Whether a sample that the event needs did not arrive in time. If the event is pending, its status shows this.
    var isExpired: Bool
    var cause: StoredSource

    func isSame(as other: Trace?) -> Bool {
      timestamp == other?.timestamp && digest == other?.digest && isExpired == other?.isExpired
    }
  }

  /// The events of one type caused by one line.
  private struct Siblings: Hashable {
    var cause: StoredSource
    var type: [UInt8]

    /// Returns the key of the `number`th of these events, from 0.
    func key(_ number: Int) -> [UInt8] {
      var writer = StateWriter()
      writer.put(cause)
      writer.put(Int64(number))
      return writer.bytes + type
    }
  }

  func changes(_ device: Text, _ before: Decided, _ after: Decided, _ late: RecordList) throws -> [EventChange] {
    let (old, new) = (try traces(before), try traces(after))
    let gone = try outcomes(before, old.filter { !$0.value.isSame(as: new[$0.key]) }) { DecidedEvent($0) }
    let alone = EventBlockCopier(rewind.wireForm, BlockLimits(maxEvents: 1, maxBodyBytes: .max))
    let come = try outcomes(after, new.filter { !$0.value.isSame(as: old[$0.key]) }) { event in
      alone.append(event)
      return (timestamp: event.timestamp, block: alone.finish().block(0))
    }
    let name = unsafe Array(device.bytes)
    // Changes are settled in the order of the earlier times, so rows in this order are read and deleted page by page.
    let keys = Set(gone.keys).union(come.keys).map { (time: gone[$0]?.timestamp.milliseconds ?? .min, key: $0) }
    let sorted = keys.sorted { $0.time != $1.time ? $0.time < $1.time : $0.key.lexicographicallyPrecedes($1.key) }
    return sorted.map { _, key in
      let time = come[key]?.timestamp ?? gone[key]?.timestamp ?? Instant(milliseconds: 0)
      let place = late.place(from: Instant(milliseconds: time.milliseconds + 1))
      let cause = place > 0 ? late[place - 1] : late.first
      return EventChange(
        device: name, key: key, before: gone[key], after: come[key]?.block,
        source: cause.map { files.storedSource(of: $0.position) } ?? .unknown)
    }
  }

  /// Returns the traces of all events, by event number.
  private func traces(_ decided: Decided) throws -> [Int64: Trace] {
    var traces: [Int64: Trace] = [:]
    var json = ByteBuffer()
    try forEachEvent(of: decided) { event in
      json.removeAll()
      event.appendJSON(to: &json)
      let text = unsafe Text(base: json.base, count: json.count)
      traces[event.emission] = Trace(
        timestamp: event.timestamp, digest: LineDigest(line: text, kind: .events), isExpired: event.isExpired,
        cause: decided.cause(of: event))
    }
    return traces
  }

  /// Returns the results of `make` for the traced events, by the events' keys.
  private func outcomes<Outcome>(
    _ decided: Decided, _ traced: [Int64: Trace], _ make: (EventBlockReader) throws -> Outcome
  ) throws -> [[UInt8]: Outcome] {
    let causes = Set(traced.values.map(\.cause))
    guard !causes.isEmpty else { return [:] }
    var outcomes: [Int64: Outcome] = [:]
    var numbers: [Siblings: [Int64]] = [:]
    try forEachEvent(of: decided) { event in
      let cause = decided.cause(of: event)
      guard causes.contains(cause) else { return }
      numbers[Siblings(cause: cause, type: unsafe Array(event.type.bytes)), default: []].append(event.emission)
      if traced[event.emission] != nil { outcomes[event.emission] = try make(event) }
    }
    var keyed: [[UInt8]: Outcome] = [:]
    for (siblings, numbers) in numbers {
      for (place, number) in numbers.sorted().enumerated() { keyed[siblings.key(place)] = outcomes[number] }
    }
    return keyed
  }

  private func forEachEvent(of decided: Decided, _ body: (EventBlockReader) throws -> Void) throws {
    for blocks in decided.batch.events {
      for place in blocks.entries.indices {
        let cursor = try rewind.wireForm.reader(of: blocks.block(place))
        while try cursor.next() { try body(cursor) }
      }
    }
  }
}
