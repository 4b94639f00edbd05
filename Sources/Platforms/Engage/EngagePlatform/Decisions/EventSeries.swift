import BatchFoundation
import BatchStore
import EngageEvents

/// Events on their way into blocks; its memory is kept from series to series.
struct EventSeries: ~Copyable {
  /// In any order; their texts have to live until they are encoded.
  var events: [Event] = []
  private var sorted: [Event] = []
  private var keys: [Key] = []
  private var encoder: EventBlockEncoder

  /// What events are sorted by, most of the time.
  private struct Key {
    var timestamp: Int64
    var index: Int
  }

  init(limits: BlockLimits) { encoder = EventBlockEncoder(limits: limits) }

  /// Takes the events, in the order of delivery; nil if there are none.
  mutating func encode() -> EventBlocks? {
    guard !events.isEmpty else { return nil }
    order()
    let blocks = unsafe events.withUnsafeBufferPointer { unsafe encoder.encode($0) }
    events.removeAll(keepingCapacity: true)
    return blocks
  }

  /// Small keys are sorted, and each event is moved once.
  private mutating func order() {
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
