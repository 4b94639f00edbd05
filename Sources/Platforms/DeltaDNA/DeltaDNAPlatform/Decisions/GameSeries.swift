import BatchFoundation
import BatchPlatform
import BatchStore
import DeltaDNAEvents

/// Events on their way into blocks; its memory is kept from series to series.
struct GameSeries: ~Copyable {
  /// In any order; their memory has to live until they are encoded.
  var events: [GameEvent] = []
  private var sorted: [GameEvent] = []
  private var keys: [Key] = []
  /// Names of events, and how many there are of each.
  private var names = StringTable()
  private var counts: [Int] = []
  private var encoder: GameBlockEncoder

  /// What events are sorted by, most of the time.
  private struct Key {
    var timestamp: Int64
    var index: Int
  }

  init(limits: BlockLimits) { encoder = GameBlockEncoder(limits: limits) }

  /// Counts an event by its name, whose memory has to live until the counts are taken.
  mutating func count(_ event: GameEvent) {
    let (name, isNew) = names.intern(event.name)
    if isNew { counts.append(1) } else { counts[name] += 1 }
  }

  mutating func takeCounts(into tally: inout DecisionTally) {
    for (name, count) in counts.enumerated() {
      unsafe tally.events[ByteText(names.entries[name].text.description), default: 0] += count
    }
    names.removeAll()
    counts.removeAll(keepingCapacity: true)
  }

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
        return unsafe GameEvent.precedes(events[one.index], events[other.index])
      }
    }
    sorted.removeAll(keepingCapacity: true)
    for key in keys { sorted.append(events[key.index]) }
    swap(&events, &sorted)
  }
}
