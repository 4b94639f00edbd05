extension Instant {
  /// Parses RFC 3339 with upper-case `T`, and `Z` or an offset up to 23:59; fractions are truncated to milliseconds.
  /// Leap seconds, `24:00`, dates that do not exist, and UTC instants outside 1970 to 9999 are refused
  /// (reference formats 3.2, decisions 9).
  public init?(rfc3339 text: Text) { self.init(rfc3339: text, mayLackColon: false) }

  /// - Parameter mayLackColon: whether the offset may also be `±hhmm`.
  @inline(__always)
  init?(rfc3339 text: Text, mayLackColon: Bool) {
    guard text.count >= 20, let civil = CivilTime(text, separator: UInt8(ascii: "T")) else { return nil }
    var at = 19
    guard let millisecond = Self.fraction(text, &at) else { return nil }
    guard at < text.count else { return nil }
    var offset: Int64 = 0
    switch text[at] {
    case UInt8(ascii: "Z"):
      at += 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      let lacksColon = mayLackColon && at + 5 == text.count
      guard lacksColon || at + 6 == text.count && text[at + 3] == UInt8(ascii: ":"),
        let hours = text.digits(at + 1, 2), let minutes = text.digits(text.count - 2, 2), hours <= 23, minutes <= 59
      else { return nil }
      offset = Int64(hours * 60 + minutes) * 60_000
      if text[at] == UInt8(ascii: "-") { offset = -offset }
      at = text.count
    default:
      return nil
    }
    guard at == text.count else { return nil }
    self.init(checking: civil.milliseconds + millisecond - offset)
  }

  /// Parses `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd HH:mm:ss.SSS`, in UTC.
  public init?(plain text: Text) {
    guard text.count == 19 || text.count == 23, let civil = CivilTime(text, separator: UInt8(ascii: " ")) else {
      return nil
    }
    var at = 19
    guard let millisecond = Self.fraction(text, &at), at == text.count else { return nil }
    self.init(checking: civil.milliseconds + millisecond)
  }

  /// Parses a JSON number as seconds since 1970 if it is below 1e11, and otherwise as milliseconds. The decimal digits
  /// are shifted and truncated, so no precision is lost in a conversion to a double.
  public init?(epoch text: Text) {
    guard let decimal = DecimalText(text), !decimal.isNegative || decimal.isZero else { return nil }
    guard let seconds = decimal.truncated(scaledBy: 0), let scaled = decimal.truncated(scaledBy: 3) else { return nil }
    self.init(checking: seconds < 100_000_000_000 ? scaled : seconds)
  }

  /// Returns nil outside 1970 to 9999.
  package init?(checking milliseconds: Int64) {
    guard milliseconds >= 0, milliseconds <= Self.last.milliseconds else { return nil }
    self.init(milliseconds: milliseconds)
  }

  /// Returns the milliseconds of an optional fraction at `at` and moves `at` past it; nil for a point without digits.
  static func fraction(_ text: Text, _ at: inout Int) -> Int64? {
    guard at < text.count, text[at] == UInt8(ascii: ".") else { return 0 }
    at += 1
    let start = at
    var value: Int64 = 0
    while at < text.count, text[at].isASCIIDigit {
      if at - start < 3 { value = value * 10 + Int64(text[at] - UInt8(ascii: "0")) }
      at += 1
    }
    guard at > start else { return nil }
    for _ in (at - start)..<max(3, at - start) { value *= 10 }
    return value
  }

  /// Writes the wire format `yyyy-MM-dd'T'HH:mm:ss.SSS'Z'`, always 24 bytes (reference events 1.2).
  public func write(to target: UnsafeMutablePointer<UInt8>) {
    let civil = CivilTime(milliseconds: milliseconds)
    func put(_ value: Int, _ at: Int, _ count: Int) {
      var rest = value
      for index in stride(from: at + count - 1, through: at, by: -1) {
        unsafe target[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
    }
    // No recorded time is before the year 0, but a damaged store may contain one.
    put(max(civil.year, 0), 0, 4)
    unsafe target[4] = UInt8(ascii: "-")
    put(civil.month, 5, 2)
    unsafe target[7] = UInt8(ascii: "-")
    put(civil.day, 8, 2)
    unsafe target[10] = UInt8(ascii: "T")
    put(civil.hour, 11, 2)
    unsafe target[13] = UInt8(ascii: ":")
    put(civil.minute, 14, 2)
    unsafe target[16] = UInt8(ascii: ":")
    put(civil.second, 17, 2)
    unsafe target[19] = UInt8(ascii: ".")
    put(Int((milliseconds % 1000 + 1000) % 1000), 20, 3)
    unsafe target[23] = UInt8(ascii: "Z")
  }

  /// The instant in the wire format of ``write(to:)``.
  public var rfc3339: String {
    unsafe String(unsafeUninitializedCapacity: 24) { buffer in
      if let base = buffer.baseAddress { unsafe write(to: base) }
      return 24
    }
  }

  /// The instant to the second without separators, as in `20150830T123600Z`.
  public var basicText: String {
    // rfc3339 is always yyyy-MM-ddTHH:mm:ss.SSSZ.
    rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }

  /// Parses RFC 3339 text from a job file or the command line.
  public static func parse(rfc3339 string: String) -> Instant? {
    string.withText { Instant(rfc3339: $0) }
  }
}

/// A date and time of day in the proleptic Gregorian calendar, in UTC or a zone's local time.
public struct CivilTime {
  public var year: Int
  public var month: Int
  public var day: Int
  public var hour = 0
  public var minute = 0
  public var second = 0

  /// The names of the months, as in the headers of HTTP.
  package static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Nil if the date or time does not exist.
  public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    guard 1...12 ~= month, day >= 1, day <= Self.days(in: month, of: year), 0...23 ~= hour, 0...59 ~= minute,
      0...59 ~= second
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// Returns whether a string begins with a date that is in RFC 3339 format but does not exist, such as 2026-02-30.
  public static func isImpossibleDay(_ text: String) -> Bool {
    text.withText { text in
      guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), let year = text.digits(0, 4),
        let month = text.digits(5, 2), let day = text.digits(8, 2)
      else { return false }
      return CivilTime(year: year, month: month, day: day) == nil
    }
  }

  /// Parses `yyyy-MM-dd`, the separator and `HH:mm:ss` at the start of the text.
  init?(_ text: Text, separator: UInt8) {
    let colons = UInt64(UInt8(ascii: ":")) << 16 | UInt64(UInt8(ascii: ":")) << 40
    let divided = colons & ~0xFF_FFFF | UInt64(separator) << 16
    // yyyy-MM-, ddTHH:mm and HH:mm:ss
    guard let date = text.digits(at: 0, 0x000F_0F00_0F0F_0F0F, separators: 0x2D00_002D_0000_0000),
      let middle = text.digits(at: 8, 0x0F0F_000F_0F00_0F0F, separators: divided),
      let time = text.digits(at: 11, 0x0F0F_000F_0F00_0F0F, separators: colons)
    else { return nil }
    func pair(_ digits: UInt64, _ shift: UInt64) -> Int {
      Int(digits >> shift & 0xF) * 10 + Int(digits >> (shift + 8) & 0xF)
    }
    self.init(
      year: pair(date, 0) * 100 + pair(date, 16), month: pair(date, 40), day: pair(middle, 0), hour: pair(middle, 24),
      minute: pair(middle, 48), second: pair(time, 48))
  }

  /// The calendar time of an instant in the year 0 or later, without its milliseconds.
  public init(milliseconds: Int64) {
    let days = Int(milliseconds.flooredQuotient(86_400_000))
    let time = Int(milliseconds - Int64(days) * 86_400_000) / 1000
    (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    // Years are counted from March, so that the leap day is the last day of its year.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Milliseconds since 1970; negative before.
  public var milliseconds: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
  }

  /// The days since 1970-01-01; negative before.
  package var dayNumber: Int64 { milliseconds.flooredQuotient(86_400_000) }

  public static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Text {
  /// Returns the values of the digits among the eight bytes at `start`, the first byte lowest; nil if a byte is neither
  /// the digit nor the separator that belongs there.
  ///
  /// - Parameter mask: `0F` for each digit and 0 for each of the `separators`.
  @inline(__always)
  fileprivate func digits(at start: Int, _ mask: UInt64, separators: UInt64) -> UInt64? {
    let word = unsafe UInt64(
      littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: start, as: UInt64.self))
    let zeros = mask / 0x0F &* UInt64(UInt8(ascii: "0"))
    let digits = word ^ (zeros | separators)
    // Adding 6 carries digits above 9 into the upper half of their bytes.
    return (digits | digits &+ mask / 0x0F &* 6) & ~mask == 0 ? digits : nil
  }

  /// Returns the value of exactly `count` ASCII digits at `start`; nil if one is not a digit.
  @inlinable
  public func digits(_ start: Int, _ count: Int) -> Int? {
    var value = 0
    for index in start..<start + count {
      let digit = self[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      value = value * 10 + Int(digit)
    }
    return value
  }
}
