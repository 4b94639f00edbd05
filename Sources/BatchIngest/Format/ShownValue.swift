/// Decides which values messages may show: names of types and texts of times, which reveal nothing personal.
package enum ShownValue {
  /// The words of dates.
  private static let words: Set<String> = {
    let names = [
      "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
      "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    return Set(names + names.map { String($0.prefix(3)) }).union([
      "am", "pm", "utc", "gmt", "cet", "cest", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "t", "z", "w",
      "e",
      "date", "yesterday", "today", "tomorrow", "now", "null", "none", "nan", "nat", "true", "false",
    ])
  }()

  /// Letters, dots, dashes, few digits, and blanks only around them: no address, sentence or number of a person.
  package static func isName(_ text: String) -> Bool {
    let name = text.utf8.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }
    return isShort(text) && name.count { isDigit($0) } <= 3
      && name.allSatisfy { isLetter($0) || isDigit($0) || "_-.".utf8.contains($0) }
  }

  /// Digits, signs, and of words only those that dates have.
  package static func isTime(_ text: String) -> Bool {
    isShort(text) && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-:.,+ /()".utf8.contains($0) }
      && text.lowercased().utf8.split { !isLetter($0) }.allSatisfy {
        words.contains(String(decoding: $0, as: UTF8.self))
      }
  }

  private static func isShort(_ text: String) -> Bool { 1...60 ~= text.utf8.count }
  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
}
