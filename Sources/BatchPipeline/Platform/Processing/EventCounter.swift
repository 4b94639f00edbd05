package import BatchFoundation
import BatchReport
import BatchStore

/// The counts of a decider's events by type and hour, before they are added to its tally.
///
/// Nearly all events in an export are within a few weeks, so the hours of these weeks have fixed places, and
/// the others are looked up.
package struct EventCounter: ~Copyable {
  private var types = NumberedNames()
  /// The first hour with a fixed place, in hours since 1970; nil before the first event.
  private var firstHour: Int64?
  /// The counts for ``span`` hours of each type, one type after another.
  private var counts: [UInt32] = []
  /// The counts outside the hours with fixed places, by type.
  private var others: [HourCounts] = []

  /// The number of hours with fixed places: twelve weeks, 8 KB for each type.
  private static let span = 2016

  /// Returns the number of a type, which is valid until ``takeCounts(into:isLast:)``.
  package mutating func number(of type: Text) -> Int {
    let (number, isNew) = types.number(of: type)
    if isNew {
      others.append(HourCounts())
      counts += Array(repeating: 0, count: Self.span)
    }
    return number
  }

  package mutating func count(_ number: Int, at instant: Instant) {
    let hour = instant.hour
    let first = firstHour ?? hour - Int64(Self.span / 2)
    firstHour = first
    if hour >= first, hour - first < Self.span {
      counts[number * Self.span + Int(hour - first)] += 1
    } else {
      others[number].add(instant)
    }
  }

  /// Moves the counts into the tally: at the end, or if there are too many types to keep.
  package mutating func takeCounts(into tally: inout ProcessingTally, isLast: Bool) {
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

/// A table of numbered names that is fast enough for a look-up per event; a `NameTable` only receives sums.
@safe package struct NumberedNames: ~Copyable {
  private var table = StringTable(capacity: 64)
  private let memory = Arena(blockSize: 16 << 10)

  package init() {}

  package var count: Int { table.count }

  /// The maximum number of names kept from one stretch to the next, because each event in an export may have a
  /// different name.
  package static let limit = 256

  /// Returns the number of the name, and whether this is its first use.
  package mutating func number(of name: Text) -> (number: Int, isNew: Bool) {
    let (number, isNew) = table.intern(name)
    if isNew { unsafe (table.entries + number).pointee.text = memory.copy(name.bytes) }
    return (number, isNew)
  }

  package subscript(number: Int) -> ByteText { unsafe ByteText(table.entries[number].text.description) }

  package mutating func removeAll() {
    table.removeAll()
    memory.reset()
  }
}
