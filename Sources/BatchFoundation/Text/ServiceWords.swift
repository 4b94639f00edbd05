/// What a service says. Reasons, faults and refusals are made of these words, and there is no other way to them than past
/// ``init(_:)``, which hides secrets and addresses in them (reference decisions 39).
public struct ServiceWords: Sendable, Equatable, ExpressibleByStringLiteral {
  public let text: String

  public init(_ text: String) { self.text = String(decoding: SecretMask.masked(Array(text.utf8)), as: UTF8.self) }

  /// The beginning of a body.
  public init(_ body: [UInt8]) {
    // Hidden first and cut then, so that no part of a secret is left at the cut.
    let masked = SecretMask.masked(Array(body.prefix(Self.longestBody * 8)))
    text = String(decoding: masked.prefix(Self.longestBody), as: UTF8.self)
  }

  public init(stringLiteral text: String) { self.init(text) }

  private static let longestBody = 2048
  private static let longest = 200

  /// The words without anything that may be a value: what has digits, is not plain text, or is among the values of the request.
  /// Up to three digits alone, such as a status, stay.
  ///
  /// - Parameter request: JSON, XML, or text that is a value as a whole.
  public static func withoutValues(_ words: String, of request: [UInt8]) -> String {
    let known = values(request[...])
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
    // Codes such as invalid_grant are words too.
    let isCode = term.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    return (isCode || term.allSatisfy(isLetter)) && !known.contains(lowercased(term))
  }

  // MARK: - Values

  private static func values(_ request: ArraySlice<UInt8>) -> Set<[UInt8]> {
    var terms: Set<[UInt8]> = []
    func take(_ text: ArraySlice<UInt8>) { terms.formUnion(text.split { !isPart($0) }.map(lowercased)) }
    switch request.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): forEachString(request, take)
    case UInt8(ascii: "<"): forEachText(request, take)
    default: take(request)
    }
    return terms
  }

  /// The strings of a JSON document that are not names of members.
  private static func forEachString(_ json: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    var rest = json
    while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
      var end = start + 1
      while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") { end += rest[end] == UInt8(ascii: "\\") ? 2 : 1 }
      guard end < rest.endIndex else { return body(rest[(start + 1)...]) }
      let text = rest[(start + 1)..<end]
      rest = rest[(end + 1)...]
      if rest.first(where: { $0 != 0x20 }) != UInt8(ascii: ":") { body(text) }
    }
  }

  /// What stands between the tags of an XML document.
  private static func forEachText(_ xml: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    let opening = Array("<![CDATA[".utf8)
    let closing = Array("]]>".utf8)
    var rest = xml
    while !rest.isEmpty {
      if rest.starts(with: opening) {
        rest = rest.dropFirst(opening.count)
        let end = rest.indices.first { rest[$0...].starts(with: closing) } ?? rest.endIndex
        body(rest[..<end])
        rest = rest[end...].dropFirst(closing.count)
      } else if rest.first == UInt8(ascii: "<") {
        rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
      } else {
        body(rest.prefix { $0 != UInt8(ascii: "<") })
        rest = rest.drop { $0 != UInt8(ascii: "<") }
      }
    }
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
