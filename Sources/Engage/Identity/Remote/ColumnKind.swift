import EngageRules

/// The ways in which a service may store a column's values, by type (reference identity 3.2, decisions 61).
package enum ColumnKind: Sendable, Equatable {
  case text
  /// Text whose case the service may change.
  case email
  case yesNo
  case number
  /// A date with or without a time of day.
  case date
  case time
  case phone
  /// Countries, selections and similar types, stored as strings.
  case other

  /// - Parameter type: The number used by databases or the name used by relational tables; nil for system columns.
  package init(type: String?) {
    switch type?.uppercased() ?? "" {
    case "", "0", "19", "TEXT", "SYNC_ID": self = .text
    case "EMAIL": self = .email
    case "1", "YESNO": self = .yesNo
    case "2", "NUMERIC": self = .number
    case "3", "14", "17", "DATE", "DATE_TIME": self = .date
    case "4", "TIME": self = .time
    case "15", "16", "PHONE": self = .phone
    default: self = .other
    }
  }

  /// Whether a different value in the column reveals that the response is about another recipient (reference decisions
  /// 36).
  package var isText: Bool { self == .text || self == .email }

  /// Whether the stored value corresponds to the written one.
  package func keeps(_ written: String, as kept: String) -> Bool {
    let (one, other) = (RecipientQuestion.trimmed(written), RecipientQuestion.trimmed(kept))
    if one.elementsEqual(other) { return true }
    if one.isEmpty || other.isEmpty { return false }
    switch self {
    case .email: return RecipientQuestion.isSame(written, kept)
    case .yesNo:
      guard let meaning = Self.meaning(one) else { return false }
      return meaning == Self.meaning(other)
    case .number:
      guard let value = Self.decimal(one) else { return false }
      return value == Self.decimal(other)
    case .date: return CivilText(one).map { date in CivilText(other).map(date.isKept) ?? false } ?? false
    case .time: return CivilText.minute(of: one).map { $0 == CivilText.minute(of: other) } ?? false
    case .phone:
      let digits = { (text: [UInt8]) in text.filter { (0x30...0x39).contains($0) } }
      return !digits(one).isEmpty && digits(one) == digits(other)
    case .text, .other:
      return AutomaticMobileUserId.isUUID(one) && AutomaticMobileUserId.isUUID(other)
        && RecipientQuestion.isSame(written, kept)
    }
  }

  /// Whether the column truncated the value: `kept` is only the beginning of `written`.
  func cuts(_ written: String, to kept: String) -> Bool {
    let (one, other) = (RecipientQuestion.trimmed(written), RecipientQuestion.trimmed(kept))
    return isText && !other.isEmpty && other.count < one.count && one.starts(with: other)
  }

  private static func meaning(_ text: [UInt8]) -> Bool? {
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "yes", "y", "true", "t", "1", "on": true
    case "no", "n", "false", "f", "0", "off": false
    default: nil
    }
  }

  /// Returns a number in canonical form, without commas between thousands; nil for anything but a number.
  static func decimal(_ text: [UInt8]) -> String? {
    var text = text
    if text.first == UInt8(ascii: "+") { text.removeFirst() }
    let groups = text.prefix { $0 != UInt8(ascii: ".") }.split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    if groups.count > 1 {
      guard groups.dropFirst().allSatisfy({ $0.count == 3 }), (1...4).contains(groups[0].count) else { return nil }
      text.removeAll { $0 == UInt8(ascii: ",") }
    }
    var power = 0
    if let mark = text.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      guard let exponent = Int(String(decoding: text[(mark + 1)...], as: UTF8.self)), abs(exponent) <= 40 else {
        return nil
      }
      power = exponent
      text.removeSubrange(mark...)
    }
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    let isNegative = first.first == UInt8(ascii: "-")
    var whole = Array(first.dropFirst(isNegative ? 1 : 0))
    var fraction = Array(parts.count > 1 ? parts[1] : [])
    guard !whole.isEmpty || !fraction.isEmpty, (whole + fraction).allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: abs(power))
    if power > 0 {
      fraction += zeros
      whole += fraction.prefix(power)
      fraction.removeFirst(power)
    } else if power < 0 {
      whole = zeros + whole
      fraction = whole.suffix(-power) + fraction
      whole.removeLast(-power)
    }
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    let digits = whole.drop { $0 == UInt8(ascii: "0") }
    let value = String(decoding: digits, as: UTF8.self) + "." + String(decoding: fraction, as: UTF8.self)
    return isNegative && value != "." ? "-" + value : value
  }
}

/// A date with an optional time of day, without a time zone, in one of the service's formats (reference identity 2.4).
struct CivilText {
  private var year = 0
  private var hasCentury = true
  private var month = 0
  private var day = 0
  /// The minute of the day; nil for a day alone.
  private var minute: Int?

  /// Returns nil for anything but `M/d/yy`, `MM/dd/yyyy` and `yyyy-MM-dd`, each with or without a time.
  init?(_ text: [UInt8]) {
    let words = text.split { $0 == 0x20 || $0 == UInt8(ascii: "T") }
      .map { String(decoding: $0, as: UTF8.self) }
    guard let date = words.first else { return nil }
    let isISO = date.contains("-")
    let numbers = date.split(separator: isISO ? "-" : "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 3, let first = numbers[0], let second = numbers[1], let third = numbers[2] else {
      return nil
    }
    (year, month, day) = isISO ? (first, second, third) : (third, first, second)
    hasCentury = year > 99
    guard (1...12).contains(month), (1...31).contains(day), year >= 0 else { return nil }
    guard words.count > 1 else { return }
    minute = Self.minute(of: Array(words.dropFirst().joined(separator: " ").utf8))
    if minute == nil { return nil }
  }

  /// Returns the minute of the day from the service's formats `HH:mm:ss`, `HH:mm` and `h:mm a`, with `:` or `.` as the
  /// separator; nil for anything else.
  static func minute(of text: [UInt8]) -> Int? {
    let words = text.split { $0 == 0x20 }.map { String(decoding: $0, as: UTF8.self) }
    let time = (words.first ?? "").split { $0 == ":" || $0 == "." }.prefix(3).map {
      Int($0.prefix { ("0"..."9").contains($0) }) ?? 60
    }
    guard time.count > 1, time.allSatisfy({ $0 < 60 }), time[0] < 24 else { return nil }
    var hour = time[0]
    switch words.dropFirst().first?.lowercased() {
    case "am": hour %= 12
    case "pm": hour = hour % 12 + 12
    default: break
    }
    return hour * 60 + time[1]
  }

  /// Whether the service may have stored this value as `other`. Date columns drop times; otherwise, a missing time
  /// means midnight.
  func isKept(as other: CivilText) -> Bool {
    let sameYear = hasCentury && other.hasCentury ? year == other.year : year % 100 == other.year % 100
    guard sameYear, month == other.month, day == other.day else { return false }
    return other.minute == nil || minute ?? 0 == other.minute
  }
}
