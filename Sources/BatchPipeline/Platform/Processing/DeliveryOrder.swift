package import BatchFoundation

/// Puts the events of a stretch in the order of delivery; it keeps its memory from one stretch to the next.
package struct DeliveryOrder {
  private var keys: [UInt64] = []

  package init() {}

  /// Returns the indices of events in the order of delivery.
  ///
  /// It handles only indices, because a generic method that is not specialized across targets would cost more
  /// than the sort.
  ///
  /// - Parameters:
  ///   - timestamp: returns the time of the event at an index.
  ///   - precedes: orders the events at two indices with equal timestamps (reference formats 4.2).
  package mutating func places(_ count: Int, timestamp: (Int) -> Instant, precedes: (Int, Int) -> Bool) -> [Int] {
    var (first, last) = (Int64.max, Int64.min)
    for place in 0..<count {
      let time = timestamp(place).milliseconds
      (first, last) = (min(first, time), max(last, time))
    }
    let placeBits = UInt64(UInt.bitWidth - count.leadingZeroBitCount)
    guard count > 0, UInt64(last - first) >> (64 - placeBits) == 0 else {
      return (0..<count).sorted {
        let (one, other) = (timestamp($0), timestamp($1))
        return one == other ? precedes($0, $1) : one < other
      }
    }
    // Numbers that begin with the time and end with the index sort in half the time.
    keys.removeAll(keepingCapacity: true)
    for place in 0..<count {
      keys.append(UInt64(timestamp(place).milliseconds - first) << placeBits | UInt64(place))
    }
    keys.sort()
    var places = keys.map { Int($0 & (1 << placeBits - 1)) }
    unsafe places.withUnsafeMutableBufferPointer { places in
      var start = 0
      for end in 1...count where end == count || keys[end] >> placeBits != keys[start] >> placeBits {
        if end - start > 1 { unsafe places[start..<end].sort(by: precedes) }
        start = end
      }
    }
    return places
  }
}
