package import BatchFoundation

/// Reads the events of a block that ``EventBlockWriter`` wrote, in order, and writes each of them exactly as
/// on the wire.
///
/// Parts that many events have in common are rendered once per block: a device's shared texts with the fixed texts
/// around them and, for each field name, everything between the preceding value and its own. Writing an event then
/// takes about a dozen copies. Every number is checked against the block, so a damaged block causes an error, never an
/// out-of-bounds read.
package final class EventBlockReader {
  /// A range of `rendered`.
  private typealias Piece = Range<Int>

  /// A list of shared texts, which several events may have in common.
  private struct List {
    /// The rendered texts; nil until an event with them is written.
    var rendered: Piece?
    /// The device that the texts name, as recorded; nil until it is requested.
    var device: Text?
  }

  private let form: WireForm
  private var cursor: BlockCursor
  private var lists: [List] = []
  /// The string indexes of the shared texts of all lists.
  private var shared: [Int] = []
  /// The shapes, as ranges of `names`.
  private var shapes: [Range<Int>] = []
  /// The string indexes of the names of all shapes, and for each name, the text between the preceding value and the
  /// value of that name.
  private var names: [(string: Int, fragment: Piece)] = []
  private var rendered: ByteBuffer
  private var fixed: [Piece] = []
  /// The values of the block that have a number, and the values of the current event.
  private var numbered: [Text] = []
  private var values: [Text] = []
  private var remaining: Int
  private var arena: Arena?

  private var typeNumber = 0
  private var list = 0
  private var shape = 0
  private var ownDevice: Int?
  private var sources = SourceTrail()
  private let hasLead: Bool

  package let eventCount: Int
  /// The index of the current event in the block.
  var ordinal: Int { eventCount - remaining - 1 }
  /// The size of the whole request body in bytes, without contact ids.
  package let bodyBytes: Int
  package let group: UInt8
  package private(set) var timestamp: Instant
  /// The emission number, which increases from event to event of a device, across runs; see ``EmissionNumber``.
  package private(set) var emission: Int64 = 0
  /// The place where the record that led to the event was read.
  package private(set) var source = StoredSource.unknown
  package private(set) var flags: EventFlags = []
  /// The part of the event before its fields; valid as long as the reader exists.
  package private(set) var lead = EventHead.Lead.none

  /// - Throws: ``StoreError/damagedBlock`` if the header is invalid or has a different version.
  package convenience init(_ block: [UInt8], _ form: WireForm) throws { try self.init(BlockCursor(block), form) }

  init(_ block: consuming BlockCursor, _ form: WireForm) throws {
    var block = block
    let head = try block.head(version: EventBlockWriter.version)
    group = try block.byte()
    (eventCount, remaining) = (head.events, head.events)
    (timestamp, bodyBytes) = (head.first, head.bodyBytes)
    self.form = form
    // A merge keeps a thousand readers, most of which need little; 32 KB each would add 30 MB to the peak.
    rendered = ByteBuffer(capacity: min(head.events, 8) * 1024)
    // These are the usual sizes, so the arrays seldom need to grow.
    let usual = min(head.events, 128)
    block.reserveStrings(usual * 4)
    fixed.reserveCapacity(form.pieces.count)
    lists.reserveCapacity(usual)
    shared.reserveCapacity(usual * form.shared.count)
    shapes.reserveCapacity(16)
    names.reserveCapacity(64)
    numbered.reserveCapacity(usual * 2)
    values.reserveCapacity(16)
    cursor = block
    hasLead = form.pieces.contains { if case .lead = $0 { true } else { false } }
    for piece in form.pieces {
      if case .text(let text) = piece {
        fixed.append(render { $0.append(text) })
      } else {
        fixed.append(0..<0)
      }
    }
  }

  /// Advances to the next event; returns false after the last.
  ///
  /// - Throws: ``StoreError/damagedBlock`` if the event refers to something that the block does not contain.
  package func next() throws -> Bool {
    guard remaining > 0 else { return false }
    remaining -= 1
    timestamp = try cursor.instant(after: timestamp)
    let head = try cursor.number()
    flags = EventFlags(rawValue: UInt8(head & (1 << EventFlags.bits - 1)))
    let number = head >> EventFlags.bits
    typeNumber = number == 0 ? try cursor.newString() : try cursor.index(number, of: cursor.strings.count)
    emission = EmissionNumber.unpacked(try cursor.number(), at: timestamp)
    source = try sources.next(from: &cursor)
    ownDevice = flags.contains(.hasOwnDevice) ? try cursor.string() : nil
    if hasLead { lead = try readLead() }
    list = try readList()
    shape = try readShape()
    values.removeAll(keepingCapacity: true)
    for _ in 0..<shapes[shape].count { values.append(try readValue()) }
    return true
  }

  private func readLead() throws -> EventHead.Lead {
    flags.contains(.hasUUID)
      ? .uuid(NameUUID(high: try cursor.word(), low: try cursor.word())) : .raw(try cursor.text())
  }

  private func readList() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: lists.count) }
    let changes = try cursor.number()
    let start = shared.count
    for index in form.shared.indices {
      if changes & 1 << UInt64(index) != 0 {
        shared.append(try cursor.string())
      } else {
        guard start > 0 else { throw StoreError.damagedBlock }
        shared.append(shared[start - form.shared.count + index])
      }
    }
    lists.append(List())
    return lists.count - 1
  }

  private func readShape() throws -> Int {
    let number = try cursor.number()
    if number != 0 { return try cursor.index(number, of: shapes.count) }
    let count = try cursor.byteBoundCount()
    let start = names.count
    for index in 0..<count {
      let name = try cursor.string()
      let fragment = render {
        $0.append(index == 0 ? form.beforeFirstName : form.beforeName)
        $0.append(cursor.strings[name])
        $0.append(form.beforeValue)
      }
      names.append((name, fragment))
    }
    shapes.append(start..<start + count)
    return shapes.count - 1
  }

  @inline(__always)
  private func readValue() throws -> Text {
    switch try cursor.number() {
    case 0:
      numbered.append(try cursor.text())
      return numbered[numbered.count - 1]
    case 1: return try cursor.text()
    case let number: return numbered[try cursor.index(number - 1, of: numbered.count)]
    }
  }

  private func render(_ body: (inout ByteBuffer) -> Void) -> Piece {
    let start = rendered.count
    body(&rendered)
    return start..<rendered.count
  }

  // MARK: - The current event

  /// Appends the event as in requests and in `--events-out`, without a line ending.
  package func appendJSON(to target: inout ByteBuffer) { append(to: &target, withContact: false) }

  /// Appends the event like ``appendJSON(to:)``, but without fields, and without the shared texts directly before the
  /// fields, which are in the same list. It is still valid JSON.
  package func appendOutline(to target: inout ByteBuffer) { append(to: &target, withContact: false, isOutline: true) }

  /// The event as in requests and in `--events-out`, without a line ending.
  package var json: [UInt8] {
    var json = ByteBuffer()
    appendJSON(to: &json)
    return json.array
  }

  /// Appends the event and, if `contact` is true, its recipient id if that is a number (reference identity 6.1).
  ///
  /// - Parameter isOutline: whether to leave out the pieces in ``WireForm/list``.
  @inline(__always)
  func append(to target: inout ByteBuffer, withContact contact: Bool, isOutline: Bool = false) {
    for (index, piece) in form.pieces.enumerated() {
      if isOutline, form.list.contains(index) { continue }
      switch piece {
      case .text: append(fixed[index], to: &target)
      case .type: append(cursor.strings[typeNumber], to: &target)
      case .timestamp:
        unsafe target.append(limit: 24) { bytes in
          unsafe timestamp.write(to: bytes)
          return 24
        }
      case .spacedTimestamp:
        unsafe target.append(limit: 24) { bytes in
          unsafe timestamp.writeEventTimestamp(to: bytes)
          return Instant.eventTimestampBytes
        }
      case .contact(let before, let place):
        guard contact, Self.isContactNumber(wire(place)) else { continue }
        target.append(before)
        target.append(wire(place))
      case .shared: append(renderedList(), to: &target)
      case .lead: appendLead(to: &target)
      case .fields: appendFields(to: &target)
      }
    }
  }

  /// Appends the names and values of the fields, without the text around the whole list.
  package func appendFields(to target: inout ByteBuffer) {
    let start = shapes[shape].lowerBound
    for index in values.indices {
      append(names[start + index].fragment, to: &target)
      append(values[index], to: &target)
    }
  }

  private func appendLead(to target: inout ByteBuffer) {
    switch lead {
    case .none: break
    case .uuid(let id):
      unsafe target.append(limit: NameUUID.textBytes + 2) { bytes in
        unsafe bytes[0] = UInt8(ascii: "\"")
        unsafe id.write(to: bytes + 1)
        unsafe bytes[NameUUID.textBytes + 1] = UInt8(ascii: "\"")
        return NameUUID.textBytes + 2
      }
    case .text(let text), .raw(let text): append(text, to: &target)
    }
  }

  @inline(__always)
  private func append(_ piece: Piece, to target: inout ByteBuffer) {
    unsafe target.append(padded: rendered.base + piece.lowerBound, piece.count)
  }

  /// Appends a text of the block, whose memory is readable for some bytes beyond the text's end.
  @inline(__always)
  private func append(_ text: Text, to target: inout ByteBuffer) { unsafe target.append(padded: text.base, text.count) }

  private func renderedList() -> Piece {
    if let piece = lists[list].rendered { return piece }
    let piece = render { target in
      for (place, slot) in form.shared.enumerated() where !slot.isHidden && !(slot.omitsEmpty && wire(place).isEmpty) {
        target.append(slot.before)
        target.append(wire(place))
        target.append(slot.after)
      }
    }
    lists[list].rendered = piece
    return piece
  }

  /// Returns whether a recipient id can be sent as a contact: it has 1 to 18 decimal digits without a leading zero.
  static func isContactNumber(_ text: Text) -> Bool {
    guard 1...18 ~= text.count, text[0] != UInt8(ascii: "0") else { return false }
    return unsafe text.bytes.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
  }

  /// Returns a shared text as on the wire.
  private func wire(_ place: Int) -> Text { cursor.strings[shared[list * form.shared.count + place]] }

  /// The device that the event came from, even if its shared text names another; valid as long as the reader exists.
  package var device: Text {
    if let ownDevice { return unescaped(cursor.strings[ownDevice]) }
    if let known = lists[list].device { return known }
    let device = unescaped(wire(form.device))
    lists[list].device = device
    return device
  }

  package var id: EventID { EventID(timestamp: timestamp, device: device, emission: emission) }

  /// The code or the name of the event; valid as long as the reader exists.
  package var type: Text { unescaped(cursor.strings[typeNumber]) }
  package var isExpired: Bool { flags.contains(.isExpired) }
  package var isLate: Bool { flags.contains(.isLate) }

  /// Returns a shared text without escapes; valid as long as the reader exists.
  package func shared(_ place: Int) -> Text { unescaped(wire(place)) }

  /// The fields, with their values as on the wire; valid as long as the reader exists.
  package var wireFields: [Attribute] {
    let start = shapes[shape].lowerBound
    return values.indices.map { Attribute(cursor.strings[names[start + $0].string], values[$0]) }
  }

  /// Returns the text without JSON escapes; valid as long as the reader exists.
  package func unescaped(_ text: Text) -> Text {
    guard unsafe text.bytes.contains(UInt8(ascii: "\\")) else { return text }
    let arena = arena ?? Arena(blockSize: 4096)
    self.arena = arena
    return CanonicalJSON.unescaped(text, in: arena)
  }

  /// Adds the event to a writer that was created with `isCopying: true`.
  ///
  /// - Parameters:
  ///   - emission: the new emission number; nil to keep the number.
  ///   - replaced: new shared texts, escaped, by their index.
  package func copy(to writer: inout EventBlockWriter, emission: Int64? = nil, replaced: [Int: Text] = [:]) {
    let head = EventHead(
      type: cursor.strings[typeNumber], timestamp: timestamp,
      device: ownDevice.map { cursor.strings[$0] } ?? wire(form.device), emission: emission ?? self.emission,
      source: source, flags: flags.subtracting([.hasOwnDevice, .hasUUID]), group: group, lead: lead)
    let texts = form.shared.indices.map { replaced[$0] ?? wire($0) }
    unsafe texts.withUnsafeBufferPointer { texts in
      unsafe wireFields.withUnsafeBufferPointer { unsafe writer.append(head, shared: texts, fields: $0) }
    }
  }
}
