import EngageJSON

extension JSONNode {
  /// The value as JSON text, with two spaces for each level; names and elements in their order.
  func text(indentation: Int = 0) -> String {
    let inner = String(repeating: " ", count: indentation + 2)
    let outer = String(repeating: " ", count: indentation)
    switch value {
    case .null: return "null"
    case .bool(let flag): return flag ? "true" : "false"
    case .number(let text): return text
    case .string(let text): return Self.quoted(text)
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      let lines = elements.map { inner + $0.text(indentation: indentation + 2) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { "\(inner)\(Self.quoted($0.key)): \($0.value.text(indentation: indentation + 2))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{8}": result += "\\b"
      case "\u{C}": result += "\\f"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// An object of the given members in their order.
  static func object(_ members: KeyValuePairs<String, JSONNode>) -> JSONNode {
    JSONNode(.object(members.map { JSONMember(key: $0.key, value: $0.value) }))
  }

  static func array(_ elements: [JSONNode]) -> JSONNode { JSONNode(.array(elements)) }
  static func text(_ text: String?) -> JSONNode { JSONNode(text.map { .string($0) } ?? .null) }
  static func number(_ number: some BinaryInteger) -> JSONNode { JSONNode(.number("\(number)")) }
  static func flag(_ flag: Bool) -> JSONNode { JSONNode(.bool(flag)) }
}
