extension JSONNode {
  /// The value as JSON text, with two spaces for each level; names and elements in their order.
  package func text(indentation: Int = 0) -> String {
    let inner = String(repeating: " ", count: indentation + 2)
    let outer = String(repeating: " ", count: indentation)
    switch value {
    case .null: return "null"
    case .bool(let flag): return flag ? "true" : "false"
    case .number(let text): return text
    case .string(let text): return JSONString.quoted(text)
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      let lines = elements.map { inner + $0.text(indentation: indentation + 2) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { "\(inner)\(JSONString.quoted($0.key)): \($0.value.text(indentation: indentation + 2))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    }
  }

  /// An object of the given members in their order.
  /// The same on one line.
  package var line: String {
    switch value {
    case .array(let elements): "[" + elements.map(\.line).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\(JSONString.quoted($0.key)):\($0.value.line)" }.joined(separator: ",") + "}"
    default: text()
    }
  }

  package static func object(_ members: KeyValuePairs<String, JSONNode>) -> JSONNode {
    JSONNode(.object(members.map { JSONMember(key: $0.key, value: $0.value) }))
  }

  package static func array(_ elements: [JSONNode]) -> JSONNode { JSONNode(.array(elements)) }
  package static func text(_ text: String?) -> JSONNode { JSONNode(text.map { .string($0) } ?? .null) }
  package static func number(_ number: some BinaryInteger) -> JSONNode { JSONNode(.number("\(number)")) }
  package static func flag(_ flag: Bool) -> JSONNode { JSONNode(.bool(flag)) }
}
