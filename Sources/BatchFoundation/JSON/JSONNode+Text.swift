extension JSONNode {
  /// With two spaces for each level, and no line end; names and elements in their order.
  package func text(indentation: Int = 0) -> String {
    var text = ""
    write(",", ": ", indent: String(repeating: " ", count: indentation), to: &text)
    return text
  }

  /// On one line, without white space.
  package var compactText: String { compactText(",", ":") }

  /// On one line.
  package func compactText(_ comma: String, _ colon: String) -> String {
    var text = ""
    write(comma, colon, indent: nil, to: &text)
    return text
  }

  /// ``canonical`` as text, numbers as they were written, no white space (reference formats 4.2).
  package var canonicalText: String { canonical.compactText }

  /// Members by the UTF-8 bytes of their names at every depth, of two equal names the last one.
  package var canonical: JSONNode {
    switch value {
    case .array(let elements): return .array(elements.map(\.canonical))
    case .object(let members):
      var last: [ByteText: JSONNode] = [:]
      for member in members { last[ByteText(member.key)] = member.value }
      return .object(last.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value.canonical) })
    default: return self
    }
  }

  /// - Parameter indent: that of the line; nil for all on one line.
  private func write(_ comma: String, _ colon: String, indent: String?, to text: inout String) {
    let (open, close, parts): (String, String, [(key: String?, node: JSONNode)])
    switch value {
    case .null, .data: return text += "null"
    case .bool(let flag): return text += flag ? "true" : "false"
    case .number(let json), .written(let json): return text += json
    case .string(let string), .date(let string): return text += JSONString.quoted(string)
    case .array(let elements): (open, close, parts) = ("[", "]", elements.map { (nil, $0) })
    case .object(let members): (open, close, parts) = ("{", "}", members.map { ($0.key, $0.value) })
    }
    text += open
    let inner = indent.map { $0 + "  " }
    for (index, part) in parts.enumerated() {
      if index > 0 { text += comma }
      if let inner { text += "\n" + inner }
      if let key = part.key { text += JSONString.quoted(key) + colon }
      part.node.write(comma, colon, indent: inner, to: &text)
    }
    if let indent, !parts.isEmpty { text += "\n" + indent }
    text += close
  }
}

// MARK: - Making one

extension JSONNode {
  package static func object(_ members: KeyValuePairs<String, JSONNode>) -> JSONNode {
    .object(members.map { ($0.key, $0.value) })
  }

  package static func object(_ members: [(String, JSONNode)]) -> JSONNode {
    JSONNode(.object(members.map { JSONMember(key: $0.0, value: $0.1) }))
  }

  package static func array(_ elements: [JSONNode]) -> JSONNode { JSONNode(.array(elements)) }
  package static func text(_ text: String?) -> JSONNode { JSONNode(text.map { .string($0) } ?? .null) }
  package static func texts(_ texts: [String]) -> JSONNode { .array(texts.map { .text($0) }) }
  package static func flag(_ flag: Bool?) -> JSONNode { JSONNode(flag.map { .bool($0) } ?? .null) }

  package static func number<Number: BinaryInteger>(_ number: Number?) -> JSONNode {
    JSONNode(number.map { .number("\($0)") } ?? .null)
  }

  /// The object with more members behind its own, as far as they have a value.
  package func adding(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
    adding(members.compactMap { key, value in value.map { JSONMember(key: key, value: $0) } })
  }

  package func adding(_ members: some Sequence<JSONMember>) -> JSONNode {
    JSONNode(.object((self.members ?? []) + members))
  }
}

extension JSONNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self.init(.string(text)) }
  package init(integerLiteral number: Int64) { self.init(.number(String(number))) }
  package init(booleanLiteral flag: Bool) { self.init(.bool(flag)) }
  package init(arrayLiteral elements: JSONNode...) { self.init(.array(elements)) }
  package init(dictionaryLiteral members: (String, JSONNode)...) { self = .object(members) }
}

extension JSONNode {
  /// With ``Secret/redacted`` in the place of every known secret, in names and in values (reference decisions 39).
  package var withoutSecrets: JSONNode {
    let text = Array(compactText.utf8)
    // Nearly always there is none, and one look at all of it says so.
    return SecretMask.withoutSecrets(text) == text ? self : masked
  }

  private var masked: JSONNode {
    switch value {
    case .string(let text): .text(Self.masked(text))
    // A key may be made of digits.
    case .number(let text): Self.masked(text).utf8.elementsEqual(text.utf8) ? self : .text(Secret.redacted)
    case .array(let elements): .array(elements.map(\.masked))
    case .object(let members): .object(members.map { (Self.masked($0.key), $0.value.masked) })
    case .null, .bool, .date, .data, .written: self
    }
  }

  private static func masked(_ text: String) -> String {
    String(decoding: SecretMask.withoutSecrets(Array(text.utf8)), as: UTF8.self)
  }
}
