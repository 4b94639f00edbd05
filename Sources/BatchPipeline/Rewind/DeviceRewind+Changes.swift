import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// The differences between a device's earlier events and its new ones.
extension DeviceRewind {
  /// The results of processing a device over several nights.
  struct Results {
    var batch = LocalBatch()
    /// The sources of the records that cause events, by event number, where they differ from the events' own sources.
    var causes: [Int64: StoredSource] = [:]
    var steps = DeviceSteps()

    func cause(of event: EventBlockReader) -> StoredSource { causes[event.emission] ?? event.source }
  }

  private struct Trace {
    /// The event number.
    var emission: Int64
    var timestamp: Instant
    /// The digest of the event's JSON.
    var digest: LineDigest
    /// Whether a sample that the event needs did not arrive in time. If the event is pending, its status shows this.
    var isExpired: Bool
    var cause: StoredSource

    func isSame(as other: Trace) -> Bool {
      emission == other.emission && timestamp == other.timestamp && digest == other.digest
        && isExpired == other.isExpired
    }
  }

  /// One of the events of one type caused by one line.
  private struct Sibling<Outcome> {
    var cause: StoredSource
    /// The index among the types of the events.
    var type: Int
    var emission: Int64
    /// Nil if the event is the same on both sides.
    var outcome: Outcome?

    func isSibling(of other: Sibling) -> Bool { cause == other.cause && type == other.type }

    func precedes(_ other: Sibling) -> Bool {
      if cause.file != other.cause.file { return cause.file < other.cause.file }
      if cause.line != other.cause.line { return cause.line < other.cause.line }
      return type != other.type ? type < other.type : emission < other.emission
    }

    /// Returns the key of the `number`th of the siblings, from 0.
    func key(_ number: Int, type: Text) -> [UInt8] {
      var writer = StateWriter(capacity: 64)
      writer.put(cause)
      writer.put(Int64(number))
      unsafe writer.append(type.bytes)
      return writer.bytes
    }
  }

  /// An event that is on one side only, or that is different on the other side.
  private struct Keyed<Outcome> {
    var key: [UInt8]
    var outcome: Outcome
  }

  func changes(_ device: Text, _ before: Results, _ after: Results, _ late: RecordList) throws -> [EventChange] {
    let (old, new) = (try traces(before), try traces(after))
    let gone = try outcomes(before, Self.differing(old, from: new)) { WireEvent($0) }
    let alone = EventBlockCopier(rewind.wireForm, RequestLimits(maxEvents: 1, maxBodyBytes: .max))
    let come = try outcomes(after, Self.differing(new, from: old)) { event in
      alone.append(event)
      return (timestamp: event.timestamp, block: alone.finish().bytes)
    }
    let name = unsafe Array(device.bytes)
    var changes: [EventChange] = []
    changes.reserveCapacity(max(gone.count, come.count))
    var (lost, found) = (gone[...], come[...])
    while let key = Self.least(lost.first?.key, found.first?.key) {
      let before = lost.first?.key == key ? lost.popFirst()?.outcome : nil
      let after = found.first?.key == key ? found.popFirst()?.outcome : nil
      let time = after?.timestamp ?? before?.timestamp ?? Instant(milliseconds: 0)
      let place = late.place(from: Instant(milliseconds: time.milliseconds + 1))
      let cause = place > 0 ? late[place - 1] : late.first
      changes.append(
        EventChange(
          device: name, key: key, before: before, after: after?.block,
          source: cause.map { files.storedSource(of: $0.position) } ?? .unknown))
    }
    return changes.inOrderOfSettlement
  }

  /// Returns the lesser of two keys; nil if there is none.
  private static func least(_ one: [UInt8]?, _ other: [UInt8]?) -> [UInt8]? {
    guard let one, let other else { return one ?? other }
    return precedes(other, one) ? other : one
  }

  private static func precedes(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.withText { one in other.withText { one < $0 } }
  }

  /// Returns the traces of all events, by event number.
  private func traces(_ results: Results) throws -> [Trace] {
    var traces: [Trace] = []
    traces.reserveCapacity(results.batch.events.reduce(0) { $0 + $1.eventCount })
    var json = ByteBuffer()
    try forEachEvent(of: results) { event in
      json.removeAll()
      event.appendJSON(to: &json)
      let text = unsafe Text(base: json.base, count: json.count)
      traces.append(
        Trace(
          emission: event.emission, timestamp: event.timestamp, digest: LineDigest(line: text, kind: .events),
          isExpired: event.isExpired, cause: results.cause(of: event)))
    }
    traces.sort { $0.emission < $1.emission }
    return traces
  }

  /// Returns the traces for which the others, which are also sorted by event number, have no equal one.
  private static func differing(_ traces: [Trace], from others: [Trace]) -> [Trace] {
    var place = 0
    return traces.filter { trace in
      while place < others.count, others[place].emission < trace.emission { place += 1 }
      return place == others.count || !trace.isSame(as: others[place])
    }
  }

  /// Returns the results of `make` for the traced events, sorted by the events' keys.
  private func outcomes<Outcome>(
    _ results: Results, _ traced: [Trace], _ make: (EventBlockReader) throws -> Outcome
  ) throws -> [Keyed<Outcome>] {
    let causes = Set(traced.map(\.cause))
    guard !causes.isEmpty else { return [] }
    var siblings: [Sibling<Outcome>] = []
    siblings.reserveCapacity(traced.count)
    let memory = Arena(blockSize: 1 << 12)
    var types: [Text] = []
    var indexes: [Text: Int] = [:]
    func index(ofType type: Text) -> Int {
      if let known = indexes[type] { return known }
      let type = unsafe memory.copy(type.bytes)
      types.append(type)
      indexes[type] = types.count - 1
      return types.count - 1
    }
    try forEachEvent(of: results) { event in
      let cause = results.cause(of: event)
      guard causes.contains(cause) else { return }
      let emission = event.emission
      let place = traced.place { $0.emission < emission }
      let isTraced = place < traced.count && traced[place].emission == emission
      siblings.append(
        Sibling(
          cause: cause, type: index(ofType: event.type), emission: emission, outcome: isTraced ? try make(event) : nil))
    }
    siblings.sort { $0.precedes($1) }
    var keyed: [Keyed<Outcome>] = []
    keyed.reserveCapacity(traced.count)
    var number = 0
    for (place, sibling) in siblings.enumerated() {
      number = place > 0 && sibling.isSibling(of: siblings[place - 1]) ? number + 1 : 0
      guard let outcome = sibling.outcome else { continue }
      keyed.append(Keyed(key: sibling.key(number, type: types[sibling.type]), outcome: outcome))
    }
    keyed.sort { Self.precedes($0.key, $1.key) }
    return withExtendedLifetime(memory) { keyed }
  }

  private func forEachEvent(of results: Results, _ body: (EventBlockReader) throws -> Void) throws {
    for blocks in results.batch.events {
      for place in blocks.entries.indices {
        let cursor = try rewind.wireForm.reader(of: blocks.block(place))
        while try cursor.next() { try body(cursor) }
      }
    }
  }
}
