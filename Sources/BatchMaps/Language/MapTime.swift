import BatchFoundation

/// The format of a time in a foreign record (reference formats 6.3).
struct MapTime: Sendable {
  enum Form: Sendable {
    /// Date and time in ISO 8601 order, or an epoch number whose magnitude determines its unit.
    case automatic
    /// An epoch number and the number of decimal places that convert it to milliseconds, or a date and time in ISO 8601
    /// order.
    case number(places: Int)
    case pattern(TimePattern)
  }

  static let units = ["seconds": 3, "milliseconds": 0, "microseconds": -3, "nanoseconds": -6]

  var form: Form
  /// The zone for times that do not state one.
  var zone: Zone

  /// Returns the instant; nil for a text in another format.
  func instant(_ text: Text) -> Instant? {
    switch form {
    case .number(let places) where text.isJSONNumber: return Self.instant(text, places)
    case .pattern(let pattern):
      if let instant = pattern.instant(text, zone) { return instant }
      return text.isPlainInteger ? nil : DecimalText(text)?.integerText?.withText { pattern.instant($0, zone) }
    case .automatic, .number: break
    }
    if let instant = Instant(exportText: text), text.count > 10, text[10] == UInt8(ascii: "T") { return instant }
    guard text.isJSONNumber else { return Self.iso(text, zone) }
    guard let digits = DecimalText(text)?.point else { return nil }
    return Self.instant(text, digits <= 11 ? 3 : digits <= 14 ? 0 : digits <= 17 ? -3 : -6)
  }

  /// Returns whether a valid time is already written as lines require, with milliseconds and `Z`.
  func isWritten(_ text: Text) -> Bool {
    guard case .automatic = form, text.count == 24 else { return false }
    return text[10] == UInt8(ascii: "T") && text[19] == UInt8(ascii: ".") && text[23] == UInt8(ascii: "Z")
  }

  /// Returns whether a text that is not in this format would be misread as a time in UTC if it were kept.
  func isMisread(_ text: Text) -> Bool { zone != .utc && Self.iso(text, .utc) != Self.iso(text, zone) }

  private static func instant(_ text: Text, _ places: Int) -> Instant? {
    guard let decimal = DecimalText(text), !decimal.isNegative || decimal.isZero,
      let milliseconds = decimal.truncated(scaledBy: places)
    else { return nil }
    return Instant(checking: milliseconds)
  }

  /// Parses `yyyy-MM-dd`, `T` or a space, `HH:mm`, optional seconds with a fraction, and optional `Z`, `UTC` or offset.
  private static func iso(_ text: Text, _ zone: Zone) -> Instant? {
    var reader = TimeText(text)
    guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
      let day = reader.digits(2), reader.take("T") || reader.take(" "), let hour = reader.digits(2), reader.take(":"),
      let minute = reader.digits(2)
    else { return nil }
    var (second, fraction) = (0, 0)
    var offset: Int64?
    if reader.take(":") {
      guard let seconds = reader.digits(2) else { return nil }
      second = seconds
      if reader.take(".") {
        guard let parsed = reader.fraction() else { return nil }
        fraction = parsed
      }
    }
    _ = reader.take(" ")
    if reader.take("Z") || reader.take("UTC") || reader.take("GMT") {
      offset = 0
    } else if !reader.isAtEnd {
      guard let given = reader.offset() else { return nil }
      offset = given
    }
    guard reader.isAtEnd,
      let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return instant(civil, fraction, offset, zone)
  }

  static func instant(_ civil: CivilTime, _ fraction: Int, _ offset: Int64?, _ zone: Zone) -> Instant? {
    if let offset { return Instant(checking: civil.milliseconds - offset * 1000 + Int64(fraction)) }
    let instant = zone.instant(civil)
    // A time that the zone's clocks skip is refused, because it may be from another zone. A skipped midnight is
    // accepted as the start of its day.
    let isMidnight = civil.milliseconds % 86_400_000 == 0
    guard isMidnight || zone.civil(instant).milliseconds == civil.milliseconds else { return nil }
    return Instant(checking: instant.milliseconds + Int64(fraction))
  }
}

/// A pattern for date and time, such as `dd/MM/yyyy HH:mm:ss`.
struct TimePattern: Sendable {
  private enum Piece: Sendable {
    case literal([UInt8])
    case year, month, monthName, day, hour, halfDayHour, minute, second, fraction, halfDay, offset
  }

  struct Refusal: Error { var letters: String }

  private var pieces: [Piece] = []
  /// The indexes of the fields that need exactly two digits, because other digits are next to them.
  private var fixed: Set<Int> = []

  private static let fields: [String: Piece] = [
    "yyyy": .year, "M": .month, "MM": .month, "MMM": .monthName, "d": .day, "dd": .day, "H": .hour, "HH": .hour,
    "h": .halfDayHour, "hh": .halfDayHour, "m": .minute, "mm": .minute, "s": .second, "ss": .second, "S": .fraction,
    "SSS": .fraction, "SSSSSS": .fraction, "a": .halfDay, "Z": .offset, "X": .offset, "XXX": .offset,
  ]

  /// - Parameter text: the fields `yyyy`, `MM`, `MMM`, `dd`, `HH`, `hh`, `mm`, `ss`, `S` (any fraction), `a`, and `Z`
  ///   (an offset, or `Z`); other characters, and text in single quotes, are literals. A field of one letter matches
  ///   one or two digits, as does a field of two letters that is not next to other digits.
  init(_ text: String) throws(Refusal) {
    let bytes = Array(text.utf8)
    var at = 0
    var (pairs, digits): ([Int], [Int]) = ([], [])
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "'") {
        let end = bytes[(at + 1)...].firstIndex(of: byte) ?? bytes.count
        pieces.append(.literal(end == at + 1 ? [byte] : Array(bytes[(at + 1)..<end])))
        at = end + 1
        continue
      }
      guard byte.isASCIILetter else {
        pieces.append(.literal([byte]))
        at += 1
        continue
      }
      let start = at
      while at < bytes.count, bytes[at] == byte { at += 1 }
      let letters = String(decoding: bytes[start..<at], as: UTF8.self)
      if at - start == 2 { pairs.append(pieces.count) }
      if !["MMM", "a", "Z", "X", "XXX"].contains(letters) { digits.append(pieces.count) }
      guard let field = Self.fields[letters] else { throw Refusal(letters: letters) }
      pieces.append(field)
    }
    fixed = Set(pairs).intersection(digits.flatMap { [$0 - 1, $0 + 1] })
  }

  func instant(_ text: Text, _ zone: Zone) -> Instant? {
    var reader = TimeText(text)
    var (year, month, day, hour, minute, second, fraction) = (1970, 1, 1, 0, 0, 0, 0)
    var isAfternoon: Bool?
    var offset: Int64?
    for (place, piece) in pieces.enumerated() {
      switch piece {
      case .literal(let bytes): guard bytes.withText({ reader.take($0) }) else { return nil }
      case .year:
        guard let value = reader.digits(4) else { return nil }
        year = value
      case .monthName:
        guard let place = CivilTime.months.firstIndex(where: { reader.take(ignoringCase: Array($0.utf8)) }) else {
          return nil
        }
        month = place + 1
      case .month, .day, .hour, .halfDayHour, .minute, .second:
        guard let value = reader.digits(2) ?? (fixed.contains(place) ? nil : reader.digits(1)) else { return nil }
        switch piece {
        case .month: month = value
        case .day: day = value
        case .minute: minute = value
        case .second: second = value
        default: hour = value
        }
      case .fraction:
        guard let value = reader.fraction() else { return nil }
        fraction = value
      case .halfDay:
        let isMorning = reader.take(ignoringCase: Array("am".utf8))
        guard isMorning || reader.take(ignoringCase: Array("pm".utf8)) else { return nil }
        isAfternoon = !isMorning
      case .offset:
        guard let value = reader.take("Z") ? 0 : reader.offset() else { return nil }
        offset = value
      }
    }
    if let isAfternoon {
      guard 1...12 ~= hour else { return nil }
      hour = hour % 12 + (isAfternoon ? 12 : 0)
    }
    guard reader.isAtEnd,
      let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return MapTime.instant(civil, fraction, offset, zone)
  }
}

private struct TimeText {
  private let text: Text
  private var at = 0

  init(_ text: Text) { self.text = text }

  var isAtEnd: Bool { at == text.count }

  mutating func take(_ wanted: Text) -> Bool {
    guard text.count - at >= wanted.count, text.slice(at, at + wanted.count) == wanted else { return false }
    at += wanted.count
    return true
  }

  /// - Parameter bytes: the literal, in lowercase.
  mutating func take(ignoringCase bytes: [UInt8]) -> Bool {
    guard text.count - at >= bytes.count, bytes.indices.allSatisfy({ text[at + $0] | 0x20 == bytes[$0] | 0x20 }) else {
      return false
    }
    at += bytes.count
    return true
  }

  mutating func digits(_ count: Int) -> Int? {
    guard text.count - at >= count, let value = text.digits(at, count) else { return nil }
    at += count
    return value
  }

  /// Reads the digits of a fraction of a second as milliseconds, rounded down.
  mutating func fraction() -> Int? {
    var (value, count) = (0, 0)
    while let digit = digits(1) {
      if count < 3 { value = value * 10 + digit }
      count += 1
    }
    guard count > 0 else { return nil }
    for _ in min(count, 3)..<3 { value *= 10 }
    return value
  }

  /// Reads `+hh`, `+hhmm` or `+hh:mm`, or the same with `-`, as seconds east of UTC.
  mutating func offset() -> Int64? {
    let isWest = take("-")
    guard isWest || take("+"), let hours = digits(2), hours <= 23 else { return nil }
    _ = take(":")
    let minutes = digits(2) ?? 0
    guard minutes <= 59 else { return nil }
    let seconds = Int64(hours * 3600 + minutes * 60)
    return isWest ? -seconds : seconds
  }
}
