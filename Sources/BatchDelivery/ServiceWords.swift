import BatchFoundation

/// What a service says about a request, for terminals and reports.
enum ServiceWords {
  private static let longest = 200

  /// The words without anything that the request may have said first: what has digits, is not plain text, or stands in the body.
  /// Up to three digits alone, such as a status, stay.
  static func withoutValues(_ words: String, of body: [UInt8]) -> String {
    let known = Set(terms(body))
    var shown = ""
    var rest = Array(words.utf8)[...]
    while let first = rest.first, shown.utf8.count < longest {
      let term = rest.prefix { isPart($0) }
      guard !term.isEmpty else {
        shown += first < 0x20 || first == 0x7F ? " " : String(UnicodeScalar(first))
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(term.count)
      shown += mayShow(term, known) ? String(decoding: term, as: UTF8.self) : "…"
    }
    return rest.isEmpty ? shown : shown + "…"
  }

  private static func mayShow(_ term: ArraySlice<UInt8>, _ known: Set<[UInt8]>) -> Bool {
    if term.allSatisfy(isDigit) { return term.count <= 3 }
    return term.allSatisfy { isLetter($0) } && !known.contains(lowercased(term))
  }

  private static func terms(_ text: [UInt8]) -> [[UInt8]] {
    text.split { !isPart($0) }.map(lowercased)
  }

  private static func lowercased(_ term: ArraySlice<UInt8>) -> [UInt8] {
    term.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte >= 0x80 || [0x40, 0x2D, 0x5F].contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
