package import BatchFoundation

/// Counts by hour (UTC), in one array from the first hour to the last.
package struct HourCounts: Tallied {
  /// Hours since 1970 of the first place.
  package private(set) var first: Int64 = 0
  package private(set) var counts: [Int] = []
  /// Counts of hours too far from the others: a clock that was years off must not fill the memory.
  package private(set) var elsewhere = 0

  /// Three years.
  private static let limit = 3 * 366 * 24

  package init() {}

  package init(one hour: Int64) { add(1, at: hour) }

  package var total: Int { counts.reduce(elsewhere, +) }

  /// The same by day (UTC), and the first day; nil and none without counts.
  package var days: (first: Instant?, counts: [Int]) {
    guard !counts.isEmpty else { return (nil, []) }
    let day = first / 24
    var sums = [Int](repeating: 0, count: Int((first + Int64(counts.count) - 1) / 24 - day) + 1)
    for (place, count) in counts.enumerated() { sums[Int((first + Int64(place)) / 24 - day)] += count }
    return (Instant(milliseconds: day * 86_400_000), sums)
  }

  /// Nil for none.
  package var last: Int64? { counts.isEmpty ? nil : first + Int64(counts.count) - 1 }

  package mutating func add(_ instant: Instant) { add(1, at: instant.milliseconds / 3_600_000) }

  package mutating func add(_ count: Int, at hour: Int64) {
    let place = hour - first
    if place >= 0, place < Int64(counts.count) {
      counts[Int(place)] += count
    } else {
      extend(to: hour, count)
    }
  }

  private mutating func extend(to hour: Int64, _ count: Int) {
    if counts.isEmpty {
      first = hour
      counts = [count]
      return
    }
    let span = max(hour - first, first + Int64(counts.count) - 1 - hour) + 1
    guard span <= Int64(Self.limit) else {
      elsewhere += count
      return
    }
    if hour < first {
      counts.insert(contentsOf: [Int](repeating: 0, count: Int(first - hour)), at: 0)
      first = hour
      counts[0] = count
    } else {
      counts += [Int](repeating: 0, count: Int(hour - first) - counts.count + 1)
      counts[Int(hour - first)] = count
    }
  }

  package static func += (total: inout HourCounts, part: HourCounts) {
    for (place, count) in part.counts.enumerated() where count > 0 { total.add(count, at: part.first + Int64(place)) }
    total.elsewhere += part.elsewhere
  }
}
