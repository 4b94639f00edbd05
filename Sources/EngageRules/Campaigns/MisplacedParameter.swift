import BatchFoundation
import BatchIngest

/// Finds misspelled or misplaced campaign parameters in a payload or link that sets no campaign (reference decisions 56).
struct MisplacedParameter {
  let names: [Text]
  let arena: Arena

  /// The maximum length in bytes of a string that is searched.
  private static let longestText = 1 << 16
  private static let deepest = 64

  /// Returns the path to the first name, joined by dots; nil if there is none.
  func place(in payload: JSONView) -> String? { path(in: payload, 0, isOfText: false)?.joined(separator: ".") }

  /// Returns the path to the first name in the link's URL or decoded parameters; nil if there is none.
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
    var reader = JSONReader()
    var tape = JSONTape(capacity: 1 << 12)
    // Text that is not JSON has no members.
    guard unsafe (try? reader.read(text.bytes, onto: &tape)) != nil else { return nil }
    return path(in: tape.view(at: 0), 0, isOfText: true)
  }

  /// Returns the first name that precedes a `=` or occurs alone after a `?` or `#`, searching the text as written and
  /// then percent-decoded; nil if there is none.
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

  /// Returns whether the key means one of the names, ignoring case, blanks, `_`, `-`, brackets and anything that
  /// precedes a name in a URL, such as `#` or `amp;`.
  private func isMeant(_ key: Text) -> Bool {
    var start = 0
    for index in 0...key.count where index == key.count || Self.brackets.contains(key[index]) {
      let part = key.slice(start, index)
      if part.count > 2, names.contains(where: { Self.areAlike(part, $0) }) { return true }
      start = index + 1
    }
    return false
  }

  /// The characters that separate names within a key. They include the dot, because extras in Android intents begin
  /// with their type and a dot.
  private static let brackets = Array("[](){}.?#&;".utf8)

  /// Whether a byte is a blank between words, or one of the two of a no-break space.
  @inline(__always)
  private static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x09, 0x0A, UInt8(ascii: "+"), UInt8(ascii: "_"), UInt8(ascii: "-"), 0xC2, 0xA0: true
    default: false
    }
  }

  private static func areAlike(_ one: Text, _ other: Text) -> Bool {
    var (at, wanted) = (0, 0)
    while true {
      while at < one.count, isBlank(one[at]) { at += 1 }
      while wanted < other.count, isBlank(other[wanted]) { wanted += 1 }
      guard at < one.count, wanted < other.count else { return at == one.count && wanted == other.count }
      guard Text.lowered(one[at]) == Text.lowered(other[wanted]) else { return false }
      (at, wanted) = (at + 1, wanted + 1)
    }
  }
}

/// Finds the parameter that a payload key was probably meant to be.
struct ParameterSpelling {
  /// Pushes use few distinct keys, so the result for each key is cached.
  private var found: [(key: [UInt8], meant: String?)] = []
  private static let mostFound = 32

  /// Returns the parameter that the key misspells; nil if there is none. `names` must be the same in every call.
  mutating func nearest(_ key: Text, among names: @autoclosure () -> [Text]) -> String? {
    if let known = found.first(where: { unsafe key.bytes.elementsEqual($0.key) }) { return known.meant }
    if found.count == Self.mostFound { found.removeAll(keepingCapacity: true) }
    let names = names()
    let meant = names.contains(key) ? nil : Self.nearest(key.description, among: names)
    unsafe found.append((Array(key.bytes), meant))
    return meant
  }

  /// Compares keys, ignoring case, `_`, `-` and spaces. A misspelling is within two edits of a name; `campaign` and
  /// `campaignName` also mean the campaign's name, which is the first of `names`.
  private static func nearest(_ key: String, among names: [Text]) -> String? {
    let wanted = plain(key)
    if let campaign = names.first, ["campaign", "campaignname"].contains(wanted) { return campaign.description }
    return names.map(\.description).first { NearestName.distance(Array(wanted.utf8), Array(plain($0).utf8)) <= 2 }
  }

  private static func plain(_ name: String) -> String {
    name.filter { !"_- ".contains($0) }.lowercased()
  }
}

extension Text {
  /// The string for warnings, truncated to 57 bytes plus an ellipsis if it is longer than 60 bytes.
  var inWarning: String { count <= 60 ? description : "\(slice(0, 57).description)..." }
}
