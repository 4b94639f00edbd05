import BatchFoundation

/// Drops duplicates: equal lines, and records with the same id or identity.
extension PartitionSorter {
  mutating func dropKnown(
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

  /// Moves the records that are to be kept to the front, in order; returns their number.
  @inline(__always)
  static func keep(
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
  mutating func dropRepeated(
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
  mutating func dropRepeatedIDs(_ own: UnsafeMutableBufferPointer<RecordEntry>, _ device: Text) -> Int {
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
