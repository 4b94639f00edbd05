/// An ISO 8601 duration with a sign, such as `-P1D` or `+PT6H30M`: calendar units, then a length of time.
public struct CalendarSpan: Hashable, Sendable {
  /// The calendar months; a year counts as twelve. Months, days and time all have the sign of the duration.
  public var months = 0
  /// The calendar days; a week counts as seven.
  public var days = 0
  public var time = Milliseconds.zero

  public static func * (span: CalendarSpan, count: Int) -> CalendarSpan {
    var product = span
    product.months *= count
    product.days *= count
    product.time = Milliseconds(span.time.count * Int64(count))
    return product
  }

  /// Parses a sign, `P`, whole numbers of Y, M, W, D in this order and, after a T, of H, M, S; nil for other text.
  public init?(_ text: some StringProtocol) {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    guard isNegative || rest.first == UInt8(ascii: "+"), rest.dropFirst().first == UInt8(ascii: "P") else { return nil }
    rest = rest.dropFirst(2)
    var units = Array("YMWD".utf8)[...]
    var isTime = false
    var found = false
    while let next = rest.first {
      if next == UInt8(ascii: "T"), !isTime {
        (isTime, units, found) = (true, Array("HMS".utf8)[...], false)
        rest = rest.dropFirst()
        continue
      }
      let digits = rest.prefix(while: \.isASCIIDigit)
      // At most five digits, so that no sum or product can overflow.
      guard 1...5 ~= digits.count, let unit = rest.dropFirst(digits.count).first, let place = units.firstIndex(of: unit)
      else { return nil }
      let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } * (isNegative ? -1 : 1)
      switch (unit, isTime) {
      case (UInt8(ascii: "Y"), _): months += number * 12
      case (UInt8(ascii: "M"), false): months += number
      case (UInt8(ascii: "W"), _): days += number * 7
      case (UInt8(ascii: "D"), _): days += number
      case (UInt8(ascii: "H"), _): time = time + Milliseconds(Int64(number) * 3_600_000)
      case (UInt8(ascii: "M"), _): time = time + Milliseconds(Int64(number) * 60_000)
      default: time = time + Milliseconds(Int64(number) * 1000)
      }
      units = units[(place + 1)...]
      rest = rest.dropFirst(digits.count + 1)
      found = true
    }
    guard found else { return nil }
  }
}

extension Zone {
  /// Returns the instant moved by the span; nil outside the years 1970 to 9999. Adding months and days keeps the local
  /// time of day, and a day past the end of its month becomes the month's last day. The time is then added as elapsed
  /// time.
  public func instant(_ instant: Instant, plus span: CalendarSpan) -> Instant? {
    var result = instant
    if span.months != 0 || span.days != 0 {
      let civil = civil(instant)
      let month = civil.year * 12 + civil.month - 1 + span.months
      guard 1970 * 12..<10_000 * 12 ~= month else { return nil }
      let day = min(civil.day, CivilTime.days(in: month % 12 + 1, of: month / 12))
      guard
        let moved = CivilTime(
          year: month / 12, month: month % 12 + 1, day: day, hour: civil.hour, minute: civil.minute,
          second: civil.second)
      else { return nil }
      let fraction = (instant.milliseconds % 1000 + 1000) % 1000
      result =
        self.instant(CivilTime(milliseconds: moved.milliseconds + Int64(span.days) * 86_400_000))
        + Milliseconds(fraction)
    }
    return Instant(checking: (result + span.time).milliseconds)
  }
}
