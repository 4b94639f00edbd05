package import BatchFoundation

/// The order of delivery of some events, found by small keys; it keeps its memory from series to series.
///
/// It knows events only by their places. A generic type would not be specialized across targets, as it is not public,
/// and would cost more than the sorting.
package struct DeliveryOrder {
  private var keys: [Key] = []

  /// The sort key of an event, mostly sufficient.
  private struct Key {
    var timestamp: Int64
    var place: Int
  }

  package init() {}

  /// Finds the order of events.
  ///
  /// - Parameters:
  ///   - count: the number of events.
  ///   - timestamp: returns the time of the event at a place.
  ///   - precedes: returns whether the event at one place comes before that at another, if their timestamps are equal
  ///     (reference formats 4.2).
  package mutating func find(_ count: Int, timestamp: (Int) -> Instant, precedes: (Int, Int) -> Bool) {
    keys.removeAll(keepingCapacity: true)
    for place in 0..<count { keys.append(Key(timestamp: timestamp(place).milliseconds, place: place)) }
    keys.sort { one, other in
      one.timestamp == other.timestamp ? precedes(one.place, other.place) : one.timestamp < other.timestamp
    }
  }

  /// Returns the place of the event with this number in the order, from 0.
  package func place(_ number: Int) -> Int { keys[number].place }

  /// Passes on the place of each event in the order of delivery.
  package func forEach(_ body: (Int) -> Void) {
    for key in keys { body(key.place) }
  }
}
