extension JSONNode {
  /// Returns JSON indented by two spaces per level, without a final line ending; members keep their order.
  package func text(indentation: Int = 0) -> String { text(.indented(indentation)) }

  /// Appends what ``text(indentation:)`` returns.
  package func append(indentation: Int, to target: inout ByteBuffer) { write(.indented(indentation), to: &target) }

  /// The JSON on one line, without white space.
  package var compactText: String { compactText(",", ":") }

  package func compactText(_ comma: Text, _ colon: Text) -> String { text(JSONLayout(comma: comma, colon: colon)) }

  private func text(_ layout: JSONLayout) -> String {
    var target = ByteBuffer(capacity: 256)
    write(layout, to: &target)
    return unsafe String(decoding: target.bytes, as: UTF8.self)
  }

  /// The JSON of ``canonical`` without white space, with numbers as written (reference formats 4.2).
  package var canonicalText: String { canonical.compactText }

  /// The value with all objects' members sorted by the UTF-8 bytes of their names; if a name is repeated, the last
  /// member counts.
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

  private func write(_ layout: JSONLayout, to target: inout ByteBuffer) {
    switch value {
    case .null: target.append("null")
    case .bool(let flag): target.append(flag ? "true" : "false")
    case .number(let json), .written(let json): json.withText { target.append($0) }
    case .string(let string), .date(let string): string.withText { CanonicalJSON.appendString($0, to: &target) }
    case .array(let elements):
      layout.write(elements, in: ("[", "]"), to: &target) { $0.write($1, to: &$2) }
    case .object(let members):
      layout.write(members, in: ("{", "}"), to: &target) { member, inner, target in
        member.key.withText { inner.write(key: $0, to: &target) }
        member.value.write(inner, to: &target)
      }
    }
  }
}

extension JSONView {
  /// Appends JSON as ``JSONNode/text(indentation:)`` returns it.
  package func append(indentation: Int, to target: inout ByteBuffer) { write(.indented(indentation), to: &target) }

  private func write(_ layout: JSONLayout, to target: inout ByteBuffer) {
    switch kind {
    case .null: target.append("null")
    case .no: target.append("false")
    case .yes: target.append("true")
    case .number: target.append(content)
    case .string: CanonicalJSON.appendString(content, to: &target)
    case .array: layout.write(elements, in: ("[", "]"), to: &target) { $0.write($1, to: &$2) }
    case .object:
      layout.write(members, in: ("{", "}"), to: &target) { member, inner, target in
        inner.write(key: member.key, to: &target)
        member.value.write(inner, to: &target)
      }
    }
  }
}

private struct JSONLayout {
  var comma: Text
  var colon: Text
  /// The number of spaces before the current line; nil to write a single line.
  var indentation: Int?

  static func indented(_ indentation: Int) -> JSONLayout {
    JSONLayout(comma: ",", colon: ": ", indentation: indentation)
  }

  /// Writes the parts of an array or an object, each on its own line.
  func write<Part>(
    _ parts: some Sequence<Part>, in brackets: (Text, Text), to target: inout ByteBuffer,
    _ part: (Part, JSONLayout, inout ByteBuffer) -> Void
  ) {
    let inner = JSONLayout(comma: comma, colon: colon, indentation: indentation.map { $0 + 2 })
    var isEmpty = true
    target.append(brackets.0)
    for each in parts {
      if !isEmpty { target.append(comma) }
      isEmpty = false
      inner.breakLine(&target)
      part(each, inner, &target)
    }
    if !isEmpty { breakLine(&target) }
    target.append(brackets.1)
  }

  func write(key: Text, to target: inout ByteBuffer) {
    CanonicalJSON.appendString(key, to: &target)
    target.append(colon)
  }

  private static let spaces: Text = "                                "

  private func breakLine(_ target: inout ByteBuffer) {
    guard var rest = indentation else { return }
    target.append(UInt8(ascii: "\n"))
    while rest > 0 {
      let part = Self.spaces.slice(0, min(rest, Self.spaces.count))
      target.append(part)
      rest -= part.count
    }
  }
}

// MARK: - Creation

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

  /// Returns the object with the members appended, except those whose value is nil.
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
  /// The value with every known secret, in names and values, replaced with ``Secret/redacted`` (reference
  /// decisions 39).
  package var withoutSecrets: JSONNode {
    let text = Array(compactText.utf8)
    // Documents almost never contain a secret, so one search of the whole text usually suffices.
    return SecretMask.withoutSecrets(text) == text ? self : masked
  }

  private var masked: JSONNode {
    switch value {
    case .string(let text): .text(Self.masked(text))
    // A credential may consist of digits.
    case .number(let text): Self.masked(text).utf8.elementsEqual(text.utf8) ? self : .text(Secret.redacted)
    case .array(let elements): .array(elements.map(\.masked))
    case .object(let members): .object(members.map { (Self.masked($0.key), $0.value.masked) })
    case .null, .bool, .date, .written: self
    }
  }

  private static func masked(_ text: String) -> String {
    String(decoding: SecretMask.withoutSecrets(Array(text.utf8)), as: UTF8.self)
  }
}

extension Text {
  /// The double nearest to a JSON number; nil if the number is too large for a finite one.
  package var double: Double? {
    guard let value = Double(description), value.isFinite else { return nil }
    return value
  }

  /// Whether the text is a valid JSON number: no leading zeros, no leading `+`, and digits after a point or an `e`.
  package var isJSONNumber: Bool {
    var (end, flaws) = (0, JSONFlaws())
    // Only whether it is a number matters here, not where the error is.
    guard count > 0, (try? unsafe JSONReader.number(base, &end, count, &flaws)) != nil else { return false }
    return end == count
  }

  /// Whether a JSON number is an integer literal: digits after an optional minus sign.
  package var isIntegerLiteral: Bool {
    guard count > 0 else { return false }
    return (self[0] == UInt8(ascii: "-") ? slice(1, count) : self).allSatisfy(\.isASCIIDigit)
  }
}

extension JSONNode {
  /// Creates a tree from a parsed line; the nodes have no places.
  package init(_ view: JSONView) {
    switch view.kind {
    case .null: self.init(.null)
    case .no: self.init(.bool(false))
    case .yes: self.init(.bool(true))
    case .number: self.init(.number(view.number?.description ?? ""))
    case .string: self.init(.string(view.string?.description ?? ""))
    case .array: self.init(.array(view.elements.map { JSONNode($0) }))
    case .object:
      self.init(.object(view.members.map { JSONMember(key: $0.key.description, value: JSONNode($0.value)) }))
    }
  }
}
