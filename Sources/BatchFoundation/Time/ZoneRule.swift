/// The yearly changes of a zone's clocks. Time zone files end with this rule, in the syntax of the variable `TZ`, such
/// as `GMT0BST,M3.5.0/1,M10.5.0` (RFC 9636 3.3).
struct ZoneRule: Hashable, Sendable, Codable {
  private enum Day: Hashable, Sendable, Codable {
    /// A day of the year, 1 to 365; February 29 is never counted.
    case julian(Int)
    /// A day of the year, 0 to 365; February 29 is counted.
    case ordinal(Int)
    /// A weekday of a month. Weeks are 1 to 5, where 5 is the last one; weekday 0 is Sunday.
    case weekday(month: Int, week: Int, weekday: Int)
  }

  private struct Change: Hashable, Sendable, Codable {
    var day: Day
    /// The time in seconds on the clock before the change, from -167 to 167 hours.
    var time: Int64
  }

  private struct Summer: Hashable, Sendable, Codable {
    /// Seconds east of UTC.
    var offset: Int64
    var begins: Change
    var ends: Change
  }

  /// Seconds east of UTC.
  private let standard: Int64
  private let summer: Summer?

  /// Parses such a rule; nil if the text is not one.
  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    guard Self.name(&rest), let west = Self.time(&rest, hours: 24) else { return nil }
    standard = -west
    if rest.isEmpty {
      summer = nil
      return
    }
    guard Self.name(&rest) else { return nil }
    var offset = standard + 3600
    if let next = rest.first, next != UInt8(ascii: ",") {
      guard let west = Self.time(&rest, hours: 24) else { return nil }
      offset = -west
    }
    guard let begins = Self.change(&rest), let ends = Self.change(&rest), rest.isEmpty else { return nil }
    summer = Summer(offset: offset, begins: begins, ends: ends)
  }

  /// Returns the offset in seconds east of UTC.
  func offset(at second: Int64) -> Int64 {
    guard let summer else { return standard }
    let year = CivilTime(milliseconds: (second + standard) * 1000).year
    // The last change up to the instant, possibly in the previous year, sets the offset.
    var last: (second: Int64, offset: Int64)?
    for year in year - 1...year + 1 {
      let changes = [
        (Self.second(summer.begins, in: year) - standard, summer.offset),
        (Self.second(summer.ends, in: year) - summer.offset, standard),
      ]
      for change in changes where change.0 <= second && change.0 > last?.second ?? .min { last = change }
    }
    return last?.offset ?? standard
  }

  /// Returns the time of a change in seconds since 1970, as the clock before the change shows it.
  private static func second(_ change: Change, in year: Int) -> Int64 {
    let january = days(year, 1, 1)
    let isLeap = CivilTime.days(in: 2, of: year) == 29
    let day: Int64
    switch change.day {
    case .julian(let number): day = january + Int64(number - 1 + (isLeap && number >= 60 ? 1 : 0))
    case .ordinal(let number): day = january + Int64(number)
    case .weekday(let month, let week, let weekday):
      let first = days(year, month, 1)
      // 1970-01-01 was a Thursday.
      let firstWeekday = Int((first % 7 + 7 + 4) % 7)
      var date = 1 + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
      if date > CivilTime.days(in: month, of: year) { date -= 7 }
      day = first + Int64(date - 1)
    }
    return day * 86_400 + change.time
  }

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
    CivilTime(year: year, month: month, day: day)?.dayNumber ?? 0
  }

  // MARK: - Reading

  /// Skips an abbreviation of at least three letters, or anything in angle brackets; returns false if there is neither.
  private static func name(_ rest: inout ArraySlice<UInt8>) -> Bool {
    if rest.first == UInt8(ascii: "<") {
      guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
      rest = rest[(end + 1)...]
      return true
    }
    let letters = rest.prefix(while: \.isASCIILetter)
    rest = rest.dropFirst(letters.count)
    return letters.count >= 3
  }

  private static func change(_ rest: inout ArraySlice<UInt8>) -> Change? {
    guard take(",", &rest) else { return nil }
    let day: Day
    if take("M", &rest) {
      guard let month = number(&rest), take(".", &rest), let week = number(&rest), take(".", &rest),
        let weekday = number(&rest), 1...12 ~= month, 1...5 ~= week, weekday <= 6
      else { return nil }
      day = .weekday(month: month, week: week, weekday: weekday)
    } else if take("J", &rest) {
      guard let number = number(&rest), 1...365 ~= number else { return nil }
      day = .julian(number)
    } else {
      guard let number = number(&rest), number <= 365 else { return nil }
      day = .ordinal(number)
    }
    guard take("/", &rest) else { return Change(day: day, time: 7200) }
    return time(&rest, hours: 167).map { Change(day: day, time: $0) }
  }

  /// Reads `[+-]hh[:mm[:ss]]` as seconds; nil if it is invalid or has more than `limit` hours.
  private static func time(_ rest: inout ArraySlice<UInt8>, hours limit: Int) -> Int64? {
    let isNegative = take("-", &rest)
    if !isNegative { _ = take("+", &rest) }
    guard let hours = number(&rest), hours <= limit else { return nil }
    var seconds = hours * 3600
    for unit in [60, 1] where take(":", &rest) {
      guard let number = number(&rest), number <= 59 else { return nil }
      seconds += number * unit
    }
    return Int64(isNegative ? -seconds : seconds)
  }

  /// Reads up to three digits.
  private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
    let digits = rest.prefix(while: \.isASCIIDigit)
    guard 1...3 ~= digits.count else { return nil }
    rest = rest.dropFirst(digits.count)
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }
}
