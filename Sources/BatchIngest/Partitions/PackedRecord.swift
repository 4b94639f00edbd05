import BatchFoundation

/// The fixed head of a packed record. The device id with its short length and the platform's payload follow.
///
/// The head never outlives the run, so it uses the machine's byte order.
struct PackedHead {
  var timestamp: Int64
  var digest: LineDigest
  var device: DeviceHash
  var line: UInt64
  var file: UInt32
  /// The number of bytes to the next record, a multiple of 8.
  var size: UInt32
  var kind: InputKind
  var type: UInt8
  var isSample: Bool
  /// Whether the platform supplied the digest. If so, equal digests mean equal records regardless of their times.
  var hasIdentity: Bool
  var ignoredType: UInt8
  var notes: RecordNotes = []
  /// The index among the records that a map made from the line.
  var element: UInt16
  /// The number of bytes after the payload: padding, and the record key if there is one.
  var padding: UInt8 = 0

  static var size: Int { MemoryLayout<PackedHead>.size }
}

enum PackedRecord {
  /// Returns the maximum number of bytes of the packed record.
  @inline(__always)
  static func bound(_ head: borrowing RecordHead, payload: Int) -> Int {
    PackedHead.size + 16 + head.device.count + 5 + payload
  }

  /// Packs the reader's current record into memory that has room for ``bound(_:payload:)`` bytes.
  ///
  /// - Returns: the bytes used, a multiple of 8.
  @inline(__always)
  static func write(
    _ head: borrowing RecordHead, of line: SourceLine, digest: LineDigest, device: DeviceHash,
    by reader: borrowing LineReader, at start: UnsafeMutableRawPointer
  ) -> Int {
    var at = unsafe start + PackedHead.size
    unsafe at = head.device.writeShort(to: at)
    unsafe at += reader.decoder.writePayload(at: at)
    let used = unsafe at - start
    var size = (used + 7) & ~7
    var notes = head.notes
    if head.recordKey != 0 {
      notes.insert(.hasRecordKey)
      unsafe (start + size).storeBytes(of: head.recordKey, as: UInt64.self)
      size += 8
    }
    unsafe start.storeBytes(
      of: PackedHead(
        timestamp: head.timestamp.milliseconds, digest: digest, device: device, line: line.position.line,
        file: line.position.file, size: UInt32(size), kind: line.kind, type: head.type, isSample: head.isSample,
        hasIdentity: head.identity != nil, ignoredType: head.ignoredType,
        notes: notes, element: line.position.element, padding: UInt8(size - used)), as: PackedHead.self)
    return size
  }

  /// Packs a record into the arena with the facts of another one's head, but with this device, payload and record key.
  static func write(
    _ given: PackedHead, device: Text, payload: UnsafeRawBufferPointer, key: UInt64?, in arena: Arena
  ) -> RecordEntry {
    let target = unsafe arena.allocate(PackedHead.size + 8 + device.count + payload.count + 16)
    let start = unsafe device.writeShort(to: target + PackedHead.size)
    if let source = payload.baseAddress { unsafe start.copyMemory(from: source, byteCount: payload.count) }
    let used = unsafe start - target + payload.count
    var head = given
    head.size = UInt32((used + 7) & ~7)
    head.notes.remove(.hasRecordKey)
    if let key {
      head.notes.insert(.hasRecordKey)
      unsafe (target + Int(head.size)).storeBytes(of: key, as: UInt64.self)
      head.size += 8
    }
    head.padding = UInt8(Int(head.size) - used)
    unsafe target.storeBytes(of: head, as: PackedHead.self)
    return unsafe RecordEntry(milliseconds: head.timestamp, packed: target)
  }

  static func device(of packed: UnsafeRawPointer) -> Text {
    unsafe JSONView.shortText(at: packed + PackedHead.size).text
  }

  /// Returns the key of a record that has one (``RecordEntry/recordKey``).
  static func recordKey(of packed: UnsafeRawPointer) -> UInt64 {
    let size = unsafe Int(packed.assumingMemoryBound(to: PackedHead.self).pointee.size)
    return unsafe (packed + size - 8).load(as: UInt64.self)
  }

  /// Returns the payload and up to fifteen bytes that follow it.
  static func payload(of packed: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    let start = unsafe JSONView.shortText(at: packed + PackedHead.size).end
    let size = unsafe Int(packed.assumingMemoryBound(to: PackedHead.self).pointee.size)
    return unsafe UnsafeRawBufferPointer(start: start, count: packed + size - start)
  }
}

/// The unique place of a record among all records of its device (reference formats 3.8).
struct RecordPlace: Comparable {
  /// The time in milliseconds since 1970.
  var timestamp: Int64
  var kind: InputKind
  var file: UInt32
  var line: UInt64
  /// The index among the records that a map made from the line.
  var element: UInt16 = 0

  static let first = RecordPlace(timestamp: .min, kind: .events, file: 0, line: 0)
  static let end = RecordPlace(timestamp: .max, kind: .events, file: 0, line: 0)

  @inline(__always)
  static func < (one: RecordPlace, other: RecordPlace) -> Bool {
    one.timestamp != other.timestamp ? one.timestamp < other.timestamp : precedesInTie(one, other)
  }

  private static func precedesInTie(_ one: RecordPlace, _ other: RecordPlace) -> Bool {
    if one.kind != other.kind { return one.kind < other.kind }
    if one.file != other.file { return one.file < other.file }
    return one.line != other.line ? one.line < other.line : one.element < other.element
  }
}

extension PackedHead {
  @inline(__always)
  var place: RecordPlace {
    RecordPlace(timestamp: timestamp, kind: kind, file: file, line: line, element: element)
  }
}

/// The first and the last place of some records, and the most recently added place.
struct PlaceSpan {
  private(set) var first = RecordPlace.end
  private(set) var last = RecordPlace.first
  private(set) var newest = RecordPlace.first

  @inline(__always)
  mutating func add(_ place: RecordPlace) {
    if place < first { first = place }
    if last < place { last = place }
    newest = place
  }

  func overlaps(_ range: Range<RecordPlace>) -> Bool { first < range.upperBound && range.lowerBound <= last }
}
