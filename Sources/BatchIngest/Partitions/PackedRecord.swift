import BatchFoundation

/// The fixed head of a packed record, followed by the device id after its short length and the platform's payload.
///
/// The form never outlives the run, so it uses the machine's byte order.
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
  /// Whether the digest is the platform's, and identifies equal records whatever the times.
  var hasIdentity: Bool
  var ignoredType: UInt8
  var notes: RecordNotes = []
  /// The number among the records that a map made of the line.
  var element: UInt16
  /// The number of bytes at the end that are not the payload's.
  var padding: UInt8 = 0

  static var size: Int { MemoryLayout<PackedHead>.size }
}

enum PackedRecord {
  /// Returns the maximum number of bytes of the packed record.
  @inline(__always)
  static func bound(_ head: borrowing RecordHead, payload: Int) -> Int {
    PackedHead.size + 16 + head.device.count + 5 + payload
  }

  /// Packs the decoder's current record into memory with the room that ``bound(_:payload:)`` requires.
  ///
  /// - Returns: the bytes used, a multiple of 8.
  @inline(__always)
  static func write(
    _ head: borrowing RecordHead, of line: SourceLine, digest: LineDigest, device: DeviceHash,
    payload: any LineDecoder, at start: UnsafeMutableRawPointer
  ) -> Int {
    var at = unsafe start + PackedHead.size
    unsafe at = head.device.writeShort(to: at)
    unsafe at += payload.writePayload(at: at)
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

  static func device(of packed: UnsafeRawPointer) -> Text {
    unsafe JSONView.shortText(at: packed + PackedHead.size).text
  }

  /// Returns the key of a record that has one (``RecordKey/recordKey``).
  static func recordKey(of packed: UnsafeRawPointer) -> UInt64 {
    let size = unsafe Int(packed.assumingMemoryBound(to: PackedHead.self).pointee.size)
    return unsafe (packed + size - 8).load(as: UInt64.self)
  }

  /// Returns the payload, with up to fifteen bytes after it.
  static func payload(of packed: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    let start = unsafe JSONView.shortText(at: packed + PackedHead.size).end
    let size = unsafe Int(packed.assumingMemoryBound(to: PackedHead.self).pointee.size)
    return unsafe UnsafeRawBufferPointer(start: start, count: packed + size - start)
  }
}
