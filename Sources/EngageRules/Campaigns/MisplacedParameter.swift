import BatchFoundation
import BatchIngest

/// Finds names of campaign parameters in a payload or link that set no campaign: another spelling, or a place that is not looked at
/// (reference decisions 56).
struct MisplacedParameter {
  let names: [Text]
  let arena: Arena

  /// A longer text is not looked into.
  private static let longestText = 1 << 16
  private static let deepest = 64

  /// The first name, and the members and texts that lead to it; nil for none.
  func place(in payload: JSONView) -> String? { path(in: payload, 0, isOfText: false)?.joined(separator: ".") }

  /// - Parameter parameters: of the link, decoded.
  func place(inLink url: Text, _ parameters: [Attribute]) -> String? {
    if let parameter = parameters.first(where: { isMeant($0.name) }) { return parameter.name.inWarning }
    if let path = parameters.lazy.compactMap({ parameter in
      pathInJSON(parameter.value).map { [parameter.name.inWarning] + $0 }
    })
    .first {
      return path.joined(separator: ".")
    }
    guard let name = name(inURL: url) else { return nil }
    return url.firstIndex(of: UInt8(ascii: "#")).flatMap { self.name(inURL: url.slice($0, url.count)) } == nil
      ? name : "#." + name
  }

  private func path(in value: JSONView, _ depth: Int, isOfText: Bool) -> [String]? {
    guard depth < Self.deepest else { return nil }
    switch value.kind {
    case .object:
      for (key, value) in value.members where !value.isNull {
        if isMeant(key) { return [key.inWarning] }
        if let path = path(in: value, depth + 1, isOfText: isOfText) { return [key.inWarning] + path }
      }
      return nil
    case .array: return value.elements.lazy.compactMap { path(in: $0, depth + 1, isOfText: isOfText) }.first
    case .string:
      guard let text = value.string else { return nil }
      if !isOfText, let path = pathInJSON(text) { return path }
      return name(inURL: text).map { [$0] }
    default: return nil
    }
  }

  private func pathInJSON(_ text: Text) -> [String]? {
    let text = text.trimmed
    guard 2...Self.longestText ~= text.count, text[0] == UInt8(ascii: "{") || text[0] == UInt8(ascii: "[") else {
      return nil
    }
    var reader = JSONLineReader()
    var tape = JSONTape(capacity: 1 << 12)
    // What is no JSON has no members.
    guard unsafe (try? reader.read(text.bytes, onto: &tape)) != nil else { return nil }
    return path(in: tape.view(at: 0), 0, isOfText: true)
  }

  /// A name before a `=`, or of a piece behind `?` or `#`, as it stands there or percent-decoded.
  private func name(inURL text: Text) -> String? {
    guard text.count <= Self.longestText, unsafe text.bytes.contains(where: { Self.marks.contains($0) }) else {
      return nil
    }
    if let name = name(inPiecesOf: text) { return name }
    let decoded = PercentDecoding.decode(text, into: arena).text
    return decoded.count == text.count ? nil : name(inPiecesOf: decoded)
  }

  private static let marks = Array("=?#".utf8)
  private static let separators = Array("?#&;/".utf8)

  private func name(inPiecesOf text: Text) -> String? {
    var (start, isQuery) = (0, false)
    for index in 0...text.count where index == text.count || Self.separators.contains(text[index]) {
      let piece = text.slice(start, index)
      let end = piece.firstIndex(of: UInt8(ascii: "="))
      let name = piece.slice(0, end ?? piece.count)
      if end != nil || isQuery, isMeant(name) { return name.inWarning }
      if index < text.count, Self.marks.contains(text[index]) { isQuery = true }
      start = index + 1
    }
    return nil
  }

  /// Whether one of the names is meant: letters' case, blanks, `_`, `-` and brackets aside, and behind `amp;`.
  private func isMeant(_ given: Text) -> Bool {
    var key = given
    while key.count > 4, key.slice(0, 4).isEqualIgnoringASCIICase(to: "amp;".utf8) { key = key.slice(4, key.count) }
    var start = 0
    for index in 0...key.count where index == key.count || Self.brackets.contains(key[index]) {
      let part = key.slice(start, index)
      if part.count > 2, names.contains(where: { Self.areAlike(part, $0) }) { return true }
      start = index + 1
    }
    return false
  }

  /// What names are put together with; extras of Android's intents begin with their type and a dot.
  private static let brackets = Array("[](){}.".utf8)
  private static let blanks = Array(" \t\n+_-\u{A0}".utf8)

  private static func areAlike(_ one: Text, _ other: Text) -> Bool {
    var (at, wanted) = (0, 0)
    while true {
      while at < one.count, blanks.contains(one[at]) { at += 1 }
      while wanted < other.count, blanks.contains(other[wanted]) { wanted += 1 }
      guard at < one.count, wanted < other.count else { return at == one.count && wanted == other.count }
      guard Text.lowered(one[at]) == Text.lowered(other[wanted]) else { return false }
      (at, wanted) = (at + 1, wanted + 1)
    }
  }
}
