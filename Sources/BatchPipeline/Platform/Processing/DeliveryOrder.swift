package import BatchFoundation

/// Puts the events of a stretch in the order of delivery; it keeps its memory from one stretch to the next.
package struct DeliveryOrder: ~Copyable {
  private var order = RadixSort()

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
    order.removeAll()
    for place in 0..<count { order.add(timestamp(place).sortKey) }
    order.sort()
    let items = unsafe order.items
    var places = unsafe items.map(\.number)
    unsafe places.withUnsafeMutableBufferPointer { places in
      var start = 0
      while start + 1 < count {
        var end = start + 1
        while end < count, unsafe items[end].key == items[start].key { end += 1 }
        if end - start > 1 { unsafe Self.sort(&places, start..<end, precedes) }
        start = end
      }
    }
    return places
  }

  /// Sorts the events of one instant, which are usually few and nearly in order.
  private static func sort(
    _ places: inout UnsafeMutableBufferPointer<Int>, _ range: Range<Int>, _ precedes: (Int, Int) -> Bool
  ) {
    guard range.count <= 16 else { return unsafe places[range].sort(by: precedes) }
    for next in range.dropFirst() {
      var place = next
      while place > range.lowerBound, unsafe precedes(places[place], places[place - 1]) {
        unsafe places.swapAt(place, place - 1)
        place -= 1
      }
    }
  }
}

extension Instant {
  /// A number with the order of instants.
  fileprivate var sortKey: UInt64 { UInt64(bitPattern: milliseconds) ^ 1 << 63 }
}
