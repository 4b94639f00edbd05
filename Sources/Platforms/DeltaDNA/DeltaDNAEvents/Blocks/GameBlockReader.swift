package import BatchFoundation
import BatchStore

/// Walks through the events of one block of ``GameBlockEncoder``.
///
/// Every number is checked against what the block has, so a damaged block ends as an error and never as a wild read.
package struct GameBlockReader: ~Copyable {
  private struct Damage: Error {}

  private var source: ByteBuffer
  private var at = 0
  private var strings: [Text] = []
  private var players: [(user: Int, session: Int)] = []
  private var shapes: [(start: Int, count: Int)] = []
  /// The names of all shapes, as numbers of strings.
  private var names: [Int] = []
  private var values: [Int] = []
  private var remaining: Int
  private let arena = Arena(blockSize: 1 << 12)

  private var name = 0
  private var deviceNumber = 0
  private var player = 0
  private var shape = 0
  private var flags: UInt64 = 0
  private var eventUUID = Text.empty

  package let eventCount: Int
  /// Size of the whole request body.
  package let bodyBytes: Int
  /// Of all events of the block.
  package let consent: Consent
  package private(set) var timestamp: Instant
  package private(set) var emission: Int64 = 0
  package var device: Text { strings[deviceNumber] }

  /// - Throws: ``StoreError/damagedBlock``.
  package init(_ block: UnsafeBufferPointer<UInt8>) throws {
    source = ByteBuffer(capacity: block.count)
    unsafe source.append(block)
    guard source.count > 0, unsafe source.base[0] == GameBlockEncoder.version else { throw StoreError.damagedBlock }
    at = 1
    guard let count = source.varint(&at), let first = source.varint(&at), let bytes = source.varint(&at),
      count <= UInt64(source.count), first <= UInt64(Instant.last.milliseconds), bytes < 1 << 40, at < source.count
    else { throw StoreError.damagedBlock }
    consent = unsafe Consent(rawValue: source.base[at])
    at += 1
    eventCount = Int(count)
    remaining = Int(count)
    bodyBytes = Int(bytes)
    timestamp = Instant(milliseconds: Int64(first))
  }

  /// Goes to the next event; false behind the last.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  package mutating func next() throws -> Bool {
    guard remaining > 0 else { return false }
    remaining -= 1
    do {
      try readEvent()
    } catch {
      throw StoreError.damagedBlock
    }
    return true
  }

  private mutating func readEvent() throws(Damage) {
    let (stamp, overflow) = timestamp.milliseconds.addingReportingOverflow(Int64(bitPattern: try number()))
    guard !overflow, stamp >= 0, stamp <= Instant.last.milliseconds else { throw Damage() }
    timestamp = Instant(milliseconds: stamp)
    let head = try number()
    flags = head & (1 << GameBlockEncoder.flagBits - 1)
    let number = head >> GameBlockEncoder.flagBits
    name = number == 0 ? try readNewString() : try known(number, strings.count)
    emission = Int64(bitPattern: try self.number())
    deviceNumber = try readString()
    player = try readPlayer()
    eventUUID = try readEventUUID()
    shape = try readShape()
    values.removeAll(keepingCapacity: true)
    for _ in 0..<shapes[shape].count {
      let value = try readString()
      guard JSONView.isWellFormed(strings[value]) else { throw Damage() }
      values.append(value)
    }
  }

  @inline(__always)
  private mutating func number() throws(Damage) -> UInt64 {
    guard let value = source.varint(&at) else { throw Damage() }
    return value
  }

  @inline(__always)
  private func known(_ number: UInt64, _ count: Int) throws(Damage) -> Int {
    guard number <= UInt64(count) else { throw Damage() }
    return Int(number) - 1
  }

  @inline(__always)
  private mutating func readString() throws(Damage) -> Int {
    let number = try number()
    return number == 0 ? try readNewString() : try known(number, strings.count)
  }

  private mutating func readNewString() throws(Damage) -> Int {
    strings.append(try readText())
    return strings.count - 1
  }

  private mutating func readText() throws(Damage) -> Text {
    let length = try number()
    guard length <= UInt64(source.count - at) else { throw Damage() }
    defer { at += Int(length) }
    return unsafe Text(base: source.base + at, count: Int(length))
  }

  private mutating func readPlayer() throws(Damage) -> Int {
    let number = try number()
    if number != 0 { return try known(number, players.count) }
    players.append((try readString(), try readString()))
    return players.count - 1
  }

  private mutating func readEventUUID() throws(Damage) -> Text {
    guard flags & GameBlockEncoder.packedFlag != 0 else { return try readText() }
    guard source.count - at >= 16 else { throw Damage() }
    let raw = unsafe UnsafeRawPointer(source.base + at)
    at += 16
    arena.reset()
    return unsafe RecordKey(
      high: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    ).text(in: arena)
  }

  private mutating func readShape() throws(Damage) -> Int {
    let number = try number()
    if number != 0 { return try known(number, shapes.count) }
    let count = try self.number()
    guard count <= UInt64(source.count - at) else { throw Damage() }
    let start = names.count
    for _ in 0..<count { names.append(try readString()) }
    shapes.append((start, Int(count)))
    return shapes.count - 1
  }

  // MARK: The current event

  /// Appends the event in the form of the wire.
  package func appendJSON(to target: inout ByteBuffer) {
    let shape = shapes[shape]
    GameEvent.appendJSON(
      name: strings[name], userID: strings[players[player].user], sessionID: strings[players[player].session],
      eventUUID: eventUUID, timestamp: timestamp, to: &target
    ) { target in
      target.append(UInt8(ascii: "{"))
      for index in 0..<shape.count {
        if index > 0 { target.append(UInt8(ascii: ",")) }
        CanonicalJSON.appendString(strings[names[shape.start + index]], to: &target)
        target.append(UInt8(ascii: ":"))
        unsafe WireJSON.append(JSONView(at: strings[values[index]].base), to: &target)
      }
      target.append(UInt8(ascii: "}"))
    }
  }

  /// The event as a value with all its memory in the arena.
  package func event(in arena: Arena) -> GameEvent {
    let shape = shapes[shape]
    var size = ViewWriter.container
    for index in 0..<shape.count {
      size += ViewWriter.bound(strings[names[shape.start + index]].count) + strings[values[index]].count
    }
    let start = unsafe arena.allocate(size)
    var writer = unsafe ViewWriter(at: start)
    let object = unsafe writer.begin(.object)
    for index in 0..<shape.count {
      writer.key(strings[names[shape.start + index]])
      unsafe writer.copy(JSONView(at: strings[values[index]].base))
    }
    unsafe writer.end(object)
    return unsafe GameEvent(
      name: arena.copy(strings[name].bytes), userID: arena.copy(strings[players[player].user].bytes),
      sessionID: arena.copy(strings[players[player].session].bytes), eventUUID: arena.copy(eventUUID.bytes),
      parameters: JSONView(at: start), timestamp: timestamp, device: arena.copy(device.bytes), emission: emission,
      consent: consent, isStored: flags & GameBlockEncoder.storedFlag != 0)
  }

  /// The request body `{"eventList":[...]}` of a whole block.
  package static func appendBody(of block: UnsafeBufferPointer<UInt8>, to target: inout ByteBuffer) throws {
    var reader = try unsafe GameBlockReader(block)
    // The number is the block's own word, and a damaged one may say anything; the buffer grows where it is true.
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

extension ByteBuffer {
  /// The number at `position`, which moves behind it; nil if it does not end within the bytes or is larger than 64 bits.
  @inline(__always)
  fileprivate borrowing func varint(_ position: inout Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < count, shift < 64 {
      let byte = unsafe base[position]
      position += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    return nil
  }
}

extension JSONView {
  /// Whether the bytes are exactly one value, with everything inside of it.
  static func isWellFormed(_ bytes: Text) -> Bool {
    let start = unsafe UnsafeRawPointer(bytes.base)
    return unsafe end(of: start, start + bytes.count, depth: 0) == start + bytes.count
  }

  /// Where the value at `start` ends; nil if that is not before `limit`.
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
