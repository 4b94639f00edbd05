package import BatchFoundation

/// Counts over time in at most ``limit`` steps of equal length, which are as short as possible.
///
/// Steps are 1, 2, 4 or 8 hours, a day, a week, or a week doubled repeatedly. Each step begins where a shorter one
/// does, so the result does not depend on the order of counts.
package struct TimeCounts: Sendable, Equatable {
  /// The length of a step in hours.
  package private(set) var width: Int64 = 1
  package private(set) var counts: [Int] = []
  private var first: Int64 = 0

  package static let limit = 48
  /// The hours from a Monday to the start of 1970, a Thursday, because steps of weeks begin on a Monday.
  private static let monday: Int64 = 72

  package init() {}

  package var total: Int { counts.reduce(0, +) }

  /// The hours since 1970 from the first step's start to the last one's end; nil without counts.
  package var hours: Range<Int64>? {
    counts.isEmpty ? nil : hour(0)..<hour(counts.count)
  }

  /// Returns the start of a step in hours since 1970.
  package func hour(_ place: Int) -> Int64 { (first + Int64(place)) * width - Self.monday }

  package mutating func add(_ instant: Instant) { add(1, at: instant.hour) }

  package mutating func add(_ count: Int, at hour: Int64) {
    var step = (hour + Self.monday).flooredQuotient(width)
    if counts.isEmpty {
      first = step
      counts = [count]
      return
    }
    while max(step, first + Int64(counts.count) - 1) - min(step, first) >= Int64(Self.limit) {
      widen()
      step = (hour + Self.monday).flooredQuotient(width)
    }
    if step < first {
      counts.insert(contentsOf: [Int](repeating: 0, count: Int(first - step)), at: 0)
      first = step
    } else if step >= first + Int64(counts.count) {
      counts += [Int](repeating: 0, count: Int(step - first) - counts.count + 1)
    }
    counts[Int(step - first)] += count
  }

  package static func += (total: inout TimeCounts, part: TimeCounts) { total.add(part, 1) }

  /// Subtracts counts. A count that was not added here becomes negative. The steps keep their length.
  package static func -= (total: inout TimeCounts, part: TimeCounts) { total.add(part, -1) }

  private mutating func add(_ part: TimeCounts, _ sign: Int) {
    while width < part.width { widen() }
    for (place, count) in part.counts.enumerated() where count != 0 { add(sign * count, at: part.hour(place)) }
    counts.removeLast(counts.reversed().prefix { $0 == 0 }.count)
    let empty = counts.prefix { $0 == 0 }.count
    counts.removeFirst(empty)
    first += Int64(empty)
    if counts.isEmpty { self = TimeCounts() }
  }

  /// Returns the counts in steps of at least this many hours.
  package func coarsened(to hours: Int64) -> TimeCounts {
    var counts = self
    while counts.width < hours { counts.widen() }
    return counts
  }

  private mutating func widen() {
    let wider = width == 8 ? 24 : width == 24 ? 168 : 2 * width
    let factor = wider / width
    let start = first.flooredQuotient(factor)
    var sums: [Int] = []
    for (place, count) in counts.enumerated() {
      let step = Int((first + Int64(place)).flooredQuotient(factor) - start)
      if step == sums.count { sums.append(0) }
      sums[step] += count
    }
    (first, counts, width) = (start, sums, wider)
  }
}

/// Encoded as one string, because numbers cost more to write and read individually.
extension TimeCounts: Codable {
  package init(from decoder: any Decoder) throws {
    let numbers = try NumberLine(from: decoder).numbers
    guard numbers.count >= 2 else { throw NumberLine.wrong(decoder, "the hours of a step, the first step and counts") }
    (width, first) = (numbers[0], numbers[1])
    counts = numbers.dropFirst(2).map { Int($0) }
  }

  package func encode(to encoder: any Encoder) throws {
    try NumberLine(numbers: [width, first] + counts.map { Int64($0) }).encode(to: encoder)
  }
}
