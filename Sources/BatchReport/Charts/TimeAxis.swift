import BatchFoundation

/// The steps of a time axis: hours, days, weeks or months, whichever are the shortest that fit into a chart.
struct TimeAxis {
  enum Step: String {
    case hour, day, week, month
  }

  let step: Step
  /// The hours since 1970 at which steps begin, and at which the last one ends.
  let edges: [Int64]

  static let mostSteps = 62

  /// - Parameter hours: The first and last hour that the axis must include.
  init(_ hours: ClosedRange<Int64>) {
    let days = Self.day(hours.upperBound) - Self.day(hours.lowerBound) + 1
    step =
      hours.count <= 48
      ? .hour : days <= Int64(Self.mostSteps) ? .day : days <= Int64(Self.mostSteps) * 7 ? .week : .month
    var edges: [Int64] = []
    switch step {
    case .hour: edges = Array(hours.lowerBound...hours.upperBound + 1)
    case .day:
      edges = (Self.day(hours.lowerBound)...Self.day(hours.upperBound) + 1).map { $0 * 24 }
    case .week:
      // 1970 began on a Thursday; weeks begin on Monday.
      let first = (Self.day(hours.lowerBound) + 3).flooredQuotient(7) * 7 - 3
      edges = stride(from: first, through: Self.day(hours.upperBound) + 7, by: 7).map { $0 * 24 }
    case .month:
      edges = Self.months(hours)
    }
    self.edges = edges
  }

  var count: Int { edges.count - 1 }

  /// Returns the sum of the counts in each step. Counts outside the axis are left out.
  func sums(_ counts: HourCounts) -> [Int] {
    var sums = [Int](repeating: 0, count: count)
    var place = 0
    counts.forEach { hour, number in
      while place < count, hour >= edges[place + 1] { place += 1 }
      if place < count, hour >= edges[place] { sums[place] += number }
    }
    return sums
  }

  /// Returns the name of a step, such as `2026-01-15` or `2026-01-15 08:00`.
  func name(_ place: Int) -> String {
    let text = Instant(milliseconds: edges[place] * 3_600_000).rfc3339
    switch step {
    case .hour: return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    case .day: return String(text.prefix(10))
    case .week: return "week of \(text.prefix(10))"
    case .month: return String(text.prefix(7))
    }
  }

  func tick(_ place: Int) -> String {
    let text = Instant(milliseconds: edges[place] * 3_600_000).rfc3339
    switch step {
    case .hour: return String(text.dropFirst(11).prefix(5))
    case .day, .week: return String(text.dropFirst(5).prefix(5))
    case .month: return String(text.prefix(7))
    }
  }

  private static func day(_ hour: Int64) -> Int64 { hour.flooredQuotient(24) }

  private static func months(_ hours: ClosedRange<Int64>) -> [Int64] {
    func begin(_ year: Int, _ month: Int) -> Int64 {
      let digits = (month < 10 ? "0" : "") + "\(month)"
      // Always a date of the proleptic calendar.
      return (Instant.parse(rfc3339: "\(year)-\(digits)-01T00:00:00Z")?.milliseconds ?? 0) / 3_600_000
    }
    let text = Instant(milliseconds: hours.lowerBound * 3_600_000).rfc3339
    var year = Int(text.prefix(4)) ?? 1970
    var month = Int(text.dropFirst(5).prefix(2)) ?? 1
    var edges = [begin(year, month)]
    repeat {
      month += 1
      if month > 12 { (year, month) = (year + 1, 1) }
      edges.append(begin(year, month))
    } while (edges.last ?? 0) <= hours.upperBound
    return edges
  }
}
