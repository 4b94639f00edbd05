import BatchFoundation
import BatchPlatform
import BatchStore
import DeltaDNAEvents

/// Names of events, and how many there are of each; its memory is kept from count to count.
struct EventNames: ~Copyable {
  private var names = StringTable()
  private var counts: [Int] = []

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
}
