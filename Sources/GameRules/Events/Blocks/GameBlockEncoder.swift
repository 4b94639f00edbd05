import BatchFoundation
package import BatchStore

/// Packs sorted events into blocks, each of which becomes one request to Collect, with events of equal consent only. A
/// block is a header and one entry per event. Texts, pairs of user and session, lists of names and values are numbered
/// where they first appear, so an entry is mostly one-byte numbers. A value is kept in the form of ``JSONView``.
///
///     block   = version, event count, first timestamp, body bytes, consent, event...
///     event   = timestamp delta, name << 2 | flags, [name], emission, source, device, player, eventUUID, shape, value...
///     player  = 0 user session | number
///     shape   = 0 count name... | number
///     string  = 0 length bytes | number
///     value   = 0 length bytes | 1 length bytes | number + 1
///     eventUUID = 16 bytes | length bytes
///
/// All numbers are varints; those of known items count from 1. A value after a 1 gets no number, because it rarely
/// repeats. Sources are those of ``SourceTrail``. The encoder keeps its tables between calls; use one per worker.
@safe package struct GameBlockEncoder: ~Copyable {
  static let version: UInt8 = 1
  static let storedFlag: UInt64 = 1
  /// The `eventUUID` is in upper case and stored as sixteen bytes.
  static let packedFlag: UInt64 = 2
  static let flagBits: UInt64 = 2
  /// A number of this many bytes, four of them digits, rarely repeats in another event.
  private static let seldomRepeated = 6
  static let bodyStart: Text = "{\"eventList\":["
  static let bodyEnd: Text = "]}"

  private let limits: BlockLimits
  private var strings = StringTable()
  private var players = TupleTable()
  private var shapes = KnownShapes()
  private var sources = SourceTrail()
  private var head = ByteBuffer(capacity: 64)
  private var body = ByteBuffer(capacity: 1 << 16)
  private var output: [UInt8] = []

  private var events = 0
  private var bodyBytes = 0
  private var consent: Consent = []
  private var first = Instant(milliseconds: 0)
  private var last = Instant(milliseconds: 0)

  package init(limits: BlockLimits) { self.limits = limits }

  /// Encodes events sorted by ``GameEvent/precedes(_:_:)``. An event larger than a body may be gets a separate block.
  package mutating func encode(_ sorted: UnsafeBufferPointer<GameEvent>) -> EventBlocks {
    unsafe encode(sorted) { $0 }
  }

  /// Encodes events in another order than that of their memory, without moving them.
  ///
  /// - Parameter place: returns the index of the event with that number in the order of ``GameEvent/precedes(_:_:)``.
  package mutating func encode(_ made: UnsafeBufferPointer<GameEvent>, place: (Int) -> Int) -> EventBlocks {
    var entries: [EventBlocks.Entry] = []
    start()
    for number in 0..<made.count {
      let event = unsafe made[place(number)]
      if events > 0, events == limits.maxEvents || bodyBytes >= limits.maxBodyBytes || event.consent != consent {
        finish(&entries)
      }
      let mark = body.count
      let size = write(event)
      if events > 0, bodyBytes + size > limits.maxBodyBytes {
        body.truncate(to: mark)
        finish(&entries)
        count(event, write(event))
      } else {
        count(event, size)
      }
    }
    if events > 0 { finish(&entries) }
    defer { output = [] }
    return EventBlocks(bytes: output, entries: entries)
  }

  /// Encodes one event as a separate block.
  package mutating func encode(_ event: GameEvent) -> [UInt8] {
    unsafe withUnsafePointer(to: event) { unsafe encode(UnsafeBufferPointer(start: $0, count: 1)).bytes }
  }

  private mutating func start() {
    strings.removeAll()
    players.removeAll()
    shapes.startBlock()
    sources = SourceTrail()
    body.removeAll()
    events = 0
    // Subtracts the comma that the first event does not have.
    bodyBytes = Self.bodyStart.count + Self.bodyEnd.count - 1
  }

  private mutating func finish(_ entries: inout [EventBlocks.Entry]) {
    let offset = output.count
    head.removeAll()
    head.append(Self.version)
    head.append(varint: UInt64(events))
    head.append(varint: UInt64(bitPattern: first.milliseconds))
    head.append(varint: UInt64(bodyBytes))
    head.append(consent.rawValue)
    unsafe output.append(contentsOf: head.bytes)
    unsafe output.append(contentsOf: body.bytes)
    entries.append(
      EventBlocks.Entry(
        offset: offset, length: output.count - offset, events: events, expired: 0, first: first, last: last,
        bodyBytes: bodyBytes, group: Int(consent.rawValue)))
    start()
  }

  @inline(__always)
  private mutating func count(_ event: GameEvent, _ size: Int) {
    if events == 0 {
      first = event.timestamp
      consent = event.consent
    }
    last = event.timestamp
    events += 1
    bodyBytes += size
  }

  /// Appends the event to the open block; returns the size of its JSON with a comma.
  private mutating func write(_ event: GameEvent) -> Int {
    let previous = events == 0 ? event.timestamp : last
    body.append(varint: UInt64(bitPattern: event.timestamp.milliseconds &- previous.milliseconds))
    var size = GameEvent.frame + 1 + 4 + 2
    let (name, nameIsNew) = strings.intern(event.name)
    size += strings.escapedCount(of: name)
    var head = nameIsNew ? 0 : UInt64(name + 1) << Self.flagBits
    if event.isStored { head |= Self.storedFlag }
    if case .key = event.eventUUID { head |= Self.packedFlag }
    body.append(varint: head)
    if nameIsNew { append(event.name) }
    body.append(varint: EmissionNumber.packed(event.emission, at: event.timestamp))
    sources.append(event.source, to: &body)
    append(strings.intern(event.device), event.device)
    size += writePlayer(event)
    switch event.eventUUID {
    case .key(let key):
      unsafe body.append(limit: 16) { target in
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: key.high.bigEndian, as: UInt64.self)
        unsafe UnsafeMutableRawPointer(target + 8).storeBytes(of: key.low.bigEndian, as: UInt64.self)
        return 16
      }
    case .text(let text): append(text)
    }
    size += event.eventUUID.escapedCount
    return size + writeParameters(event)
  }

  private mutating func writePlayer(_ event: GameEvent) -> Int {
    let (user, userIsNew) = strings.intern(event.userID)
    let (session, sessionIsNew) = strings.intern(event.sessionID)
    var size = strings.escapedCount(of: user)
    if !event.sessionID.isEmpty {
      size += strings.escapedCount(of: session) + GameEvent.beforeSessionID.count + 2
    }
    let pair: InlineArray<2, UInt32> = [UInt32(truncatingIfNeeded: user), UInt32(truncatingIfNeeded: session)]
    let (player, isNew) = unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 2) { buffer in
      unsafe buffer[0] = pair[0]
      unsafe buffer[1] = pair[1]
      return unsafe players.intern(UnsafeBufferPointer(buffer))
    }
    guard isNew else {
      body.append(varint: UInt64(player + 1))
      return size
    }
    body.append(0)
    append((user, userIsNew), event.userID)
    append((session, sessionIsNew), event.sessionID)
    return size
  }

  private mutating func writeParameters(_ event: GameEvent) -> Int {
    let shape = shapes.shape(of: event.parameters, ofEvent: event.name)
    shapes.append(shape, to: &body, &strings)
    var size = shapes.size(of: shape)
    var members = event.parameters.members
    while let (_, value) = members.next() {
      let text = unsafe Text(base: value.start.assumingMemoryBound(to: UInt8.self), count: value.size)
      if value.kind == .number, text.count >= Self.seldomRepeated {
        body.append(1)
        append(text)
        size += EventJSON.count(value)
        continue
      }
      let (index, isNew) = strings.intern(text)
      if isNew {
        body.append(0)
        append(text)
      } else {
        body.append(varint: UInt64(index + 2))
      }
      size += self.count(of: value, index)
    }
    return size
  }

  /// Returns the size of the value's JSON, computed once for equal values of a block.
  @inline(__always)
  private func count(of value: JSONView, _ index: Int) -> Int {
    if let count = unsafe strings.entries[index].valueCount { return count }
    let count = EventJSON.count(value)
    unsafe strings.entries[index].valueCount = count
    return count
  }

  @inline(__always)
  private mutating func append(_ string: (index: Int, isNew: Bool), _ text: Text) {
    if string.isNew {
      body.append(0)
      append(text)
    } else {
      body.append(varint: UInt64(string.index + 1))
    }
  }

  @inline(__always)
  private mutating func append(_ text: Text) {
    body.append(varint: UInt64(text.count))
    body.append(text)
  }
}
