package import BatchFoundation

/// The order of delivery of some events, found by small keys; it keeps its memory from series to series.
///
/// It knows only places: a generic type, not specialized across targets, would cost more than the sorting.
package struct DeliveryOrder {
  private var keys: [Key] = []

  private struct Key {
    var timestamp: Int64
    var place: Int
  }

  package init() {}

  /// Finds the order of events.
  ///
  /// - Parameters:
  ///   - timestamp: returns the time of the event at a place.
  ///   - precedes: orders the events at two places with equal timestamps (reference formats 4.2).
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
