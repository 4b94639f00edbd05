/// A service's message, used in reasons, faults and refusals. Every initializer hides secrets and addresses
/// (reference decisions 39).
public struct ServiceWords: Sendable, Equatable, ExpressibleByStringLiteral {
  public let text: String

  public init(_ text: String) { self.text = String(decoding: SecretMask.masked(Array(text.utf8)), as: UTF8.self) }

  /// Takes the message from the beginning of a response body.
  public init(_ body: [UInt8]) {
    // The body is masked before it is truncated, so that no part of a secret remains at the end.
    let masked = SecretMask.masked(Array(body.prefix(Self.longestBody * 8)))
    text = String(decoding: masked.prefix(Self.longestBody), as: UTF8.self)
  }

  public init(stringLiteral text: String) { self.init(text) }

  private static let longestBody = 2048
  private static let longest = 200

  /// Returns a service's words with `…` in place of anything that may be a value: terms other than ASCII words and
  /// codes such as `invalid_grant`, and values of the request. Numbers of up to three digits, such as a status, remain,
  /// as do column names and services' own words, unless they are part of a request value of several terms, such as a
  /// version. Long messages are truncated.
  ///
  /// - Parameter request: the request's body: JSON, XML, or text that is a single value.
  public static func withoutValues(_ words: String, of request: [UInt8]) -> String {
    let known = KnownTexts(request[...])
    var shown = ""
    var rest = Array(words.utf8)[...]
    while let first = rest.first, shown.utf8.count < longest {
      let term = rest.prefix { isPart($0) }
      guard !term.isEmpty else {
        shown += first < 0x20 || first == 0x7F ? " " : String(UnicodeScalar(first))
        rest = rest.dropFirst()
        continue
      }
      let name = longestStart(of: rest, known.names, lowercased(term))
      let value = longestStart(of: rest, known.values, lowercased(term))
      let taken = rest.prefix(max(name, value, term.count))
      rest = rest.dropFirst(taken.count)
      let mayShow = name == taken.count || value <= term.count && mayShow(term, known.terms)
      shown += mayShow ? String(decoding: taken, as: UTF8.self) : "…"
    }
    return rest.isEmpty ? shown : shown + "…"
  }

  /// Returns the length in bytes of the longest known text with which `words` begins; 0 if there is none.
  private static func longestStart(
    of words: ArraySlice<UInt8>, _ texts: [[UInt8]: Set<[UInt8]>], _ term: [UInt8]
  ) -> Int {
    guard let texts = texts[term] else { return 0 }
    return texts.lazy.filter { text in
      let start = words.prefix(text.count)
      return lowercased(start).elementsEqual(text) && words.dropFirst(text.count).first.map(isPart) != true
    }.map(\.count).max() ?? 0
  }

  /// The words that known service faults use.
  private static let own = Set(
    """
    access an and any array authenticated been cannot column columns concurrent contact data database date deadlock does error exceeded exist \
    expired failed field found has in integer invalid is key limits list max member missing no not number of or parameter reached recipient \
    refused required requests row saved saving service session such table the there to token too type unique unknown user value was with \
    wrong
    """.split(separator: " ").map { Array($0.utf8) })

  private static func mayShow(_ term: ArraySlice<UInt8>, _ values: Set<[UInt8]>) -> Bool {
    let folded = lowercased(term)
    if own.contains(folded) { return true }
    if term.allSatisfy(\.isASCIIDigit) { return term.count <= 3 }
    // Codes such as invalid_grant are words too.
    let isCode = term.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    return (isCode || term.allSatisfy(\.isASCIILetter)) && !values.contains(folded)
  }

  // MARK: - Values

  /// The values and column names of a request, in lower case.
  private struct KnownTexts {
    /// The terms of its values.
    var terms: Set<[UInt8]> = []
    /// The values of several terms, by their first term, except long ones and those of two or three terms
    /// that are all services' own words.
    var values: [[UInt8]: Set<[UInt8]>] = [:]
    /// The column names, by their first term.
    var names: [[UInt8]: Set<[UInt8]>] = [:]

    init(_ request: ArraySlice<UInt8>) {
      switch request.first {
      case UInt8(ascii: "{"), UInt8(ascii: "["): forEachString(request) { take($0, isName: $1) }
      case UInt8(ascii: "<"): forEachText(request) { take($0, isName: $1) }
      default: take(request, isName: false)
      }
    }

    private mutating func take(_ text: ArraySlice<UInt8>, isName: Bool) {
      let parts = text.split { !isPart($0) }
      guard let first = parts.first, let last = parts.last else { return }
      let whole = lowercased(text[first.startIndex..<last.endIndex])
      if isName {
        names[lowercased(first), default: []].insert(whole)
        return
      }
      let folded = parts.map(lowercased)
      terms.formUnion(folded)
      guard parts.count > 1, whole.count <= longest, parts.count > 3 || !own.isSuperset(of: folded) else { return }
      values[folded[0], default: []].insert(whole)
    }
  }

  /// Visits the strings in a JSON document except member names, and says whether each is the value of a member `name`.
  private static func forEachString(_ json: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, Bool) -> Void) {
    var rest = json
    var isName = false
    while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
      var end = start + 1
      while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") { end += rest[end] == UInt8(ascii: "\\") ? 2 : 1 }
      guard end < rest.endIndex else { return body(rest[(start + 1)...], false) }
      let text = rest[(start + 1)..<end]
      rest = rest[(end + 1)...]
      let isKey = rest.first { $0 != 0x20 } == UInt8(ascii: ":")
      if !isKey { body(text, isName) }
      isName = isKey && text.elementsEqual("name".utf8)
    }
  }

  /// Visits the strings between XML tags and in `name` attributes, and says whether each is a column name.
  private static func forEachText(_ xml: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, Bool) -> Void) {
    let name = Array("NAME>".utf8)
    let attribute = Array(" name=\"".utf8)
    var isName = false
    let opening = Array("<![CDATA[".utf8)
    let closing = Array("]]>".utf8)
    var rest = xml
    while !rest.isEmpty {
      if rest.starts(with: opening) {
        rest = rest.dropFirst(opening.count)
        let end = rest.indices.first { rest[$0...].starts(with: closing) } ?? rest.endIndex
        body(rest[..<end], isName)
        rest = rest[end...].dropFirst(closing.count)
      } else if rest.first == UInt8(ascii: "<") {
        let tag = rest.dropFirst().prefix { $0 != UInt8(ascii: ">") }
        rest = rest.dropFirst(tag.count + 1)
        isName = (tag + rest.prefix(1)).elementsEqual(name)
        rest = rest.dropFirst()
        if let start = tag.firstRange(of: attribute)?.upperBound {
          body(tag[start...].prefix { $0 != UInt8(ascii: "\"") }, true)
        }
      } else {
        body(rest.prefix { $0 != UInt8(ascii: "<") }, isName)
        rest = rest.drop { $0 != UInt8(ascii: "<") }
      }
    }
  }

  private static func lowercased(_ term: ArraySlice<UInt8>) -> [UInt8] { term.map(Text.lowered) }

  private static func isPart(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte >= 0x80 || "@-_".utf8.contains(byte)
  }
}
