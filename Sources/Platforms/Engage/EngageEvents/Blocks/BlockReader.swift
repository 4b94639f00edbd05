package import BatchFoundation
import BatchStore

/// Walks through the events of one block and writes each as it stands on the wire, byte for byte (reference formats 4.2).
///
/// What many events share is written once per block: the core attributes of an app on a kind of device, and the text between
/// two values of a list of names. An event is then a dozen copies. Every number is checked against what the block has, so a
/// damaged block ends as an error and never as a wild read.
package struct BlockReader: ~Copyable {
  /// A piece of `source` or `rendered`.
  private struct Piece {
    var offset: Int
    var count: Int
  }

  private struct Identity {
    var profile: Int
    var device: Int
    var user: Int
    var anonymous: Int
    var recipient: Int
    var rawDevice: Text?
  }

  private struct Shape {
    var start: Int
    var count: Int
  }

  private struct Damage: Error {}

  /// In the order of the wire; a list made once, unlike `allCases`.
  private static let coreNames = CoreAttribute.allCases.map(\.name)

  private var source: ByteBuffer
  private var at = 0
  private var strings: [Piece] = []
  private var profiles: [(values: InlineArray<6, Int>, rendered: Piece)] = []
  private var identities: [Identity] = []
  private var shapes: [Shape] = []
  /// The numbers of the names of all shapes, and the text from the end of the value before each to the start of its own.
  private var names: [Int] = []
  private var nameFragments: [Piece] = []
  private var rendered = ByteBuffer(capacity: 8192)
  private let fixed = Fixed()
  private var values: [Int] = []
  private var remaining: Int
  private var isFirst = true
  private var arena: Arena?

  private var code = 0
  private var identity = 0
  private var shape = 0
  private var flags: UInt64 = 0
  private var ownDevice: Int?

  package let eventCount: Int
  /// Size of the whole request body, without contact ids.
  package let bodyBytes: Int
  package private(set) var timestamp: Instant
  package private(set) var emission: Int64 = 0

  package var isExpired: Bool { flags & EventBlockEncoder.expiredFlag != 0 }
  package var identityIsFixed: Bool { flags & EventBlockEncoder.identityIsFixedFlag != 0 }

  /// - Throws: `StoreError/damagedBlock` for a header that makes no sense or a version of a later release.
  package init(_ block: UnsafeBufferPointer<UInt8>) throws {
    var source = ByteBuffer(capacity: block.count)
    unsafe source.append(block)
    try self.init(source)
  }

  package init(_ block: [UInt8]) throws {
    var source = ByteBuffer(capacity: block.count)
    unsafe block.withUnsafeBufferPointer { unsafe source.append($0) }
    try self.init(source)
  }

  private init(_ bytes: consuming ByteBuffer) throws {
    var at = 1
    guard bytes.count > 0, unsafe bytes.base[0] == EventBlockEncoder.version, let events = bytes.varint(&at),
      let first = bytes.varint(&at), let size = bytes.varint(&at), events <= UInt64(bytes.count),
      first <= UInt64(Instant.last.milliseconds), size < 1 << 40
    else { throw StoreError.damagedBlock }
    eventCount = Int(events)
    remaining = Int(events)
    timestamp = Instant(milliseconds: Int64(first))
    bodyBytes = Int(size)
    self.at = at
    source = bytes
    rendered.append(fixed.text)
    // What a usual block has, so that its lists need not grow.
    let usual = min(Int(events), 128)
    strings.reserveCapacity(usual * 4)
    identities.reserveCapacity(usual)
    profiles.reserveCapacity(32)
    shapes.reserveCapacity(16)
    names.reserveCapacity(64)
    nameFragments.reserveCapacity(64)
    values.reserveCapacity(16)
  }

  /// Goes to the next event; false behind the last.
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
    flags = head & (1 << EventBlockEncoder.flagBits - 1)
    let number = head >> EventBlockEncoder.flagBits
    code = number == 0 ? try readNewString() : try known(number, strings.count)
    emission = Int64(bitPattern: try self.number())
    ownDevice = flags & EventBlockEncoder.hasOwnDeviceFlag == 0 ? nil : try readString()
    identity = try readIdentity()
    shape = try readShape()
    values.removeAll(keepingCapacity: true)
    for _ in 0..<shapes[shape].count { values.append(try readString()) }
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
    let length = try number()
    guard length <= UInt64(source.count - at) else { throw Damage() }
    strings.append(Piece(offset: at, count: Int(length)))
    at += Int(length)
    return strings.count - 1
  }

  private mutating func readIdentity() throws(Damage) -> Int {
    let number = try number()
    if number != 0 { return try known(number, identities.count) }
    let profile = try readProfile()
    identities.append(
      Identity(
        profile: profile, device: try readString(), user: try readString(), anonymous: try readString(),
        recipient: try readString()))
    return identities.count - 1
  }

  private mutating func readProfile() throws(Damage) -> Int {
    let number = try number()
    if number != 0 { return try known(number, profiles.count) }
    var values = InlineArray<6, Int>(repeating: 0)
    for index in values.indices { values[index] = try readString() }
    let start = rendered.count
    for index in values.indices {
      rendered.append(EventJSON.beforeName)
      rendered.append(Self.coreNames[index])
      rendered.append(EventJSON.beforeValue)
      rendered.append(escaped(values[index]))
      rendered.append("\"},")
    }
    rendered.append("{\"name\":\"Device Id\",\"value\":\"")
    profiles.append((values, Piece(offset: start, count: rendered.count - start)))
    return profiles.count - 1
  }

  private mutating func readShape() throws(Damage) -> Int {
    let number = try number()
    if number != 0 { return try known(number, shapes.count) }
    let count = try self.number()
    guard count <= UInt64(source.count - at) else { throw Damage() }
    let start = names.count
    for _ in 0..<count {
      let name = try readString()
      names.append(name)
      let offset = rendered.count
      rendered.append("\"},{\"name\":\"")
      rendered.append(escaped(name))
      rendered.append(EventJSON.beforeValue)
      nameFragments.append(Piece(offset: offset, count: rendered.count - offset))
    }
    shapes.append(Shape(start: start, count: Int(count)))
    return shapes.count - 1
  }

  @inline(__always)
  private func escaped(_ string: Int) -> Text {
    let piece = strings[string]
    return unsafe Text(base: source.base + piece.offset, count: piece.count)
  }

  // MARK: The current event

  /// Appends the event; with `contact` a numeric recipient id also stands in the header `contactId` (reference identity 6.1).
  package func appendJSON(to target: inout ByteBuffer, contact: Bool = false) {
    append(fixed.beforeCode, to: &target)
    append(string: code, to: &target)
    append(fixed.beforeTimestamp, to: &target)
    unsafe target.append(limit: 24) { bytes in
      unsafe timestamp.write(to: bytes)
      return 24
    }
    let identity = identities[identity]
    let recipient = escaped(identity.recipient)
    if contact, Self.isContactNumber(recipient) {
      target.append(EventJSON.beforeContact)
      target.append(recipient)
      target.append(EventJSON.afterContact)
    } else {
      append(fixed.beforeAttributes, to: &target)
    }
    let profile = profiles[identity.profile].rendered
    append((profile.offset, profile.count), to: &target)
    append(string: identity.device, to: &target)
    append(fixed.beforeUser, to: &target)
    append(string: identity.user, to: &target)
    append(fixed.beforeAnonymous, to: &target)
    append(string: identity.anonymous, to: &target)
    append(fixed.beforeRecipient, to: &target)
    append(string: identity.recipient, to: &target)
    let shape = shapes[shape]
    for index in 0..<shape.count {
      let fragment = nameFragments[shape.start + index]
      append((fragment.offset, fragment.count), to: &target)
      append(string: values[index], to: &target)
    }
    append(fixed.afterEvent, to: &target)
  }

  @inline(__always)
  private func append(_ piece: (offset: Int, count: Int), to target: inout ByteBuffer) {
    unsafe target.append(padded: rendered.base + piece.offset, piece.count)
  }

  @inline(__always)
  private func append(string: Int, to target: inout ByteBuffer) {
    let piece = strings[string]
    unsafe target.append(padded: source.base + piece.offset, piece.count)
  }

  /// A recipient id that fits the header: decimal digits of a positive 64-bit number, without leading zeros.
  static func isContactNumber(_ text: Text) -> Bool {
    guard 1...18 ~= text.count, text[0] != UInt8(ascii: "0") else { return false }
    return unsafe text.bytes.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
  }

  /// The device that the event came from, whatever its attribute says; lives as long as the reader.
  package mutating func device() -> Text {
    if let ownDevice { return unescaped(ownDevice) }
    if let raw = identities[identity].rawDevice { return raw }
    let raw = unescaped(identities[identity].device)
    identities[identity].rawDevice = raw
    return raw
  }

  /// The event as a value; its text lives as long as the reader, its list of attributes as long as `arena`.
  package mutating func event(in arena: Arena) -> Event {
    let identity = identities[identity]
    let shape = shapes[shape]
    let list = unsafe arena.allocate((10 + shape.count) * MemoryLayout<Attribute>.stride)
      .bindMemory(to: Attribute.self, capacity: 10 + shape.count)
    let profile = profiles[identity.profile].values
    let ids: InlineArray<4, Int> = [identity.device, identity.user, identity.anonymous, identity.recipient]
    for index in 0..<10 {
      let value = index < 6 ? profile[index] : ids[index - 6]
      unsafe (list + index).initialize(to: Attribute(Self.coreNames[index], unescaped(value)))
    }
    for index in 0..<shape.count {
      unsafe (list + 10 + index).initialize(
        to: Attribute(unescaped(names[shape.start + index]), unescaped(values[index])))
    }
    return unsafe Event(
      code: unescaped(code), timestamp: timestamp, device: device(), emission: emission,
      attributes: UnsafeBufferPointer(start: list, count: 10 + shape.count), expired: isExpired,
      identityIsFixed: identityIsFixed)
  }

  private mutating func unescaped(_ string: Int) -> Text {
    let text = escaped(string)
    guard unsafe text.bytes.contains(UInt8(ascii: "\\")) else { return text }
    let arena = arena ?? Arena(blockSize: 4096)
    self.arena = arena
    return CanonicalJSON.unescaped(text, in: arena)
  }
}

extension BlockReader {
  /// The texts that every event has, in memory that may be read beyond its end.
  fileprivate struct Fixed {
    let text: Text =
      "{\"eventTypeCode\":\"\",\"eventTimestamp\":\"\",\"attributes\":[\"},{\"name\":\"Primary User Id\",\"value\":\"\"},{\"name\":\"Anonymous Id\",\"value\":\"\"},{\"name\":\"Recipient Id\",\"value\":\"\"}]}"
    let beforeCode = (offset: 0, count: 18)
    let beforeTimestamp = (offset: 18, count: 20)
    let beforeAttributes = (offset: 38, count: 16)
    let beforeUser = (offset: 54, count: 38)
    let beforeAnonymous = (offset: 92, count: 35)
    let beforeRecipient = (offset: 127, count: 35)
    let afterEvent = (offset: 162, count: 4)
  }

  /// The request body `{"events":[...]}` of a whole block.
  package static func appendBody(
    of block: UnsafeBufferPointer<UInt8>, contact: Bool = false, to target: inout ByteBuffer
  ) throws {
    var reader = try unsafe BlockReader(block)
    // The number is the block's own word, and a damaged one may say anything; the buffer grows where it is true.
    target.reserve(min(reader.bodyBytes, 16 << 20))
    let limit = target.count + reader.bodyBytes
    target.append(EventJSON.bodyStart)
    var isFirst = true
    while try reader.next() {
      if !isFirst { target.append(UInt8(ascii: ",")) }
      isFirst = false
      reader.appendJSON(to: &target, contact: contact)
      // With contact ids it may be longer by what each adds.
      guard target.count <= limit + (contact ? reader.eventCount * 64 : 0) else { throw StoreError.damagedBlock }
    }
    target.append(EventJSON.bodyEnd)
  }
}

extension ByteBuffer {
  /// The number at `position`, which moves behind it; nil if it does not end within the bytes or is larger than 64 bits.
  @inline(__always)
  fileprivate borrowing func varint(_ position: inout Int) -> UInt64? {
    guard position < count else { return nil }
    let first = unsafe base[position]
    position += 1
    if first < 0x80 { return UInt64(first) }
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
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
