package import BatchFoundation

/// The accepted records of the devices of one bucket, in order within each device (reference formats 3.8).
///
/// A bucket that is too large for memory is split into several partitions, which are consecutive slices of that order
/// for all its devices, so a device may be in several. All texts and views are valid until the callback that receives
/// the partition returns.
package struct Partition {
  /// The `DeviceHash/bucket` of all devices, less than `DeviceHash/bucketCount`.
  package let bucket: Int
  /// The number of the calling thread, from 0. Calls from one thread never overlap, and all slices of a bucket go to
  /// one thread.
  package let worker: Int
  /// The devices, sorted by the bytes of their ids; the last slice may have none.
  package var devices: [DeviceRecords]
  /// Facts about the records of all slices of the bucket; nil if the partition is the whole bucket.
  package var lookaheads: DeviceLookaheads?
  /// Whether no partition of this bucket follows.
  package var isLast = true
  package var repeated: [RepeatedRecord] = []

  package var recordCount: Int { devices.reduce(0) { $0 + $1.records.count } }
}

/// The accepted records of one device, ordered by timestamp, input kind, file, line and element.
package struct DeviceRecords {
  package let device: Text
  package let hash: DeviceHash
  package let records: RecordList
}

/// A line whose `recordId` identifies it as the same record as another line; later runs treat it as a line already
/// read.
package struct RepeatedRecord {
  package let device: Text
  package let digest: LineDigest
  package let timestamp: Instant
}

/// Ordered records that are still packed.
@safe package struct RecordList: RandomAccessCollection {
  let keys: UnsafeBufferPointer<RecordEntry>

  package var startIndex: Int { 0 }
  package var endIndex: Int { unsafe keys.count }

  /// Reads a little of each record, so that the processor fetches all of them into its cache at the same time. In a
  /// large partition, the records are far apart, and the processor would otherwise wait for each one.
  ///
  /// - Returns: a value that depends on everything read.
  @inline(never)
  package func touch() -> UInt8 {
    var sum: UInt8 = 0
    for index in indices {
      let key = unsafe keys[index]
      let end = key.byteCount - 1
      unsafe sum &+= key.packed.load(fromByteOffset: Swift.min(64, end), as: UInt8.self)
      unsafe sum &+= key.packed.load(fromByteOffset: Swift.min(128, end), as: UInt8.self)
    }
    return sum
  }

  package subscript(index: Int) -> RecordEntry { unsafe keys[index] }

  package func list(_ range: Range<Int>) -> RecordList {
    unsafe RecordList(keys: UnsafeBufferPointer(rebasing: keys[range]))
  }

  /// Returns the index of the first record at or after the instant; at the instant itself, records of kinds before
  /// `kind` are skipped.
  package func place(from instant: Instant, _ kind: InputKind = .events) -> Int {
    place { $0.timestamp == instant ? $0.kind < kind : $0.timestamp < instant }
  }
}

/// A packed record with a copy of its time, for sorting.
@safe package struct RecordEntry {
  let milliseconds: Int64
  let packed: UnsafeRawPointer

  var head: PackedHead { unsafe packed.assumingMemoryBound(to: PackedHead.self).pointee }

  var hasIdentity: Bool { head.hasIdentity }

  package var device: Text { unsafe PackedRecord.device(of: packed) }

  package var timestamp: Instant { Instant(milliseconds: milliseconds) }

  /// The record type in the platform's numbering.
  package var type: UInt8 { head.type }

  package var isSample: Bool { head.isSample }

  /// For a record that only another platform uses, its type plus 1; 0 for all others.
  package var ignoredType: UInt8 { head.ignoredType }

  package var kind: InputKind { head.kind }

  package var notes: RecordNotes { head.notes }

  /// The key by which later runs recognize the record's identity or the `recordId` that a map read; nil if there is
  /// neither.
  package var recordKey: UInt64? { notes.contains(.hasRecordKey) ? unsafe PackedRecord.recordKey(of: packed) : nil }

  /// The key of the record's identity; nil for a record without one.
  package var identityKey: UInt64? { hasIdentity ? recordKey : nil }

  package var position: RecordPosition { RecordPosition(file: head.file, line: head.line) }

  package var byteCount: Int { Int(head.size) }

  /// The digest by which a later run recognizes the line.
  package var digest: LineDigest { head.digest }

  /// The bytes that the platform's decoder wrote, and up to fifteen more; valid as long as the partition exists.
  package var payload: UnsafeRawBufferPointer { unsafe PackedRecord.payload(of: packed) }

  func mark(_ note: RecordNotes) {
    unsafe UnsafeMutableRawPointer(mutating: packed).assumingMemoryBound(to: PackedHead.self).pointee.notes.insert(note)
  }

  @inline(__always)
  static func precedes(_ one: RecordEntry, _ other: RecordEntry) -> Bool {
    one.milliseconds != other.milliseconds ? one.milliseconds < other.milliseconds : precedesInTie(one, other)
  }

  /// Compares records of one millisecond by kind, file, line and element, which are read only in this rare case.
  private static func precedesInTie(_ one: RecordEntry, _ other: RecordEntry) -> Bool {
    one.head.place < other.head.place
  }
}

/// Collects the records of one device. They remain valid, even when the reader reads another line, until all are
/// removed.
package final class RecordBuffer {
  private let arena = Arena()
  private var seen: Set<LineDigest> = []
  private var keys: [RecordEntry] = []

  package init() {}

  package var isEmpty: Bool { keys.isEmpty }

  /// Keeps the reader's current record; returns false for a duplicate of a record that is already kept (reference
  /// formats 3.3).
  package func keep(_ head: RecordHead, of line: SourceLine, _ reader: borrowing LineReader) -> Bool {
    let digest = head.identity ?? LineDigest(line: line.text, kind: line.kind)
    guard seen.insert(digest).inserted else { return false }
    let memory = unsafe arena.allocate(PackedRecord.bound(head, payload: reader.decoder.payloadBound))
    _ = unsafe PackedRecord.write(
      head, of: line, digest: digest, device: DeviceHash(head.device), by: reader, at: memory)
    unsafe keys.append(RecordEntry(milliseconds: head.timestamp.milliseconds, packed: memory))
    return true
  }

  /// Passes on the records in order; their memory is valid until ``removeAll()``.
  package func withRecords(_ body: (DeviceRecords) throws -> Void) rethrows {
    guard let first = keys.first else { return }
    keys.sort(by: RecordEntry.precedes)
    let device = unsafe PackedRecord.device(of: first.packed)
    try unsafe keys.withUnsafeBufferPointer { keys in
      try unsafe body(DeviceRecords(device: device, hash: first.head.device, records: RecordList(keys: keys)))
    }
  }

  package func removeAll() {
    keys.removeAll(keepingCapacity: true)
    seen.removeAll(keepingCapacity: true)
    arena.reset()
  }
}

/// Facts about a device's records that are known before all of them are passed on.
package struct DeviceLookahead {
  /// The time of the last record in this run.
  package fileprivate(set) var last: Instant
  /// The samples in order, reduced to what ``RecordVocabulary/copySample`` keeps.
  package var samples: [RecordEntry] = []

  fileprivate init(last: Instant) { self.last = last }

  /// Creates the look-ahead for a complete list of records; nil if the list is empty.
  package init?(_ records: RecordList) {
    guard let last = records.last else { return nil }
    self.last = last.timestamp
    samples = records.filter(\.isSample)
  }
}

/// The look-aheads for the devices of a bucket that is split into slices; samples are valid as long as this object
/// exists.
package final class DeviceLookaheads {
  private let vocabulary: RecordVocabulary
  private let arena = Arena()
  private var devices: [ByteText: DeviceLookahead] = [:]

  init(_ vocabulary: RecordVocabulary) { self.vocabulary = vocabulary }

  var isEmpty: Bool { devices.isEmpty }

  /// Returns the look-ahead of a device; nil if the device has no records.
  package func of(_ device: Text) -> DeviceLookahead? { devices[ByteText(device.description)] }

  /// Adds a slice; slices must be added in order.
  func add(_ slice: [DeviceRecords]) {
    for device in slice {
      guard let last = device.records.last else { continue }
      let name = ByteText(device.device.description)
      var known = devices.removeValue(forKey: name) ?? DeviceLookahead(last: last.timestamp)
      known.last = last.timestamp
      for entry in device.records where entry.isSample { known.samples.append(keep(entry)) }
      devices[name] = known
    }
  }

  /// Returns a copy of a sample without its device, and with only the part of the payload that a look-ahead needs.
  private func keep(_ entry: RecordEntry) -> RecordEntry {
    let payload = unsafe entry.payload
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: payload.count, alignment: 8)
    defer { unsafe scratch.deallocate() }
    let copied = unsafe scratch.baseAddress.map { unsafe vocabulary.copySample(payload, $0) } ?? 0
    return unsafe PackedRecord.write(
      entry.head, device: .empty, payload: UnsafeRawBufferPointer(rebasing: scratch[..<copied]), key: nil, in: arena)
  }
}
