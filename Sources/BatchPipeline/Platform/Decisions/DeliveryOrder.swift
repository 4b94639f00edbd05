package import BatchFoundation

/// The order of delivery of some events, found by small keys; their memory is kept from series to series.
///
/// It knows events by their places alone. A generic one would not be specialized across targets, where it is not public, and cost
/// more than the sorting.
package struct DeliveryOrder {
  private var keys: [Key] = []

  /// What events are sorted by, most of the time.
  private struct Key {
    var timestamp: Int64
    var place: Int
  }

  package init() {}

  /// Finds the order of events.
  ///
  /// - Parameters:
  ///   - count: how many there are.
  ///   - timestamp: of the event at a place.
  ///   - precedes: whether the event at one place comes before that at another, of those with equal timestamps
  ///     (reference formats 4.2).
  package mutating func find(_ count: Int, timestamp: (Int) -> Instant, precedes: (Int, Int) -> Bool) {
    keys.removeAll(keepingCapacity: true)
    for place in 0..<count { keys.append(Key(timestamp: timestamp(place).milliseconds, place: place)) }
    keys.sort { one, other in
      one.timestamp == other.timestamp ? precedes(one.place, other.place) : one.timestamp < other.timestamp
    }
  }

  /// The place of the event that is delivered after so many others.
  package func place(_ number: Int) -> Int { keys[number].place }

  /// The place of each event, the first to be delivered first.
  package func forEach(_ body: (Int) -> Void) {
    for key in keys { body(key.place) }
  }
}
