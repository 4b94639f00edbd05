package import BatchFoundation
import BatchStore

/// Walks through the events of one block of ``GameBlockEncoder``. Every number is checked against the block, so a
/// damaged block causes an error, never a wild read.
package struct GameBlockReader: ~Copyable {
  private var cursor: BlockCursor
  private var players: [(user: Int, session: Int)] = []
  private var shapes: [(start: Int, count: Int)] = []
  /// The names of all shapes, as string numbers.
  private var names: [Int] = []
  private var values: [Text] = []
  private var remaining: Int

  private var name = 0
  private var deviceNumber = 0
  private var player = 0
  private var shape = 0
  private var flags: UInt64 = 0
  private var eventUUID = EventUUID.text(.empty)
  private var sources = SourceTrail()

  package let eventCount: Int
  package let bodyBytes: Int
  /// The consent of all events of the block.
  package let consent: Consent
  package private(set) var timestamp: Instant
  package private(set) var emission: Int64 = 0
  /// The place where the event's record was read.
  package private(set) var source = StoredSource.unknown
  package var device: Text { cursor.strings[deviceNumber] }

  /// - Throws: ``StoreError/damagedBlock``.
  package init(_ block: UnsafeBufferPointer<UInt8>) throws {
    var cursor = unsafe BlockCursor(block)
    let head = try cursor.head(version: GameBlockEncoder.version)
    consent = Consent(rawValue: try cursor.byte())
    self.cursor = cursor
    (eventCount, remaining) = (head.events, head.events)
    (timestamp, bodyBytes) = (head.first, head.bodyBytes)
  }

  /// Advances to the next event; false after the last.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  package mutating func next() throws -> Bool {
    guard remaining > 0 else { return false }
    remaining -= 1
    try readEvent()
    return true
  }

  private mutating func readEvent() throws {
    timestamp = try cursor.instant(after: timestamp)
    let head = try cursor.number()
    flags = head & (1 << GameBlockEncoder.flagBits - 1)
    let number = head >> GameBlockEncoder.flagBits
    name = number == 0 ? try cursor.newString() : try cursor.index(number, of: cursor.strings.count)
    emission = EmissionNumber.unpacked(try cursor.number(), at: timestamp)
    source = try sources.next(from: &cursor)
    deviceNumber = try cursor.string()
    player = try readPlayer()
    eventUUID = try readEventUUID()
    shape = try readShape()
    values.removeAll(keepingCapacity: true)
    for _ in 0..<shapes[shape].count {
      let value = try readValue()
      guard JSONView.isWellFormed(value) else { throw StoreError.damagedBlock }
      values.append(value)
    }
  }

  private mutating func readValue() throws -> Text {
    switch try cursor.number() {
    case 0: cursor.strings[try cursor.newString()]
    case 1: try cursor.text()
    case let number: cursor.strings[try cursor.index(number - 1, of: cursor.strings.count)]
    }
  }

  private mutating func readPlayer() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: players.count) }
    players.append((try cursor.string(), try cursor.string()))
    return players.count - 1
  }

  private mutating func readEventUUID() throws -> EventUUID {
    flags & GameBlockEncoder.packedFlag == 0
      ? .text(try cursor.text()) : .key(RecordKey(high: try cursor.word(), low: try cursor.word()))
  }

  private mutating func readShape() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: shapes.count) }
    let count = try cursor.byteBoundCount()
    let start = names.count
    for _ in 0..<count { names.append(try cursor.string()) }
    shapes.append((start, count))
    return shapes.count - 1
  }

  // MARK: The current event

  var eventName: Text { cursor.strings[name] }

  package func appendJSON(to target: inout ByteBuffer) {
    let shape = shapes[shape]
    GameEvent.appendJSON(
      name: cursor.strings[name], userID: cursor.strings[players[player].user],
      sessionID: cursor.strings[players[player].session],
      eventUUID: eventUUID, timestamp: timestamp, to: &target
    ) { target in
      target.append(UInt8(ascii: "{"))
      for index in 0..<shape.count {
        if index > 0 { target.append(UInt8(ascii: ",")) }
        CanonicalJSON.appendString(cursor.strings[names[shape.start + index]], to: &target)
        target.append(UInt8(ascii: ":"))
        unsafe CanonicalJSON.append(JSONView(at: values[index].base), to: &target)
      }
      target.append(UInt8(ascii: "}"))
    }
  }

  /// Returns the event as a value with all memory in the arena.
  package func event(in arena: Arena) -> GameEvent {
    let shape = shapes[shape]
    var size = ViewWriter.container
    for index in 0..<shape.count {
      size += ViewWriter.bound(cursor.strings[names[shape.start + index]].count) + values[index].count
    }
    let start = unsafe arena.allocate(size)
    var writer = unsafe ViewWriter(at: start)
    let object = unsafe writer.begin(.object)
    for index in 0..<shape.count {
      writer.key(cursor.strings[names[shape.start + index]])
      unsafe writer.copy(JSONView(at: values[index].base))
    }
    unsafe writer.end(object)
    return unsafe GameEvent(
      name: arena.copy(cursor.strings[name].bytes), userID: arena.copy(cursor.strings[players[player].user].bytes),
      sessionID: arena.copy(cursor.strings[players[player].session].bytes), eventUUID: eventUUID.copied(to: arena),
      parameters: JSONView(at: start), timestamp: timestamp, device: arena.copy(device.bytes), emission: emission,
      consent: consent, isStored: flags & GameBlockEncoder.storedFlag != 0,
      source: source)
  }

  /// Appends the request body `{"eventList":[...]}` of a whole block.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  package static func appendBody(of block: UnsafeBufferPointer<UInt8>, to target: inout ByteBuffer) throws {
    var reader = try unsafe GameBlockReader(block)
    // The number is the block's claim, and a damaged block may claim anything; the buffer grows if it is true.
    target.reserve(min(reader.bodyBytes, 16 << 20))
    target.append(GameBlockEncoder.bodyStart)
    var isFirst = true
    while try reader.next() {
      if !isFirst { target.append(UInt8(ascii: ",")) }
      isFirst = false
      reader.appendJSON(to: &target)
    }
    target.append(GameBlockEncoder.bodyEnd)
  }
}

extension JSONView {
  /// Returns whether the bytes are exactly one value, well formed at every depth.
  static func isWellFormed(_ bytes: Text) -> Bool {
    let start = unsafe UnsafeRawPointer(bytes.base)
    return unsafe end(of: start, start + bytes.count, depth: 0) == start + bytes.count
  }

  /// Returns the end of the value at `start`; nil if it is malformed or extends beyond `limit`.
  private static func end(of start: UnsafeRawPointer, _ limit: UnsafeRawPointer, depth: Int) -> UnsafeRawPointer? {
    guard unsafe start < limit, depth <= 64, let kind = unsafe Kind(rawValue: start.load(as: UInt8.self)) else {
      return nil
    }
    switch kind {
    case .null, .no, .yes: return unsafe start + 1
    case .number, .string: return unsafe text(at: start + 1, limit)
    case .array, .object:
      guard unsafe limit - start >= 5 else { return nil }
      let end = unsafe start + 5 + Int((start + 1).loadUnaligned(as: UInt32.self))
      guard unsafe end <= limit else { return nil }
      var at = unsafe start + 5
      while unsafe at < end {
        if kind == .object {
          guard let value = unsafe text(at: at, end) else { return nil }
          unsafe at = value
        }
        guard let next = unsafe Self.end(of: at, end, depth: depth + 1) else { return nil }
        unsafe at = next
      }
      return unsafe end
    }
  }

  private static func text(at start: UnsafeRawPointer, _ limit: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard unsafe start < limit else { return nil }
    var count = unsafe Int(start.load(as: UInt8.self))
    var base = unsafe start + 1
    if count == 255 {
      guard unsafe limit - base >= 4 else { return nil }
      count = unsafe Int(base.loadUnaligned(as: UInt32.self))
      unsafe base += 4
    }
    return unsafe limit - base >= count ? base + count : nil
  }
}
