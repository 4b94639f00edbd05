import BatchFoundation
import BatchWire

/// The error text of a response, searched for sentences that reveal more than its status and error id (reference
/// identity 1.3, 4 and 7). The search ignores the case of ASCII letters.
///
/// A sentence counts only in faults and reported errors, and only if it is not quoted from the request. Every sent
/// value that contains a sentence is therefore removed first, as often as it was sent, even if the quotation is
/// truncated or differs in white space (reference decisions 59).
struct ServiceText {
  private static let throttles = sentences(["max number of concurrent"])
  private static let tokenLimits = sentences(["token limits exceeded", "token limit exceeded"])
  private static let ends = sentences([
    "access token has expired", "session has expired or is invalid", "session is invalid or has expired",
  ])

  /// The text with ASCII letters in lower case and each run of white space as one blank.
  private var text: [UInt8]

  var saysThrottled: Bool { Self.has(Self.throttles, text) }
  var saysTokenLimit: Bool { Self.has(Self.tokenLimits, text) }
  var saysExpired: Bool { Self.has(Self.ends, text) }

  /// - Parameter sent: The content of the request as JSON or XML; no values are found in anything else.
  init(_ text: String, quoting sent: [UInt8]) {
    self.text = Self.folded(text)
    if sent.isEmpty || !Self.hasSentence(self.text) { return }
    let texts = Self.strings(sent) ?? []
    let values = Dictionary(texts.filter { Self.hasSentence(Self.folded($0)) }.map { ($0, 1) }, uniquingKeysWith: +)
    for (value, count) in values.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) { take(out: value, count) }
  }

  /// Reads the body of a refusal, ignoring proxy pages. With `errorsOnly`, only the errors in a JSON body are read.
  init(_ body: [UInt8], errorsOnly: Bool = false, quoting sent: [UInt8]) {
    let errors: [String]?
    if errorsOnly, let root = Self.json(body) {
      errors = HTTPAnswer.errors(root).flatMap(Self.strings)
    } else {
      errors = Self.strings(body, ofFaults: true) ?? Self.plain(body).map { [$0] }
    }
    self.init((errors ?? []).joined(separator: "\n"), quoting: sent)
  }

  private mutating func take(out value: String, _ count: Int) {
    var left = count
    // The value as is, and escaped for JSON and for XML.
    for form in [value, JSONString.escaped(value), XMLWriter.escaped(value)].map({ Self.trimmed(Self.folded($0)) }) {
      while left > 0, let place = quote(of: form) {
        text.replaceSubrange(place, with: [0])
        left -= 1
      }
    }
  }

  /// Returns the range of a value, or of a truncated value that still contains the whole sentence; otherwise nil.
  private func quote(of value: [UInt8]) -> Range<Int>? {
    if let whole = text.firstRange(of: value) { return whole }
    for sentence in Self.all {
      guard let place = value.firstRange(of: sentence) else { continue }
      let parts = [value[place.lowerBound...], value[..<place.upperBound], value[place]]
      guard let rest = parts.lazy.compactMap({ text.firstRange(of: $0) }).first else { continue }
      let before = zip(text[..<rest.lowerBound].reversed(), value[..<place.lowerBound].reversed())
      let after = zip(text[rest.upperBound...], value[place.upperBound...])
      return (rest.lowerBound - before.prefix { $0 == $1 }.count)..<(rest.upperBound + after.prefix { $0 == $1 }.count)
    }
    return nil
  }

  private static func sentences(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  private static let all = throttles + tokenLimits + ends

  private static func has(_ sentences: [[UInt8]], _ text: [UInt8]) -> Bool { sentences.contains { text.contains($0) } }

  private static func hasSentence(_ text: [UInt8]) -> Bool { has(all, text) }

  /// Returns the text with ASCII letters in lower case and each run of white space as one blank.
  private static func folded(_ text: String) -> [UInt8] {
    var folded: [UInt8] = []
    for scalar in text.unicodeScalars {
      if !scalar.properties.isWhitespace {
        folded += UTF8.encode(scalar).map(Array.init) ?? []
      } else if folded.last != 0x20 {
        folded.append(0x20)
      }
    }
    return folded.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func trimmed(_ folded: [UInt8]) -> [UInt8] {
    Array(folded.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed())
  }

  // MARK: - Strings of a document

  /// - Parameter ofFaults: Whether only faults count in XML, so that an HTML page has no strings.
  /// - Returns: The document's strings; nil for anything that is neither JSON nor XML.
  private static func strings(_ document: [UInt8], ofFaults: Bool = false) -> [String]? {
    if let root = json(document) { return strings(root) }
    // A body that does not parse has no strings.
    if ofFaults { return (try? XMLAPIAnswer.parse(document))?.compactMap(\.fault?.message) }
    return (try? XMLDocument.parse(document)).map(strings)
  }

  private static func json(_ document: [UInt8]) -> JSONNode? {
    // A bare string or number is not a document.
    guard let node = try? JSONNode.parse(document), node.members != nil || node.array != nil else { return nil }
    return node
  }

  private static func strings(_ node: JSONNode) -> [String] {
    if let text = node.string { return [text] }
    return (node.array ?? []).flatMap(strings) + (node.members ?? []).flatMap { [$0.key] + strings($0.value) }
  }

  private static func strings(_ element: XMLElement) -> [String] {
    [element.text] + element.attributes.map(\.value) + element.elements.flatMap(strings)
  }

  /// Returns the body as a string; nil for markup.
  private static func plain(_ body: [UInt8]) -> String? {
    let first = body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return first == UInt8(ascii: "<") ? nil : String(decoding: body, as: UTF8.self)
  }

  /// Returns the reason in a refusal (JSON, a fault or one line of text); nil for pages and empty bodies.
  static func reason(_ body: [UInt8]) -> ServiceWords? {
    let start = body.prefix(8192)
    guard let first = start.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      // A body that is not JSON has no reason.
      guard let node = try? JSONNode.parse(body) else { return nil }
      let places = ["error_description", "message", "errorMessage", "description", "detail", "error"]
      return places.lazy.compactMap { node[$0]?.string ?? node["error"]?[$0]?.string }.first { !$0.utf8.isEmpty }
        .map { ServiceWords($0) }
    case UInt8(ascii: "<"):
      // A proxy page is not a response from the service.
      guard let results = try? XMLAPIAnswer.parse(body) else { return nil }
      return (results.first?.fault?.message).map { ServiceWords($0) }
    default:
      let line = start.prefix { $0 >= 0x20 }
      return line.count == body.count && line.count <= 200 ? ServiceWords(body) : nil
    }
  }
}
