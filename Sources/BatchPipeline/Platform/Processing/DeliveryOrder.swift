package import BatchFoundation

/// Puts the events of a stretch in the order of delivery; it keeps its memory from one stretch to the next.
package struct DeliveryOrder: ~Copyable {
  private var times = RadixSort()

  /// Returns the indices of events in the order of delivery.
  ///
  /// It handles only indices, because a generic method that is not specialized across targets would cost more
  /// than the sort.
  ///
  /// - Parameters:
  ///   - timestamp: returns the time of the event at an index.
  ///   - precedes: orders the events at two indices with equal timestamps (reference formats 4.2).
  package mutating func places(_ count: Int, timestamp: (Int) -> Instant, precedes: (Int, Int) -> Bool) -> [Int] {
    times.removeAll()
    for place in 0..<count { times.add(timestamp(place).sortKey) }
    return times.order(precedes)
  }
}

extension Instant {
  /// A number with the order of instants.
  fileprivate var sortKey: UInt64 { UInt64(bitPattern: milliseconds) ^ 1 << 63 }
}
