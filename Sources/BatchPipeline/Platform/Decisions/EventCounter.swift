package import BatchFoundation
import BatchReport

/// Counts the events of a decider by their type and hour, ahead of its tally.
///
/// Nearly all events of an export lie within some weeks: their hours have a place each, others are looked for.
package struct EventCounter: ~Copyable {
  private var types = NumberedNames()
  /// The hour (since 1970) of the first place; nil before the first event.
  private var firstHour: Int64?
  /// Of each type in turn, ``span`` hours.
  private var counts: [UInt32] = []
  /// Of each type, what lies outside them.
  private var others: [HourCounts] = []

  /// Twelve weeks: 8 KB for each type.
  private static let span = 2016

  package init() {}

  package mutating func count(_ type: Text, at instant: Instant) {
    let (number, isNew) = types.number(of: type)
    if isNew {
      others.append(HourCounts())
      counts += Array(repeating: 0, count: Self.span)
    }
    let hour = instant.hour
    let first = firstHour ?? hour - Int64(Self.span / 2)
    firstHour = first
    if hour >= first, hour - first < Self.span {
      counts[number * Self.span + Int(hour - first)] += 1
    } else {
      others[number].add(instant)
    }
  }

  /// Moves what was counted into the tally: at the end, and where there are too many types to keep.
  package mutating func takeCounts(into tally: inout DecisionTally, isLast: Bool) {
    guard isLast || types.count > NumberedNames.limit else { return }
    for number in others.indices {
      var hours = others[number]
      for place in 0..<Self.span where counts[number * Self.span + place] != 0 {
        hours.add(Int(counts[number * Self.span + place]), at: (firstHour ?? 0) + Int64(place))
      }
      tally.events.add(hours.total, to: types[number])
      tally.activity.events.add(hours, to: types[number])
    }
    types.removeAll()
    others.removeAll(keepingCapacity: true)
    counts.removeAll(keepingCapacity: true)
  }
}
