package import BatchFoundation

/// The devices in an input that has been read, before any of them is passed on.
///
/// Devices are assigned to buckets by a hash of their ids, so a few buckets represent all of them.
package struct InputPreview {
  let space: BucketSpace
  /// Whether worker 0 processes everything (``IngestOptions/smallInput``).
  package let isSmall: Bool
  /// The number of records, accepted or duplicate, in each file; empty if they are not counted.
  package let recordsByFile: [Int]
  /// The counts of lines so far; the lines not counted yet will be accepted or duplicates.
  package let counts: IngestCounts
  let known: (_ bucket: Int, _ spans: [ClosedRange<Instant>]) throws -> [LineDigest]

  /// A device with lines that no earlier run accepted.
  package struct Device {
    package var device: Text
    /// The latest time of these lines.
    package var newest: Instant
  }

  /// The devices of one bucket, in no particular order, and the number of records examined.
  package struct Bucket {
    package var number: Int
    package var devices: [Device]
    package var records: Int
  }

  /// Passes on one bucket after another, including those without records, until `body` returns false; does nothing if
  /// there are no records at all. Texts are valid only during the call of `body`.
  ///
  /// - Throws: ``IngestFailure``, what the look-up of accepted lines throws, or what `body` throws.
  package func forEachBucket(_ body: (Bucket) throws -> Bool) throws {
    let arena = Arena()
    guard space.hasRecords else { return }
    for number in 0..<DeviceHash.bucketCount {
      defer { arena.reset() }
      let bucket =
        try space.look(at: number).map { try devices(of: $0, number, arena) }
        ?? Bucket(number: number, devices: [], records: 0)
      guard try body(bucket) else { return }
    }
  }

  private func devices(of stored: StoredBucket, _ number: Int, _ arena: Arena) throws -> Bucket {
    func forEachBuffer(_ body: (PackedRecords) -> Void) throws {
      stored.buffers.forEach(body)
      for extent in stored.extents {
        let loaded = try space.load(extent)
        loaded.forEach(body)
        space.release(loaded)
      }
    }
    var days = DaySpans()
    try forEachBuffer { buffer in unsafe buffer.forEachRecord { _, head in days.add(head.timestamp) } }
    var bucket = Scan(known: try known(number, days.spans), arena: arena)
    try forEachBuffer { bucket.add($0) }
    return Bucket(number: number, devices: bucket.devices, records: bucket.records)
  }

  private struct Scan {
    let known: [LineDigest]
    let arena: Arena
    var devices: [Device] = []
    var records = 0
    /// Indices into ``devices``. Different ids with equal hashes count as one device; they are very rare.
    var places: [DeviceHash: Int] = [:]

    mutating func add(_ buffer: PackedRecords) {
      unsafe buffer.forEachRecord { packed, head in
        records += 1
        if unsafe known.withUnsafeBufferPointer({ unsafe PartitionSorter.contains($0, head.digest) }) { return }
        let instant = Instant(milliseconds: head.timestamp)
        if let place = places[head.device] {
          devices[place].newest = max(devices[place].newest, instant)
        } else {
          places[head.device] = devices.count
          unsafe devices.append(Device(device: arena.copy(PackedRecord.device(of: packed).bytes), newest: instant))
        }
      }
    }
  }
}
