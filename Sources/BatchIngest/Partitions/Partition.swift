package import BatchFoundation

/// The accepted records of the devices of one bucket, each device's in order (reference formats 3.8).
///
/// A bucket that is too large for memory comes in several partitions, one after the other: slices of the order. All text and views live
/// until the callback that was given the partition returns.
package struct Partition {
  /// 0 to `DeviceHash/bucketCount`, exclusive: `DeviceHash/bucket` of every device in it.
  package let bucket: Int
  /// Which thread calls, from 0: two partitions of one worker never overlap in time, and all slices of a bucket have one worker.
  package let worker: Int
  /// By the bytes of the device id; none, perhaps, in a last slice.
  package var devices: [DeviceRecords]
  /// What later slices will bring; nil when there are none and the partition is the whole bucket.
  package var lookaheads: DeviceLookaheads?
  /// Whether no partition of this bucket follows.
  package var isLast = true
  package var repeated: [RepeatedRecord] = []

  package var recordCount: Int { devices.reduce(0) { $0 + $1.records.count } }
}

/// Accepted records of one device in the order of (timestamp, input kind, file, line).
package struct DeviceRecords {
  package let device: Text
  package let hash: DeviceHash
  package let records: RecordList
}

/// A line that was one record with another by its `recordId`, and that later runs know as read.
package struct RepeatedRecord {
  package let device: Text
  package let digest: LineDigest
  package let timestamp: Instant
}

/// Records in order, still packed.
@safe package struct RecordList: RandomAccessCollection {
  let keys: UnsafeBufferPointer<RecordKey>

  package var startIndex: Int { 0 }
  package var endIndex: Int { unsafe keys.count }

  /// Reads a little of each record, so that all are on their way into the processor's cache at once: in a large partition they lie
  /// far apart, and one by one each would be waited for.
  ///
  /// - Returns: something that depends on all that was read.
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

  package subscript(index: Int) -> RecordEntry { unsafe RecordEntry(key: keys[index]) }

  /// Some of the records, in their memory.
  package func list(_ range: Range<Int>) -> RecordList {
    unsafe RecordList(keys: UnsafeBufferPointer(rebasing: keys[range]))
  }

  /// The place of the first record from the instant on; those at the instant itself that are of an earlier kind are before it.
  package func place(from instant: Instant, _ kind: InputKind = .events) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      let key = unsafe keys[middle]
      let isBefore = key.timestamp == instant.milliseconds ? key.kind < kind : key.timestamp < instant.milliseconds
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// One accepted record.
package struct RecordEntry {
  let key: RecordKey

  package var device: Text { unsafe PackedRecord.device(of: key.packed) }

  package var timestamp: Instant { Instant(milliseconds: key.timestamp) }

  /// In the platform's numbering.
  package var type: UInt8 { key.head.type }

  package var isSample: Bool { key.head.isSample }

  /// Of a record that only another platform uses; 0 for all others.
  package var ignoredType: UInt8 { key.head.ignoredType }

  package var kind: InputKind { key.kind }

  package var notes: RecordNotes { key.head.notes }

  /// By what later runs know the record's `recordId`; nil for a record without one that a map read.
  package var recordKey: UInt64? {
    notes.contains(.hasRecordKey) ? unsafe PackedRecord.recordKey(of: key.packed) : nil
  }

  /// By what its identity is known; nil for a record without one.
  package var identityKey: UInt64? { key.hasIdentity ? recordKey : nil }

  package var position: RecordPosition { RecordPosition(file: key.head.file, line: key.head.line) }

  /// Bytes that the record takes in memory.
  package var byteCount: Int { key.byteCount }

  /// What a later run knows the line by.
  package var digest: LineDigest { key.digest }

  /// What the platform's decoder wrote, and up to fifteen bytes more; lives as long as the partition.
  package var payload: UnsafeRawBufferPointer { unsafe PackedRecord.payload(of: key.packed) }
}

/// What records are put in order by.
@safe struct RecordKey {
  var timestamp: Int64
  var packed: UnsafeRawPointer

  var digest: LineDigest { head.digest }

  var byteCount: Int { Int(head.size) }

  var kind: InputKind { head.kind }

  var hasIdentity: Bool { head.hasIdentity }

  /// Of a `recordId` that a map read; nil for none.
  var recordKey: UInt64? { head.notes.contains(.hasRecordKey) ? unsafe PackedRecord.recordKey(of: packed) : nil }

  /// Notes it in the record, whose memory is that of a chunk.
  func mark(_ note: RecordNotes) {
    unsafe UnsafeMutableRawPointer(mutating: packed).assumingMemoryBound(to: PackedHead.self).pointee.notes.insert(note)
  }

  var head: PackedHead { unsafe packed.assumingMemoryBound(to: PackedHead.self).pointee }

  @inline(__always)
  static func precedes(_ one: RecordKey, _ other: RecordKey) -> Bool {
    one.timestamp != other.timestamp ? one.timestamp < other.timestamp : precedesInTie(one, other)
  }

  /// Kind, file and line decide among records of one millisecond; they are rare enough to be looked up.
  private static func precedesInTie(_ one: RecordKey, _ other: RecordKey) -> Bool {
    one.head.place < other.head.place
  }
}
