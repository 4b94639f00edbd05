import BatchConfiguration
import BatchFoundation
import BatchIngest

/// Classifies a column by its values.
enum ColumnLook {
  /// The format of times in a column. The pattern is nil if the times can be read without one.
  struct Times {
    enum Part { case whole, day, clock }

    var part: Part
    var pattern: String?
    var remarks: [String] = []
    /// Whether nearly all values identify their zone, as epoch numbers do.
    var namesZone = false
    /// Another pattern that fits as well but reads the values differently; nil if there is none.
    var other: String?
    /// Whether it is unclear which of two patterns is right.
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
  /// The years 2000 to 2099. A number outside this range is another quantity, or a date in digits.
  private static let likely: Range<Int64> = 946_684_800_000..<4_102_444_800_000

  /// Returns the format of times; nil if more than one in twenty values are not times.
  static func times(_ texts: [String]) -> Times? {
    guard !areRounded(texts), texts.prefix(3).contains(where: { $0.utf8.count < 60 && $0.contains(where: \.isNumber) })
    else { return nil }
    let most = texts.count / 20
    func instants(_ form: MapTime.Form) -> [Instant?] {
      let time = MapTime(form: form, zone: .utc)
      return texts.map { text in Array(text.utf8).withText { time.instant($0.trimmed) } }
    }
    func misfits(_ instants: [Instant?]) -> Int { instants.count { !($0.map { likely ~= $0.milliseconds } ?? false) } }
    func fitting(_ patterns: [String]) -> [(text: String, misfits: Int)] {
      patterns.compactMap { pattern in
        // All values are tried only if the pattern fits one of the first three.
        guard let form = Self.form(pattern) else { return nil }
        let time = MapTime(form: form, zone: .utc)
        guard texts.prefix(3).contains(where: { Array($0.utf8).withText { time.instant($0.trimmed) != nil } }) else {
          return nil
        }
        let count = misfits(instants(form))
        return count <= most ? (pattern, count) : nil
      }
    }
    func remarks(on misfits: Int) -> [String] {
      misfits == 0 ? [] : ["\(misfits) of \(texts.count) \(misfits == 1 ? "does" : "do") not match"]
    }
    func found(_ part: Times.Part, _ fits: [(text: String, misfits: Int)]) -> Times? {
      guard let least = fits.min(by: { $0.misfits < $1.misfits }), let form = Self.form(least.text) else { return nil }
      var times = Times(part: part, pattern: least.text, remarks: [least.text])
      let best = instants(form)
      let equal = fits.filter {
        $0.misfits == least.misfits && Self.form($0.text).map { instants($0) != best } ?? false
      }
      if let other = equal.first {
        times.other = other.text
        times.remarks = ["\(least.text) or \(other.text): these records fit both"]
      } else if least.text.hasPrefix("dd") {
        times.remarks.append("the day comes first")
      } else if least.text.hasPrefix("MM"), !least.text.hasPrefix("MMM") {
        times.remarks.append("the month comes first")
      }
      times.remarks += remarks(on: least.misfits)
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
      return Times(part: .whole, remarks: remarks(on: misfits(automatic)), namesZone: texts.count - named <= most)
    }
    return found(.whole, fitting(wholes))
  }

  /// Returns the time format for a pattern; all patterns listed here are valid.
  private static func form(_ pattern: String) -> MapTime.Form? { (try? TimePattern(pattern)).map { .pattern($0) } }

  private static func clock(_ texts: [String]) -> Times? {
    let dated = texts.map { Array("2026-01-15 \($0)".utf8) }
    let clock = clocks.first { clock in
      guard let form = form("yyyy-MM-dd \(clock)") else { return false }
      let time = MapTime(form: form, zone: .utc)
      return dated.allSatisfy { $0.count < 30 && $0.withText { time.instant($0) != nil } }
    }
    return clock.map { Times(part: .clock, pattern: $0) }
  }

  /// Returns a description of numeric times that no map reads, such as a spreadsheet's; nil for other values.
  static func foreignClock(_ texts: [String]) -> String? {
    let numbers = texts.compactMap { Double($0.replacing(",", with: ".")) }
    guard numbers.count == texts.count, let first = numbers.first else { return nil }
    if areRounded(texts) { return "times rounded by a spreadsheet; export them as text" }
    func all(_ range: ClosedRange<Double>) -> Bool { numbers.allSatisfy { range ~= $0 } }
    if all(40_000...60_000), first != first.rounded() {
      return "spreadsheet serial dates, which maps cannot read; export the column as text, such as 2026-01-15 08:00:00"
    }
    return all(600_000_000...900_000_000)
      ? "seconds since 2001, which maps cannot read; add 978307200 to each value" : nil
  }

  /// Returns whether all values are numbers and at least one certainly has a decimal comma; in `1,234`, the comma may
  /// separate thousands.
  static func haveDecimalCommas(_ texts: [String]) -> Bool {
    let parts = texts.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    return parts.contains { $0.count == 2 && $0[1].count != 3 }
      && parts.allSatisfy { number in
        number.count <= 2 && number.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isNumber || ".-".contains($0) } }
          && !(number.count == 2 && number[1].contains("."))
      }
  }

  static func isURL(_ text: String) -> Bool { text.wholeMatch(of: /[0-9A-Za-z+.\-]{1,40}:\/\/[^ ]*/) != nil }

  /// Returns whether the string may be a deep link, which is a URL or a path.
  static func isLink(_ text: String) -> Bool {
    isURL(text) || text.contains("/") && !text.contains { " {}".contains($0) } && times([text]) == nil
  }

  static func isZone(_ text: String) -> Bool { (try? ZoneDatabase(environment: [:]).zone(text)) != nil }
  /// Returns whether the string is an offset from UTC, such as `+01:00`.
  static func isOffset(_ text: String) -> Bool { text.wholeMatch(of: /Z|[+-]\d\d:?\d\d/) != nil }
  /// Returns whether the string is an integer written with a fraction, such as `12.0`.
  static func isWhole(_ text: String) -> Bool { text.wholeMatch(of: /\d+\.0/) != nil }
  /// Returns whether the string is a number that a spreadsheet rounded, such as `3.55E+14`.
  static func isRounded(_ text: String) -> Bool { text.wholeMatch(of: /\d[.,]?\d*[eE]\+\d+/) != nil }
  /// Returns whether most of the values are numbers that a spreadsheet rounded to a few digits.
  private static func areRounded(_ texts: [String]) -> Bool {
    texts.count { isRounded($0) && $0.utf8.count < 12 } * 2 > texts.count
  }
  /// Returns whether the string begins or ends with white space, an invisible character or, if it is an id, a quote or
  /// a spreadsheet's `=`.
  static func isWrapped(_ text: String, isID: Bool) -> Bool {
    [text.unicodeScalars.first, text.unicodeScalars.last].compactMap(\.self).contains {
      $0.properties.isWhitespace || $0.properties.generalCategory == .format
    } || isID && ("='\"".contains(text.prefix(1)) || "'\"".contains(text.suffix(1)))
  }
  /// Returns whether the string is a model, operating system or kind of device, which many people share.
  static func isDeviceClass(_ text: String) -> Bool {
    let classes =
      /((iphone|ipad|pixel|galaxy|samsung|xiaomi|huawei|oneplus|redmi|moto|macbook)([ 0-9][^_]*)?|sm-[a-z]\d+.*)|mobile|tablet|desktop|(smart)?phone|web|tv|watch|ios|android|ipados|windows|macos|linux|browser|other/
    return text.lowercased().wholeMatch(of: classes) != nil
  }

  /// Returns whether the string is an object or a list. Braces alone do not suffice, because an id may be in braces.
  static func isStructure(_ text: String) -> Bool {
    ["{", "["].contains(text.prefix(1)) && (text.utf8.count == 2 || text.contains { ",:'\"".contains($0) })
  }

  /// Returns whether the string is an object or a list in another notation than JSON, such as Python's.
  static func isOtherNotation(_ text: String) -> Bool {
    isStructure(text) && (try? JSONNode.parse(Array(text.utf8))) == nil
  }

  /// Returns whether all values look like ids: they have a digit and no blank, and are not plain quantities.
  static func areIDs(_ texts: Set<String>) -> Bool {
    !texts.isEmpty
      && texts.allSatisfy { text in
        text.utf8.count > 1 && text.utf8.count <= 128 && text.contains(where: \.isNumber)
          && !text.contains { $0 == " " || $0 == "," || $0 == "/" }
          && (Double(text) == nil || text.utf8.count >= 6 && !text.contains("."))
      }
  }

  /// Returns whether the string is a value rather than a column name.
  static func isValue(_ text: String) -> Bool {
    Double(text.replacing(",", with: ".")) != nil || isURL(text) || times([text]) != nil || text.contains("@")
      || text.utf8.count >= 32 && areIDs([text])
  }

  /// The actions on notifications, by their names in logs; nil for names that mean neither "received" nor "opened".
  static let actions: [String: String?] = [
    "received": "received", "receive": "received", "delivered": "received", "delivery": "received",
    "displayed": "received", "shown": "received", "opened": "opened", "open": "opened", "clicked": "opened",
    "click": "opened", "tapped": "opened", "tap": "opened", "directopen": "opened", "sent": nil, "send": nil,
    "comappleundefaultactionidentifier": "opened", "comappleundismissactionidentifier": nil, "failed": nil,
    "bounced": nil, "dismissed": nil, "dropped": nil, "queued": nil, "error": nil, "expired": nil,
  ]

  /// Returns the actions that values name, and the unknown values; nil if most values are unknown, or none means
  /// "received" or "opened".
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
