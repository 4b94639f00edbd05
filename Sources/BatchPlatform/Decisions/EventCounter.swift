package import BatchFoundation
import BatchReport

/// Counts the events of a decider by their type and hour, ahead of its tally.
package struct EventCounter: ~Copyable {
  private var types = NumberedNames()
  private var hours: [HourCounts] = []

  package init() {}

  package mutating func count(_ type: Text, at instant: Instant) {
    let (number, isNew) = types.number(of: type)
    if isNew { hours.append(HourCounts()) }
    hours[number].add(instant)
  }

  /// Moves what was counted into the tally: at the end, and where there are too many types to keep.
  package mutating func takeCounts(into tally: inout DecisionTally, isLast: Bool) {
    guard isLast || types.count > NumberedNames.limit else { return }
    for (number, hours) in hours.enumerated() {
      tally.events.add(hours.total, to: types[number])
      tally.activity.events.add(hours, to: types[number])
    }
    types.removeAll()
    hours.removeAll(keepingCapacity: true)
  }
}
