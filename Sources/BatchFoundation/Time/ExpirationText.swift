/// The meaning of an expiration string: a duration or an end time (reference events 4.3, reference decisions 16). There
/// are two formats, each with optional white space around it:
///
/// - `YYYY/MM/DD HH:MM:SS`, a valid date in UTC from the year 1 on; `GMT`, `UTC` or `Z` may follow, after at most one
///   space;
/// - terms of a number and a unit, as in `1 day 15m`, with each unit at most once, in any order and in any case.
///
/// Everything else is refused with a reason. ``LegacySDKExpiration`` is the SDKs' interpretation of the same string.
public enum ExpirationText: Hashable, Sendable {
  case duration(Milliseconds)
  case absolute(Instant)
  case refused(Refusal)

  /// The reason a string is not an expiration: the first error in it.
  public enum Refusal: String, Hashable, Sendable, CaseIterable {
    case empty
    /// Text where the grammar allows none, such as a sign, a fraction or a foreign zone.
    case unexpectedText = "unexpected-text"
    /// A number followed by a word that is not a unit, such as `1 month`.
    case unknownUnit = "unknown-unit"
    case repeatedUnit = "repeated-unit"
    /// A well-formed date that does not exist.
    case invalidDate = "invalid-date"
    /// A duration above 36,525 days.
    case outOfRange = "out-of-range"
  }

  /// The longest duration: 36,525 days, a hundred years.
  public static var longestDuration: Milliseconds { Milliseconds(36_525 * 86_400_000) }

  public static func parse(_ text: Text) -> ExpirationText { unsafe parse(text.bytes) }

  /// Parses the text without allocating.
  public static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> ExpirationText {
    var start = 0
    var end = bytes.count
    while start < end, unsafe bytes[start].isASCIIWhitespace { start += 1 }
    while end > start, unsafe bytes[end - 1].isASCIIWhitespace { end -= 1 }
    guard start < end else { return .refused(.empty) }
    if unsafe ExpirationDate.hasShape(bytes, at: start, end: end, separator: { $0 == 0x20 }) {
      return unsafe absolute(bytes, start, end)
    }
    return unsafe duration(bytes, start, end)
  }

  /// Returns the expiry of something that began at `start`, at most ``Instant/last`` for durations; nil if refused.
  public func expiry(from start: Instant) -> Instant? {
    switch self {
    case .duration(let span): min(start + span, .last)
    case .absolute(let instant): instant
    case .refused: nil
    }
  }

  private static func absolute(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> ExpirationText {
    var zone = start + ExpirationDate.length
    if zone < end {
      if unsafe bytes[zone] == 0x20 { zone += 1 }
      guard unsafe isUTC(bytes, zone, end) else { return .refused(.unexpectedText) }
    }
    let date = unsafe ExpirationDate(bytes, at: start)
    // The calendar begins with the year 1.
    guard date.year > 0, date.isValid else { return .refused(.invalidDate) }
    return .absolute(Instant(milliseconds: date.seconds * 1000))
  }

  private static func isUTC(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
    switch end - start {
    case 1: unsafe bytes[start] == 0x5A
    case 3:
      unsafe bytes[start..<end].elementsEqual("GMT".utf8) || bytes[start..<end].elementsEqual("UTC".utf8)
    default: false
    }
  }

  private static func duration(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> ExpirationText {
    var position = start
    var seen: UInt8 = 0
    var seconds: Int64 = 0
    let limit = longestDuration.wholeSeconds
    while position < end {
      guard unsafe bytes[position].isASCIIDigit else { return .refused(.unexpectedText) }
      var amount: Int64 = 0
      while position < end, unsafe bytes[position].isASCIIDigit {
        amount = unsafe min(amount * 10 + Int64(bytes[position] - 0x30), limit + 1)
        position += 1
      }
      while position < end, unsafe bytes[position].isASCIIWhitespace { position += 1 }
      let word = position
      while position < end, unsafe bytes[position].isASCIILetter { position += 1 }
      guard position > word else { return .refused(.unexpectedText) }
      guard let unit = unsafe ExpirationUnit(Text(UnsafeBufferPointer(rebasing: bytes[word..<position]))) else {
        return .refused(.unknownUnit)
      }
      guard seen & unit.mask == 0 else { return .refused(.repeatedUnit) }
      seen |= unit.mask
      seconds += amount * unit.seconds
      while position < end, unsafe bytes[position].isASCIIWhitespace { position += 1 }
    }
    guard seconds <= limit else { return .refused(.outOfRange) }
    return .duration(Milliseconds(seconds * 1000))
  }
}

/// The four units of a duration. There are no weeks, months or years.
enum ExpirationUnit: UInt8, Sendable {
  case day, hour, minute, second

  private static let words: [[Text]] = [
    ["d", "day", "days"], ["h", "hr", "hrs", "hour", "hours"], ["m", "min", "mins", "minute", "minutes"],
    ["s", "sec", "secs", "second", "seconds"],
  ]

  var seconds: Int64 {
    switch self {
    case .day: 86_400
    case .hour: 3_600
    case .minute: 60
    case .second: 1
    }
  }

  var mask: UInt8 { 1 << rawValue }

  /// The unit that a word names; nil for any other word.
  init?(_ word: Text) {
    let place = Self.words.firstIndex { words in
      words.contains { $0.count == word.count && $0.isEqualIgnoringASCIICase(to: word) }
    }
    self.init(place)
  }

  /// The unit that the SDKs infer from a word's first letter, in lower case; nil for another letter.
  init?(firstLetter: UInt8) { self.init(Self.words.firstIndex { $0[0][0] == firstLetter }) }

  private init?(_ place: Int?) {
    guard let place, let unit = Self(rawValue: UInt8(place)) else { return nil }
    self = unit
  }
}

/// The fields of `YYYY/MM/DD HH:MM:SS`, not validated.
struct ExpirationDate: Sendable {
  static let length = 19

  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var minute: Int
  var second: Int

  /// Returns whether the text at `start` is in this format, regardless of the fields' values.
  static func hasShape(
    _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, end: Int, separator: (UInt8) -> Bool
  ) -> Bool {
    guard end - start >= length else { return false }
    for index in 0..<length {
      let byte = unsafe bytes[start + index]
      switch index {
      case 4, 7: guard byte == 0x2F else { return false }
      case 10: guard separator(byte) else { return false }
      case 13, 16: guard byte == 0x3A else { return false }
      default: guard byte.isASCIIDigit else { return false }
      }
    }
    return true
  }

  /// Reads the fields at a position where ``hasShape(_:at:end:separator:)`` holds.
  init(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
    func number(_ from: Int, _ count: Int) -> Int {
      var value = 0
      for index in from..<(from + count) { value = unsafe value * 10 + Int(bytes[start + index] - 0x30) }
      return value
    }
    year = number(0, 4)
    month = number(5, 2)
    day = number(8, 2)
    hour = number(11, 2)
    minute = number(14, 2)
    second = number(17, 2)
  }

  /// Whether the date and time exist; leap seconds and 24:00 count as nonexistent.
  var isValid: Bool {
    CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second) != nil
  }

  /// Seconds since 1970-01-01T00:00:00Z. Fields out of range carry over into the next larger one.
  var seconds: Int64 {
    let months = year * 12 + month + 11
    // Every month has a first day, and this month is between 1 and 12.
    guard let first = CivilTime(year: months / 12 - 1, month: months % 12 + 1, day: 1) else { return 0 }
    return first.milliseconds / 1000 + Int64((day - 1) * 86_400 + hour * 3_600 + minute * 60 + second)
  }
}
