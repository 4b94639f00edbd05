package import BatchFoundation

/// An event that a series puts in the order of delivery.
package protocol OrderedEvent {
  var timestamp: Instant { get }
  /// The order of delivery; its first key is the timestamp (reference formats 4.2).
  static func precedes(_ one: Self, _ other: Self) -> Bool
}

/// Events on their way into blocks; its memory is kept from series to series.
package struct EventSeries<Event: OrderedEvent>: ~Copyable {
  /// In any order; their memory has to live until they are taken.
  package var events: [Event] = []
  @usableFromInline var sorted: [Event] = []
  @usableFromInline var keys: [Key] = []

  /// What events are sorted by, most of the time.
  @usableFromInline
  struct Key {
    @usableFromInline var timestamp: Int64
    @usableFromInline var index: Int

    @inlinable
    init(timestamp: Int64, index: Int) {
      self.timestamp = timestamp
      self.index = index
    }
  }

  @inlinable
  package init() {}

  /// Takes the events, in the order of delivery; nil if there are none.
  @inlinable
  package mutating func take<Blocks>(_ encode: (UnsafeBufferPointer<Event>) -> Blocks) -> Blocks? {
    guard !events.isEmpty else { return nil }
    order()
    let blocks = unsafe events.withUnsafeBufferPointer { unsafe encode($0) }
    events.removeAll(keepingCapacity: true)
    return blocks
  }

  /// Small keys are sorted, and each event is moved once.
  @inlinable
  mutating func order() {
    keys.removeAll(keepingCapacity: true)
    for (index, event) in events.enumerated() {
      keys.append(Key(timestamp: event.timestamp.milliseconds, index: index))
    }
    unsafe events.withUnsafeBufferPointer { events in
      keys.sort { one, other in
        if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
        return unsafe Event.precedes(events[one.index], events[other.index])
      }
    }
    sorted.removeAll(keepingCapacity: true)
    for key in keys { sorted.append(events[key.index]) }
    swap(&events, &sorted)
  }
}
