package import BatchFoundation
import BatchStore

/// Walks through the events of one block and writes each as it is on the wire, byte for byte (reference formats 4.2).
///
/// Text shared by many events is rendered once per block: the core attributes of an app on a kind of device, and the
/// text between two values of a list of names. An event is then a dozen copies. Every number is checked against the
/// block, so a damaged block causes an error, never a wild read.
package struct BlockReader: ~Copyable {
  /// A piece of `rendered`.
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

  private var cursor: BlockCursor
  private var profiles: [(values: InlineArray<6, Int>, rendered: Piece)] = []
  private var identities: [Identity] = []
  private var shapes: [Shape] = []
  /// The numbers of the names of all shapes, and the text between the preceding value and that of each name.
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
  private var sources = SourceTrail()

  package let eventCount: Int
  /// The size of the whole request body, without contact ids.
  package let bodyBytes: Int
  package private(set) var timestamp: Instant
  package private(set) var emission: Int64 = 0
  /// The place where the event's record was read.
  package private(set) var source = StoredSource.unknown

  package var isExpired: Bool { flags & EventBlockEncoder.expiredFlag != 0 }
  package var isLate: Bool { flags & EventBlockEncoder.isLateFlag != 0 }
  package var identityIsFixed: Bool { flags & EventBlockEncoder.identityIsFixedFlag != 0 }

  /// - Throws: `StoreError/damagedBlock` for a header that makes no sense or a version of a later release.
  package init(_ block: UnsafeBufferPointer<UInt8>) throws { try unsafe self.init(BlockCursor(block)) }

  private init(_ block: consuming BlockCursor) throws {
    var block = block
    let head = try block.head(version: EventBlockEncoder.version)
    cursor = block
    (eventCount, remaining) = (head.events, head.events)
    (timestamp, bodyBytes) = (head.first, head.bodyBytes)
    rendered.append(fixed.text)
    // The usual sizes, so that the lists need not grow.
    let usual = min(eventCount, 128)
    cursor.reserveStrings(usual * 4)
    identities.reserveCapacity(usual)
    profiles.reserveCapacity(32)
    shapes.reserveCapacity(16)
    names.reserveCapacity(64)
    nameFragments.reserveCapacity(64)
    values.reserveCapacity(16)
  }

  package init(_ block: [UInt8]) throws { try self.init(BlockCursor(block)) }

  /// Advances to the next event; false after the last.
  ///
  /// - Throws: `StoreError/damagedBlock` for a number that the block does not have.
  package mutating func next() throws -> Bool {
    guard remaining > 0 else { return false }
    remaining -= 1
    try readEvent()
    return true
  }

  private mutating func readEvent() throws {
    timestamp = try cursor.instant(after: timestamp)
    let head = try cursor.number()
    flags = head & (1 << EventBlockEncoder.flagBits - 1)
    let number = head >> EventBlockEncoder.flagBits
    code = number == 0 ? try cursor.newString() : try cursor.index(number, of: cursor.strings.count)
    emission = EmissionNumber.unpacked(try cursor.number(), at: timestamp)
    source = try sources.next(from: &cursor)
    ownDevice = flags & EventBlockEncoder.hasOwnDeviceFlag == 0 ? nil : try cursor.string()
    identity = try readIdentity()
    shape = try readShape()
    values.removeAll(keepingCapacity: true)
    for _ in 0..<shapes[shape].count { values.append(try cursor.string()) }
  }

  private mutating func readIdentity() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: identities.count) }
    let profile = try readProfile()
    identities.append(
      Identity(
        profile: profile, device: try cursor.string(), user: try cursor.string(), anonymous: try cursor.string(),
        recipient: try cursor.string()))
    return identities.count - 1
  }

  private mutating func readProfile() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: profiles.count) }
    var values = InlineArray<6, Int>(repeating: 0)
    for index in values.indices { values[index] = try cursor.string() }
    let start = rendered.count
    for index in values.indices {
      rendered.append(EventJSON.beforeName)
      rendered.append(CoreAttribute.names[index])
      rendered.append(EventJSON.beforeValue)
      rendered.append(escaped(values[index]))
      rendered.append("\"},")
    }
    rendered.append("{\"name\":\"Device Id\",\"value\":\"")
    profiles.append((values, Piece(offset: start, count: rendered.count - start)))
    return profiles.count - 1
  }

  private mutating func readShape() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: shapes.count) }
    let count = try cursor.byteBoundCount()
    let start = names.count
    for _ in 0..<count {
      let name = try cursor.string()
      names.append(name)
      let offset = rendered.count
      rendered.append("\"},{\"name\":\"")
      rendered.append(escaped(name))
      rendered.append(EventJSON.beforeValue)
      nameFragments.append(Piece(offset: offset, count: rendered.count - offset))
    }
    shapes.append(Shape(start: start, count: count))
    return shapes.count - 1
  }

  @inline(__always)
  private func escaped(_ string: Int) -> Text { cursor.strings[string] }

  // MARK: The current event

  /// Appends the event; with `contact` also the header `contactId`, if the recipient id fits (reference identity 6.1).
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
    let text = cursor.strings[string]
    unsafe target.append(padded: text.base, text.count)
  }

  /// Returns whether a recipient id fits the header: at most 18 decimal digits without a leading zero.
  static func isContactNumber(_ text: Text) -> Bool {
    guard 1...18 ~= text.count, text[0] != UInt8(ascii: "0") else { return false }
    return unsafe text.bytes.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
  }

  /// Returns the device that the event came from, whatever its attribute says; valid as long as the reader.
  package mutating func device() -> Text {
    if let ownDevice { return unescaped(ownDevice) }
    if let raw = identities[identity].rawDevice { return raw }
    let raw = unescaped(identities[identity].device)
    identities[identity].rawDevice = raw
    return raw
  }

  /// Returns the event as a value; its text is valid as long as the reader, its list of attributes as long as `arena`.
  package mutating func event(in arena: Arena) -> Event {
    let identity = identities[identity]
    let shape = shapes[shape]
    let profile = profiles[identity.profile].values
    let ids: InlineArray<4, Int> = [identity.device, identity.user, identity.anonymous, identity.recipient]
    var core = CoreTexts()
    for slot in core.values.indices { core.values[slot] = unescaped(slot < 6 ? profile[slot] : ids[slot - 6]) }
    let list = unsafe arena.allocate(shape.count * MemoryLayout<Attribute>.stride)
      .bindMemory(to: Attribute.self, capacity: shape.count)
    for index in 0..<shape.count {
      unsafe (list + index).initialize(
        to: Attribute(unescaped(names[shape.start + index]), unescaped(values[index])))
    }
    return unsafe Event(
      code: unescaped(code), timestamp: timestamp, device: device(), emission: emission,
      core: core.placed(in: arena), attributes: UnsafeBufferPointer(start: list, count: shape.count),
      expired: isExpired, identityIsFixed: identityIsFixed, isLate: isLate, source: source)
  }

  /// Returns the event's code; valid as long as the reader.
  package mutating func type() -> Text { unescaped(code) }

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

  /// Appends the request body `{"events":[...]}` of a whole block.
  ///
  /// - Throws: `StoreError/damagedBlock` for a block that cannot be read, or a body larger than the block states.
  package static func appendBody(
    of block: UnsafeBufferPointer<UInt8>, contact: Bool = false, to target: inout ByteBuffer
  ) throws {
    var reader = try unsafe BlockReader(block)
    // The number is the block's claim, and a damaged block may claim anything; the buffer grows if it is true.
    target.reserve(min(reader.bodyBytes, 16 << 20))
    let limit = target.count + reader.bodyBytes
    target.append(EventJSON.bodyStart)
    var isFirst = true
    while try reader.next() {
      if !isFirst { target.append(UInt8(ascii: ",")) }
      isFirst = false
      reader.appendJSON(to: &target, contact: contact)
      // Contact ids make it longer.
      guard target.count <= limit + (contact ? reader.eventCount * 64 : 0) else { throw StoreError.damagedBlock }
    }
    target.append(EventJSON.bodyEnd)
  }
}
