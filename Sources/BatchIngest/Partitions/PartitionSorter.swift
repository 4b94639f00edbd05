import BatchFoundation

/// Sorts a bucket's packed records by device and drops duplicates; it keeps its memory from call to call.
@safe struct PartitionSorter: ~Copyable {
  var keys: [RecordEntry] = []
  private var sorted: UnsafeMutableBufferPointer<RecordEntry> = .allocate(capacity: 1 << 12)
  /// The device of each key, as an index into ``devices``.
  var owners: [UInt32] = []
  var devices: [Device] = []
  private var slots: [UInt32] = []
  private var ids = RadixSort()
  /// The number of duplicates found by the last call.
  var duplicates = 0
  /// The duplicates recognized by a `recordId`.
  var repeated: [RepeatedRecord] = []
  /// The identities of the bucket's records so far, for records that have one.
  var identities: Set<LineDigest> = []
  /// The time of the last record that counted for each key of a `recordId`, if the next slice may have more of them.
  var recordTimes: [UInt64: Int64] = [:]
  /// The record ids of earlier runs, and those of lines that these runs accepted without ids (``RecordIDs``).
  var knownIDs: [LineDigest] = []
  /// The lines at the instants where a slice begins or ends, because adjacent slices may have equal lines there.
  var shared: [Tie: Set<LineDigest>] = [:]

  /// The time and kind that equal lines share.
  struct Tie: Hashable {
    var timestamp: Int64
    var kind: InputKind
  }

  struct Device {
    var text: Text
    var hash: DeviceHash
    var count: Int
    var start: Int
  }

  deinit { unsafe sorted.deallocate() }

  /// Discards what is known about the previous bucket. All slices of the next bucket must then follow in order.
  mutating func beginBucket() {
    identities.removeAll(keepingCapacity: true)
    recordTimes = [:]
    shared = [:]
  }

  /// - Parameters:
  ///   - slice: the places of the records that count; others are skipped.
  ///   - known: returns, in ascending order and for the times of the spans, digests of lines that earlier runs accepted
  ///     or, if `areIDs`, ids of records.
  ///   - replaces: returns whether a record replaces a later one with the same identity that an earlier run accepted.
  /// - Returns: the devices that have records left, sorted by id; valid until the next call.
  mutating func sort(
    _ buffers: [PackedRecords], in slice: Range<RecordPlace> = StoredBucket.whole,
    known: (_ areIDs: Bool, [ClosedRange<Instant>]) throws -> [LineDigest],
    replaces: (_ device: Text, _ key: UInt64, Instant) throws -> Bool
  ) rethrows -> [DeviceRecords] {
    duplicates = 0
    repeated = []
    keys.removeAll(keepingCapacity: true)
    owners.removeAll(keepingCapacity: true)
    devices.removeAll(keepingCapacity: true)
    slots = Array(repeating: 0, count: max(slots.count, 1 << 8))
    var days = DaySpans()
    var hasIdentities = false
    var hasRecordKeys = false
    for buffer in buffers {
      unsafe buffer.forEachRecord { packed, head in
        guard slice.contains(head.place) else { return }
        days.add(head.timestamp)
        if head.hasIdentity { hasIdentities = true }
        if head.notes.contains(.hasRecordKey) { hasRecordKeys = true }
        unsafe keys.append(RecordEntry(milliseconds: head.timestamp, packed: packed))
        unsafe owners.append(device(head.device, packed))
      }
    }
    guard !keys.isEmpty else { return [] }
    defer { shared = shared.filter { $0.key.timestamp == slice.upperBound.timestamp } }
    // Another record with the same identity may have any time.
    let ever = [Instant(milliseconds: 0)...Instant.last]
    if hasRecordKeys {
      knownIDs = try known(
        true,
        hasIdentities
          ? ever
          : days.spans.map {
            let (first, last) = ($0.lowerBound.milliseconds, $0.upperBound.milliseconds)
            return Instant(milliseconds: first - RecordIDs.span)...Instant(milliseconds: last + RecordIDs.span)
          })
    }
    try dropKnown(try known(false, hasIdentities ? ever : days.spans), replaces)
    defer {
      knownIDs = []
      let end = slice.upperBound.timestamp
      if !recordTimes.isEmpty { recordTimes = recordTimes.filter { end - $0.value <= RecordIDs.span } }
    }
    scatter()
    return devicesById().compactMap {
      order($0, in: slice, hasIdentities: hasIdentities, hasRecordKeys: hasRecordKeys)
    }
  }

  /// Returns the indices of the devices in the order of the bytes of their ids.
  private mutating func devicesById() -> [Int] {
    // The first bytes distinguish most ids.
    ids.removeAll()
    for device in devices { ids.add(Self.firstBytes(device.text)) }
    return ids.order { devices[$0].text < devices[$1].text }
  }

  private static func firstBytes(_ text: Text) -> UInt64 {
    if text.count >= 8 { return unsafe UInt64(bigEndian: UnsafeRawPointer(text.base).loadUnaligned(as: UInt64.self)) }
    var number: UInt64 = 0
    for place in 0..<text.count { number |= UInt64(text[place]) << UInt64(56 - 8 * place) }
    return number
  }

  /// Returns the index of the device of a packed record; different ids with equal hashes are distinguished.
  private mutating func device(_ hash: DeviceHash, _ packed: UnsafeRawPointer) -> UInt32 {
    if devices.count * 2 >= slots.count { growSlots() }
    let mask = slots.count - 1
    let text = unsafe PackedRecord.device(of: packed)
    var slot = Int(truncatingIfNeeded: hash.value) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if devices[index].hash == hash, devices[index].text == text { return UInt32(index) }
      slot = (slot + 1) & mask
    }
    devices.append(Device(text: text, hash: hash, count: 0, start: 0))
    slots[slot] = UInt32(devices.count)
    return UInt32(devices.count - 1)
  }

  private mutating func growSlots() {
    slots = Array(repeating: 0, count: slots.count * 4)
    let mask = slots.count - 1
    for index in devices.indices {
      var slot = Int(truncatingIfNeeded: devices[index].hash.value) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(index + 1)
    }
  }

  /// Groups the keys by device, keeping their order.
  private mutating func scatter() {
    if unsafe sorted.count < keys.count {
      unsafe sorted.deallocate()
      unsafe sorted = .allocate(capacity: keys.count * 5 / 4)
    }
    for owner in owners { devices[Int(owner)].count += 1 }
    var start = 0
    for index in devices.indices {
      devices[index].start = start
      start += devices[index].count
      devices[index].count = 0
    }
    for (key, owner) in zip(keys, owners) {
      let index = Int(owner)
      unsafe sorted.initializeElement(at: devices[index].start + devices[index].count, to: key)
      devices[index].count += 1
    }
  }

  private mutating func order(
    _ index: Int, in slice: Range<RecordPlace>, hasIdentities: Bool, hasRecordKeys: Bool
  ) -> DeviceRecords? {
    let device = devices[index]
    guard device.count > 0 else { return nil }
    var own = unsafe UnsafeMutableBufferPointer(rebasing: sorted[device.start..<device.start + device.count])
    var isSorted = true
    for place in 1..<max(1, own.count) where unsafe RecordEntry.precedes(own[place], own[place - 1]) {
      isSorted = false
      break
    }
    if !isSorted { unsafe own.sort(by: RecordEntry.precedes) }
    let count = own.count
    if hasRecordKeys {
      // A key belongs to one device, so only the slices of a bucket need the keys of earlier calls.
      if slice == StoredBucket.whole, recordTimes.count > 1 << 12 { recordTimes = [:] }
      let left = unsafe dropRepeatedIDs(own, device.text)
      unsafe own = UnsafeMutableBufferPointer(rebasing: own[..<left])
    }
    var left = unsafe dropRepeated(own, in: slice)
    if hasIdentities {
      // The first record with each identity counts, regardless of the times.
      left = unsafe Self.keep(UnsafeMutableBufferPointer(rebasing: own[..<left])) {
        !$0.hasIdentity || identities.insert($0.digest).inserted
      }
    }
    duplicates += count - left
    if left == 0 { return nil }
    return unsafe DeviceRecords(
      device: device.text, hash: device.hash, records: RecordList(keys: UnsafeBufferPointer(rebasing: own[..<left])))
  }
}
