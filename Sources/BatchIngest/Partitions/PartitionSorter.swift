import BatchFoundation

/// Sorts a bucket's packed records by device and drops duplicates; it keeps its memory from call to call.
@safe struct PartitionSorter: ~Copyable {
  private var keys: [RecordEntry] = []
  private var sorted: UnsafeMutableBufferPointer<RecordEntry> = .allocate(capacity: 1 << 12)
  /// The device of each key, as an index into ``devices``.
  private var owners: [UInt32] = []
  private var devices: [Device] = []
  private var slots: [UInt32] = []
  /// The number of duplicates found by the last call.
  private(set) var duplicates = 0
  /// The duplicates recognized by a `recordId`.
  private(set) var repeated: [RepeatedRecord] = []
  /// The identities of the bucket's records so far, for records that have one.
  private var identities: Set<LineDigest> = []
  /// The time of the last record that counted for each key of a `recordId`, if the next slice may have more of them.
  private var recordTimes: [UInt64: Int64] = [:]
  /// The record ids of earlier runs, and those of lines that these runs accepted without ids (``RecordIDs``).
  private var knownIDs: [LineDigest] = []
  /// The lines at the instants where a slice begins or ends, because adjacent slices may have equal lines there.
  private var shared: [Tie: Set<LineDigest>] = [:]

  /// The time and kind that equal lines share.
  private struct Tie: Hashable {
    var timestamp: Int64
    var kind: InputKind
  }

  private struct Device {
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
    _ chunks: [Chunk], in slice: Range<RecordPlace> = StoredBucket.whole,
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
    for chunk in chunks {
      unsafe chunk.forEachRecord { packed, head in
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
  private func devicesById() -> [Int] {
    // The first bytes distinguish most ids, and comparing them as a number takes less time.
    devices.indices.map { (first: Self.firstBytes(devices[$0].text), device: $0) }.sorted { one, other in
      one.first != other.first ? one.first < other.first : devices[one.device].text < devices[other.device].text
    }.map(\.device)
  }

  private static func firstBytes(_ text: Text) -> UInt64 {
    var number: UInt64 = 0
    for place in 0..<min(8, text.count) { number |= UInt64(text[place]) << UInt64(56 - 8 * place) }
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

  private mutating func dropKnown(
    _ known: [LineDigest], _ replaces: (_ device: Text, _ key: UInt64, Instant) throws -> Bool
  ) rethrows {
    guard !known.isEmpty else { return }
    var left = 0
    var ids: [LineDigest] = []
    try unsafe known.withUnsafeBufferPointer { known in
      for index in keys.indices {
        let record = keys[index]
        if unsafe Self.contains(known, record.digest) {
          if record.hasIdentity {
            guard let key = record.recordKey, isFirst(key, at: record.milliseconds),
              try replaces(devices[Int(owners[index])].text, key, record.timestamp)
            else { continue }
            record.mark(.replaces)
          } else {
            // If an earlier run read the line without a map, the store has no id for it.
            if let key = record.recordKey, isKnown(key, at: record.milliseconds) != .near {
              ids.append(RecordIDs.entry(key, at: record.milliseconds))
            }
            continue
          }
        }
        keys[left] = record
        owners[left] = owners[index]
        left += 1
      }
    }
    if !ids.isEmpty { knownIDs = (knownIDs + ids).sorted() }
    duplicates += keys.count - left
    keys.removeLast(keys.count - left)
    owners.removeLast(owners.count - left)
  }

  /// Returns whether the sorted digests contain a digest. The search interpolates, because digests are evenly
  /// distributed, and bisects after six guesses.
  static func contains(_ known: UnsafeBufferPointer<LineDigest>, _ digest: LineDigest) -> Bool {
    var low = 0
    var high = known.count - 1
    var guesses = 0
    while low <= high {
      let (bottom, top) = unsafe (known[low].high, known[high].high)
      if digest.high < bottom || digest.high > top { return false }
      var middle = low + (high - low) / 2
      if guesses < 6, top > bottom {
        let share = Double(digest.high - bottom) / Double(top - bottom)
        middle = low + min(high - low, Int(share * Double(high - low)))
      }
      guesses += 1
      if unsafe known[middle] == digest { return true }
      if unsafe known[middle] < digest { low = middle + 1 } else { high = middle - 1 }
    }
    return false
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

  /// Moves the records that are to be kept to the front, in order; returns their number.
  @inline(__always)
  private static func keep(
    _ own: UnsafeMutableBufferPointer<RecordEntry>, where isKept: (RecordEntry) -> Bool
  ) -> Int {
    var left = 0
    for index in own.indices where unsafe isKept(own[index]) {
      unsafe own[left] = own[index]
      left += 1
    }
    return left
  }

  /// Keeps the first of equal lines and returns how many are left at the front.
  ///
  /// Equal lines have equal device, time and kind. A line is therefore compared only with neighbors of the same time
  /// and kind and, at the limits of a slice, with lines of adjacent slices.
  private mutating func dropRepeated(
    _ own: UnsafeMutableBufferPointer<RecordEntry>, in slice: Range<RecordPlace>
  ) -> Int {
    let (opening, closing) = (slice.lowerBound.timestamp, slice.upperBound.timestamp)
    var left = 0
    var at = 0
    while at < own.count {
      let (time, kind) = unsafe (own[at].milliseconds, own[at].kind)
      var end = at + 1
      while end < own.count, unsafe own[end].milliseconds == time, unsafe own[end].kind == kind { end += 1 }
      let isShared = time == opening || time == closing
      let tie = Tie(timestamp: time, kind: kind)
      var seen = isShared ? shared.removeValue(forKey: tie) ?? [] : []
      for index in at..<end where unsafe end - at == 1 && !isShared || seen.insert(own[index].digest).inserted {
        unsafe own[left] = own[index]
        left += 1
      }
      if isShared { shared[tie] = seen }
      at = end
    }
    return left
  }

  /// Keeps the first of the records that have the same `recordId` within an hour, marks those farther apart with
  /// ``RecordNotes/isAgain``, and returns the number of records left at the front.
  private mutating func dropRepeatedIDs(_ own: UnsafeMutableBufferPointer<RecordEntry>, _ device: Text) -> Int {
    unsafe Self.keep(own) { record in
      guard !record.hasIdentity, let key = record.recordKey else { return true }
      let time = record.milliseconds
      let known = isKnown(key, at: time)
      let last = recordTimes[key]
      if known == .near || last.map({ time - $0 <= RecordIDs.span }) ?? false {
        repeated.append(RepeatedRecord(device: device, digest: record.digest, timestamp: record.timestamp))
        return false
      }
      if last != nil || known == .far { record.mark(.isAgain) }
      recordTimes[key] = time
      return true
    }
  }

  /// Returns whether earlier runs had records with the identity, all of them later than `time`.
  private func isFirst(_ key: UInt64, at time: Int64) -> Bool {
    let place = firstKnown(key)
    return place < knownIDs.count && knownIDs[place].high == key && time < Int64(bitPattern: knownIDs[place].low)
  }

  /// Returns the index of the id's earliest entry in ``knownIDs``, or the index where it would be inserted.
  private func firstKnown(_ key: UInt64) -> Int {
    knownIDs.place { $0.high < key }
  }

  private enum Knowledge {
    case none, far, near
  }

  /// Returns whether earlier runs had records with the id and, if so, whether any was within an hour of the time.
  private func isKnown(_ key: UInt64, at time: Int64) -> Knowledge {
    var knowledge = Knowledge.none
    for id in knownIDs[firstKnown(key)...].prefix(while: { $0.high == key }) {
      if abs(Int64(bitPattern: id.low) - time) <= RecordIDs.span { return .near }
      knowledge = .far
    }
    return knowledge
  }
}
