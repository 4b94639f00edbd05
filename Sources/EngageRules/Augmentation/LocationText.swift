import BatchFoundation

/// Coordinates as text: the shortest decimal of the double with at most ten fraction digits, half rounded away from zero
/// (reference decisions 20).
enum CoordinateText {
  static let fractionDigits = 10

  static func text(_ value: Double) -> String {
    if value == 0 { return "0" }
    var (digits, point) = ECMAScriptNumber.shortestDigits(abs(value))
    let kept = point + fractionDigits
    if kept < digits.utf8.count {
      guard kept >= 0 else { return "0" }
      var rounded = Array(digits.utf8.prefix(kept))
      if Array(digits.utf8)[kept] >= UInt8(ascii: "5") {
        var place = kept - 1
        while place >= 0, rounded[place] == UInt8(ascii: "9") {
          rounded[place] = UInt8(ascii: "0")
          place -= 1
        }
        if place >= 0 {
          rounded[place] += 1
        } else {
          rounded.insert(UInt8(ascii: "1"), at: 0)
          point += 1
        }
      }
      while rounded.last == UInt8(ascii: "0") { rounded.removeLast() }
      if rounded.isEmpty { return "0" }
      digits = String(decoding: rounded, as: UTF8.self)
    }
    return (value < 0 ? "-" : "") + ECMAScriptNumber.plain(digits, point)
  }
}

/// `City, State ZIP, Country (CC)`; missing parts go with their separators (reference events 5.4).
enum AddressText {
  static func text(_ place: Placemark, in arena: Arena) -> Text? {
    let region = joined([place[.state], place[.postalCode]], " ")
    let code = place[.countryCode].flatMap { $0.isEmpty ? nil : "(\($0.description))" }
    let country = joined([place[.country]?.description, code], " ")
    let whole = joined([place[.city]?.description, region, country], ", ")
    return whole.map { arena.text($0) }
  }

  private static func joined(_ parts: [Text?], _ separator: String) -> String? {
    joined(parts.map { $0?.description }, separator)
  }

  private static func joined(_ parts: [String?], _ separator: String) -> String? {
    let present = parts.compactMap { $0 }.filter { !$0.isEmpty }
    return present.isEmpty ? nil : present.joined(separator: separator)
  }
}
