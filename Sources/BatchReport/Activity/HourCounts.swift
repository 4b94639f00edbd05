package import BatchFoundation

/// Counts by hour (UTC) for the days that have any.
///
/// If there are too many days, the latest are kept. A day kept at the end was among the latest ever since its first
/// count, regardless of the order of counts. So its counts are complete, and the result does not depend on the order in
/// which threads count.
package struct HourCounts: Tallied {
  fileprivate struct Day: Sendable {
    /// Days since 1970.
    let number: Int64
    var hours = InlineArray<24, Int>(repeating: 0)

    var total: Int {
      var sum = 0
      for hour in 0..<24 { sum += hours[hour] }
      return sum
    }
  }

  /// The days with counts, in order.
  private var days: [Day] = []
  /// The sum of the counts of earlier days, which are not kept, so that clocks that are years off cannot exhaust
  /// memory.
  private var earlier = 0

  /// The maximum number of days kept: three years, and the days of a few wrong clocks.
  private static let mostDays = 3 * 366 + 30
  /// The maximum number of days in ``span``.
  private static let longestSpan: Int64 = 3 * 366

  package init() {}

  package var total: Int { days.reduce(earlier) { $0 + $1.total } }

  package mutating func add(_ instant: Instant) { add(1, at: instant.hour) }

  /// - Parameter hour: Hours since 1970.
  package mutating func add(_ count: Int, at hour: Int64) {
    let number = hour.flooredQuotient(24)
    let place = place(of: number)
    days[place].hours[Int(hour - number * 24)] += count
    dropEarlier()
  }

  /// Calls `body` for every hour with counts (since 1970), in order.
  package func forEach(_ body: (_ hour: Int64, _ count: Int) throws -> Void) rethrows {
    for day in days {
      for hour in 0..<24 where day.hours[hour] != 0 { try body(day.number * 24 + Int64(hour), day.hours[hour]) }
    }
  }

  /// The first and last hour of the busiest period of at most three years; nil without counts. Of equally busy periods,
  /// the latest one is used. This keeps a clock that was years off from squeezing the rest of a chart.
  package var span: ClosedRange<Int64>? {
    var best: (count: Int, days: Range<Int>)?
    var (first, sum) = (0, 0)
    for (last, day) in days.enumerated() {
      sum += day.total
      while days[first].number + Self.longestSpan <= day.number {
        sum -= days[first].total
        first += 1
      }
      if sum >= best?.count ?? 0 { best = (sum, first..<last + 1) }
    }
    guard let best else { return nil }
    let (from, to) = (days[best.days.lowerBound], days[best.days.upperBound - 1])
    let (early, late) = ((0..<24).first { from.hours[$0] != 0 }, (0..<24).last { to.hours[$0] != 0 })
    return from.number * 24 + Int64(early ?? 0)...to.number * 24 + Int64(late ?? 23)
  }

  /// The first day of ``span`` (UTC) and the counts of its days; nil and empty without counts.
  package var perDay: (first: Instant?, counts: [Int]) {
    guard let span else { return (nil, []) }
    let first = span.lowerBound.flooredQuotient(24)
    let last = span.upperBound.flooredQuotient(24)
    var sums = [Int](repeating: 0, count: Int(last - first) + 1)
    for day in days where first...last ~= day.number { sums[Int(day.number - first)] = day.total }
    return (Instant(milliseconds: first * 86_400_000), sums)
  }

  package static func += (total: inout HourCounts, part: HourCounts) { total.add(part, 1) }

  /// Subtracts counts. A count that was not added here becomes negative.
  package static func -= (total: inout HourCounts, part: HourCounts) {
    total.add(part, -1)
    total.days.removeAll { day in (0..<24).allSatisfy { day.hours[$0] == 0 } }
  }

  private mutating func add(_ part: HourCounts, _ sign: Int) {
    for day in part.days {
      let place = place(of: day.number)
      for hour in 0..<24 { days[place].hours[hour] += sign * day.hours[hour] }
    }
    earlier += sign * part.earlier
    dropEarlier()
  }

  /// Returns the index of the day, inserting it if it is missing.
  private mutating func place(of number: Int64) -> Int {
    // Most runs have counts for each day from the first to the last.
    if let first = days.first?.number, number >= first, number - first < Int64(days.count),
      days[Int(number - first)].number == number
    {
      return Int(number - first)
    }
    let place = days.place { $0.number < number }
    if place == days.count || days[place].number != number { days.insert(Day(number: number), at: place) }
    return place
  }

  private mutating func dropEarlier() {
    guard days.count > Self.mostDays else { return }
    let dropped = days.count - Self.mostDays
    for day in days.prefix(dropped) { earlier += day.total }
    days.removeFirst(dropped)
  }
}

extension HourCounts: Equatable {
  package static func == (one: HourCounts, other: HourCounts) -> Bool {
    one.earlier == other.earlier
      && one.days.elementsEqual(other.days) { one, other in
        one.number == other.number && (0..<24).allSatisfy { one.hours[$0] == other.hours[$0] }
      }
  }
}

/// Encoded as one string: the sum of the earlier days, then the number of each day and its 24 counts.
extension HourCounts: Codable {
  package init(from decoder: any Decoder) throws {
    let numbers = try NumberLine(from: decoder).numbers
    guard numbers.count % 25 == 1 else { throw NumberLine.wrong(decoder, "the earlier count, then days of 24 hours") }
    earlier = Int(numbers[0])
    days = stride(from: 1, to: numbers.count, by: 25).map { place in
      var day = Day(number: numbers[place])
      for hour in 0..<24 { day.hours[hour] = Int(numbers[place + 1 + hour]) }
      return day
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var numbers = [Int64(earlier)]
    for day in days {
      numbers.append(day.number)
      for hour in 0..<24 { numbers.append(Int64(day.hours[hour])) }
    }
    try NumberLine(numbers: numbers).encode(to: encoder)
  }
}

/// Whole numbers, encoded as one string with spaces between them. A stored report has tens of thousands of numbers;
/// encoding them individually takes longer than the run of a small export.
struct NumberLine: Codable {
  let numbers: [Int64]

  init(numbers: [Int64]) { self.numbers = numbers }

  init(from decoder: any Decoder) throws {
    numbers = try decoder.singleValueContainer().decode(String.self).split(separator: " ").map { word in
      guard let number = Int64(word) else { throw Self.wrong(decoder, "whole numbers") }
      return number
    }
  }

  func encode(to encoder: any Encoder) throws {
    var text = ""
    for number in numbers {
      if !text.isEmpty { text += " " }
      text += String(number)
    }
    var value = encoder.singleValueContainer()
    try value.encode(text)
  }

  static func wrong(_ decoder: any Decoder, _ wanted: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the numbers are not \(wanted)"))
  }
}
