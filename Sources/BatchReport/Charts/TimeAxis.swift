import BatchFoundation

/// The steps of a time axis: hours, days, weeks or months, whichever are the shortest that fit into a chart.
struct TimeAxis {
  enum Step: String {
    case hour, day, week, month
  }

  let step: Step
  /// The hours since 1970 at which steps begin, and at which the last one ends.
  let edges: [Int64]
  private let zone: Zone

  static let mostSteps = 62

  /// - Parameters:
  ///   - hours: The first and last hour that the axis must include.
  ///   - zone: The zone of days, weeks and months. A day that starts partway through a UTC hour begins at the next.
  init(_ hours: ClosedRange<Int64>, in zone: Zone) {
    self.zone = zone
    let (first, last) = (zone.day(ofHour: hours.lowerBound), zone.day(ofHour: hours.upperBound))
    let days = last - first + 1
    step =
      hours.count <= 48
      ? .hour : days <= Int64(Self.mostSteps) ? .day : days <= Int64(Self.mostSteps) * 7 ? .week : .month
    var edges: [Int64] = []
    switch step {
    case .hour: edges = Array(hours.lowerBound...hours.upperBound + 1)
    case .day: edges = (first...last + 1).map(zone.hour(ofDay:))
    case .week:
      // 1970 began on a Thursday; weeks begin on Monday.
      edges = stride(from: (first + 3).flooredQuotient(7) * 7 - 3, through: last + 7, by: 7).map(zone.hour(ofDay:))
    case .month: edges = Self.months(first...last).map(zone.hour(ofDay:))
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
    let text = zone.minute(Instant(milliseconds: edges[place] * 3_600_000))
    switch step {
    case .hour: return text
    case .day: return String(text.prefix(10))
    case .week: return "week of \(text.prefix(10))"
    case .month: return String(text.prefix(7))
    }
  }

  func tick(_ place: Int) -> String {
    let text = zone.minute(Instant(milliseconds: edges[place] * 3_600_000))
    switch step {
    case .hour: return String(text.dropFirst(11))
    case .day, .week: return String(text.dropFirst(5).prefix(5))
    case .month: return String(text.prefix(7))
    }
  }

  /// Returns the first days (since 1970) of all months that contain these days, and of the month after.
  private static func months(_ days: ClosedRange<Int64>) -> [Int64] {
    var edges = [days.lowerBound - Int64(CivilTime(milliseconds: days.lowerBound * DaySpans.day).day) + 1]
    while let last = edges.last, last <= days.upperBound {
      let month = CivilTime(milliseconds: last * DaySpans.day)
      edges.append(last + Int64(CivilTime.days(in: month.month, of: month.year)))
    }
    return edges
  }
}

extension Zone {
  /// Returns a time by the zone's clocks, such as `2026-01-15 08:00`.
  func minute(_ instant: Instant) -> String {
    let text = Instant(milliseconds: civil(instant).milliseconds).rfc3339
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
  }

  /// Returns a time span in its shortest form: a day, a range of days, or a range of times.
  func period(_ from: Instant, _ to: Instant) -> String {
    guard startOfDay(from) == from, startOfDay(to) == to else { return "\(minute(from)) to \(minute(to))" }
    let days = [from, to + Milliseconds(-1)].map { minute($0).prefix(10) }
    return days[0] == days[1] ? String(days[0]) : "\(days[0]) to \(days[1])"
  }

  /// Returns the days since 1970 by the zone's calendar.
  func day(_ instant: Instant) -> Int64 { civil(instant).milliseconds.flooredQuotient(DaySpans.day) }

  fileprivate func day(ofHour hour: Int64) -> Int64 { day(Instant(milliseconds: hour * 3_600_000)) }

  /// Returns the first hour that begins on a day of the zone's calendar, in hours since 1970.
  fileprivate func hour(ofDay day: Int64) -> Int64 {
    -(-instant(CivilTime(milliseconds: day * DaySpans.day)).milliseconds).flooredQuotient(3_600_000)
  }
}
