import BatchFoundation
import BatchPlatform
import BatchReport
import BatchStore
import DeltaDNAEvents

/// Names of events, and when how many of each happened; its memory is kept from count to count.
struct EventNames: ~Copyable {
  private var names = StringTable()
  private var counts: [HourCounts] = []

  /// Counts an event by its name, whose memory has to live until the counts are taken.
  mutating func count(_ event: GameEvent) {
    let (name, isNew) = names.intern(event.name)
    let hour = event.timestamp.milliseconds / 3_600_000
    if isNew { counts.append(HourCounts(one: hour)) } else { counts[name].add(1, at: hour) }
  }

  mutating func takeCounts(into tally: inout DecisionTally) {
    for (place, hours) in counts.enumerated() {
      let name = unsafe ByteText(names.entries[place].text.description)
      tally.events.add(hours.total, to: name)
      tally.activity.events.add(hours, to: name)
    }
    names.removeAll()
    counts.removeAll(keepingCapacity: true)
  }
}
