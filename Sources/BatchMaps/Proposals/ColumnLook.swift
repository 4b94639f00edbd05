import BatchConfiguration
import BatchFoundation
import BatchIngest

/// What the values of a column are, by trying.
enum ColumnLook {
  /// Times: the pattern that reads them, nil for ones that need none.
  struct Times {
    enum Part { case whole, day, clock }

    var part: Part
    var pattern: String?
    /// What there is to say of it.
    var remarks: [String] = []
    /// Whether each of them says its zone, as numbers do.
    var namesZone = false
    /// Another pattern that reads them as well, and otherwise.
    var other: String?
    /// Whether the values leave open which of two patterns it is.
    var isOpen: Bool { other != nil }
  }

  private static let days = [
    "yyyy-MM-dd", "MM/dd/yyyy", "dd/MM/yyyy", "dd.MM.yyyy", "yyyy/MM/dd", "yyyy.MM.dd", "yyyy:MM:dd", "MM-dd-yyyy",
    "dd-MM-yyyy", "dd-MMM-yyyy", "MMM d yyyy", "MMM d, yyyy", "d MMM yyyy", "d. MMM yyyy", "yyyyMMdd",
  ]
  private static let clocks = [
    "HH:mm:ss", "HH:mm", "hh:mm:ss a", "hh:mm a", "hh:mm:ssa", "hh:mma", "HH:mm:ss.S", "HH:mm:ss,S", "HH.mm.ss",
  ]
  private static let wholes: [String] = {
    var patterns: [String] = ["yyyyMMddHHmmss", "yyyyMMddHHmm"]
    for day in days {
      for gap in [" ", ", ", "'T'"] {
        for clock in clocks {
          for zone in ["", " Z", "Z"] { patterns.append("\(day)\(gap)\(clock)\(zone)") }
        }
      }
    }
    return patterns
  }()
  /// The beginning of 2000 and of 2100: a number that says a time outside counts something else, or is a date in digits.
  private static let likely: Range<Int64> = 946_684_800_000..<4_102_444_800_000

  /// Nil for texts of which more than one in twenty is no such time.
  static func times(_ texts: [String]) -> Times? {
    guard texts.prefix(3).contains(where: { $0.utf8.count < 60 && $0.contains(where: \.isNumber) }) else { return nil }
    let most = texts.count / 20
    func instants(_ form: MapTime.Form) -> [Instant?] {
      let time = MapTime(form: form, zone: .utc)
      return texts.map { text in Array(text.utf8).withText { time.instant($0.trimmed) } }
    }
    func misfits(_ instants: [Instant?]) -> Int { instants.count { !($0.map { likely ~= $0.milliseconds } ?? false) } }
    func fitting(_ patterns: [String]) -> [(text: String, misfits: Int)] {
      patterns.compactMap { pattern in
        // One text of three has to fit before all are tried.
        guard let form = Self.form(pattern) else { return nil }
        let time = MapTime(form: form, zone: .utc)
        guard texts.prefix(3).contains(where: { Array($0.utf8).withText { time.instant($0.trimmed) != nil } }) else {
          return nil
        }
        let count = misfits(instants(form))
        return count <= most ? (pattern, count) : nil
      }
    }
    func told(_ misfits: Int) -> [String] { misfits == 0 ? [] : ["\(misfits) of \(texts.count) are no such times"] }
    func found(_ part: Times.Part, _ fits: [(text: String, misfits: Int)]) -> Times? {
      guard let least = fits.min(by: { $0.misfits < $1.misfits }), let form = Self.form(least.text) else { return nil }
      var times = Times(part: part, pattern: least.text, remarks: [least.text])
      let best = instants(form)
      let equal = fits.filter {
        $0.misfits == least.misfits && Self.form($0.text).map { instants($0) != best } ?? false
      }
      if let other = equal.first {
        times.other = other.text
        times.remarks = ["\(least.text), or \(other.text), which these records do not tell apart"]
      } else if least.text.hasPrefix("dd") {
        times.remarks.append("the day is first")
      } else if least.text.hasPrefix("MM"), !least.text.hasPrefix("MMM") {
        times.remarks.append("the month is first")
      }
      times.remarks += told(least.misfits)
      times.namesZone = least.text.hasSuffix("Z")
      return times
    }
    if let day = found(.day, fitting(days)) { return day }
    if texts.count(where: { $0.contains(":") }) > texts.count / 2, let clock = clock(texts) { return clock }
    let automatic = instants(.automatic)
    if misfits(automatic) <= most {
      let named = texts.count { text in
        Double(text) != nil || ["Z", "z", "UTC", "GMT"].contains { text.hasSuffix($0) }
          || text.dropFirst(10).contains { "+-".contains($0) }
      }
      return Times(part: .whole, remarks: told(misfits(automatic)), namesZone: texts.count - named <= most)
    }
    return found(.whole, fitting(wholes))
  }

  /// The patterns are known to be ones.
  private static func form(_ pattern: String) -> MapTime.Form? { (try? TimePattern(pattern)).map { .pattern($0) } }

  private static func clock(_ texts: [String]) -> Times? {
    let dated = texts.map { "2026-01-15 \($0)" }
    guard dated.allSatisfy({ $0.utf8.count < 30 }) else { return nil }
    for clock in clocks {
      guard let form = form("yyyy-MM-dd \(clock)") else { continue }
      let time = MapTime(form: form, zone: .utc)
      if dated.allSatisfy({ Array($0.utf8).withText { time.instant($0) != nil } }) {
        return Times(part: .clock, pattern: clock, remarks: [])
      }
    }
    return nil
  }

  /// What a number is that a program of another kind counts time by; nil for others.
  static func foreignClock(_ texts: [String]) -> String? {
    let numbers = texts.compactMap { Double($0.replacing(",", with: ".")) }
    guard numbers.count == texts.count, let first = numbers.first else { return nil }
    func all(_ range: ClosedRange<Double>) -> Bool { numbers.allSatisfy { range ~= $0 } }
    if all(40_000...60_000), first != first.rounded() {
      return "days of a spreadsheet, which no map reads; export it as text, such as 2026-01-15 08:00:00"
    }
    return all(600_000_000...900_000_000) ? "seconds since 2001, which no map reads; add 978307200 to each" : nil
  }

  /// Whether each is a number, with a comma before its fraction where it has one; `1,234` alone may be a thousand.
  static func haveDecimalCommas(_ texts: [String]) -> Bool {
    let parts = texts.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    return parts.contains { $0.count == 2 && $0[1].count != 3 }
      && parts.allSatisfy { number in
        number.count <= 2 && number.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isNumber || ".-".contains($0) } }
          && !(number.count == 2 && number[1].contains("."))
      }
  }

  static func isURL(_ text: String) -> Bool {
    guard let end = text.utf8.firstRange(of: "://".utf8)?.lowerBound else { return false }
    let scheme = text.utf8[..<end]
    return !scheme.isEmpty && scheme.count <= 40 && !text.utf8.contains(0x20)
      && scheme.allSatisfy {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
          || "+-.".utf8.contains($0)
      }
  }

  /// Whether a text opens a place in an app: a URL, or a path.
  static func isLink(_ text: String) -> Bool {
    isURL(text) || text.contains("/") && !text.contains { " {}".contains($0) } && times([text]) == nil
  }

  static func isZone(_ text: String) -> Bool { (try? ZoneDatabase(environment: [:]).zone(text)) != nil }
  /// A distance to UTC, such as `+01:00`.
  static func isOffset(_ text: String) -> Bool { text.wholeMatch(of: /Z|[+-]\d\d:?\d\d/) != nil }
  /// A whole number that a program wrote with a fraction, as `12.0`.
  static func isWhole(_ text: String) -> Bool { text.wholeMatch(of: /\d+\.0/) != nil }
  /// A number that a spreadsheet rounded, as `3.55E+14`.
  static func isRounded(_ text: String) -> Bool { text.wholeMatch(of: /\d[.,]?\d*[eE]\+\d+/) != nil }
  /// A model, a system or a kind of devices, which people share.
  static func isDeviceClass(_ text: String) -> Bool {
    text.lowercased().wholeMatch(
      of: /(iphone|ipad|pixel|galaxy|samsung|xiaomi|huawei|oneplus|redmi|moto|macbook)([ 0-9][^_]*)?|sm-[a-z]\d+.*/)
      != nil
      || text.lowercased().wholeMatch(
        of: /mobile|tablet|desktop|(smart)?phone|web|tv|watch|ios|android|ipados|windows|macos|linux|browser|other/)
        != nil
  }

  /// An object or a list, as programs write one into a text; an id may be in braces.
  static func isStructure(_ text: String) -> Bool {
    ["{", "["].contains(text.prefix(1)) && (text.utf8.count == 2 || text.contains { ",:'\"".contains($0) })
  }

  /// Whether each has a digit and no blank, is no number that counts, and most are alike in length.
  static func areIDs(_ texts: Set<String>) -> Bool {
    !texts.isEmpty
      && texts.allSatisfy { text in
        text.utf8.count > 1 && text.utf8.count <= 128 && text.contains(where: \.isNumber)
          && !text.contains { $0 == " " || $0 == "," || $0 == "/" }
          && (Double(text) == nil || text.utf8.count >= 6 && !text.contains("."))
      }
  }

  /// Whether a text is one that stands below a header, not in it.
  static func isValue(_ text: String) -> Bool {
    Double(text.replacing(",", with: ".")) != nil || isURL(text) || times([text]) != nil || text.contains("@")
      || text.utf8.count >= 32 && areIDs([text])
  }

  /// What people do with a notification, by what logs call it; nil for what is neither a receipt nor an open.
  static let actions: [String: String?] = [
    "received": "received", "receive": "received", "delivered": "received", "delivery": "received",
    "displayed": "received", "shown": "received", "opened": "opened", "open": "opened", "clicked": "opened",
    "click": "opened", "tapped": "opened", "tap": "opened", "directopen": "opened", "sent": nil, "send": nil,
    "comappleundefaultactionidentifier": "opened", "comappleundismissactionidentifier": nil, "failed": nil,
    "bounced": nil, "dismissed": nil, "dropped": nil, "queued": nil, "error": nil, "expired": nil,
  ]

  /// Of texts that are mostly such, what each becomes, and those of which nobody knows; nil for others.
  static func actions(_ texts: [String]) -> (known: [String: String?], unknown: [String])? {
    var found: [String: String?] = [:]
    for value in Set(texts) {
      var plain = value.lowercased().filter(\.isLetter)
      for word in ["notification", "push", "message"] { plain = plain.replacing(word, with: "") }
      if let action = actions[plain] { found.updateValue(action, forKey: value) }
    }
    guard texts.count(where: { found[$0] != nil }) * 2 > texts.count else { return nil }
    return found.values.contains { $0 != nil } ? (found, Set(texts).subtracting(found.keys).sorted()) : nil
  }
}
