import BatchFoundation

/// A JSON document that keeps the order of its members, for `report.json`.
enum JSONDocument {
  case object([(String, JSONDocument)])
  case array([JSONDocument])
  case string(String)
  case integer(Int)
  /// Written with three digits behind the point.
  case seconds(Double)
  case bool(Bool)
  case null
  /// On one line.
  case numbers([Int])
  /// JSON that is ready.
  case verbatim(String)

  static func optional(_ text: String?) -> JSONDocument { text.map { .string($0) } ?? .null }

  /// The elements that fit into so many bytes of text.
  static func list(_ elements: [JSONDocument], atMost bytes: Int) -> JSONDocument {
    var left = bytes
    return .array(
      Array(
        elements.prefix { element in
          left -= element.text(indent: "      ").utf8.count
          return left >= 0
        }))
  }

  /// Indented by two spaces a level; an empty object or array on one line.
  ///
  /// - Parameter indent: nil for all of it on one line.
  func text(indent: String? = "") -> String {
    switch self {
    case .object(let members): block("{", "}", indent, members.map { (JSONString.quoted($0.0) + ": ", $0.1) })
    case .array(let elements): block("[", "]", indent, elements.map { ("", $0) })
    case .string(let text): JSONString.quoted(text)
    case .integer(let number): String(number)
    case .seconds(let seconds): seconds.isFinite ? Self.thousandths(seconds) : "null"
    case .bool(let flag): flag ? "true" : "false"
    case .null: "null"
    case .numbers(let numbers): "[\(numbers.map(String.init).joined(separator: ", "))]"
    case .verbatim(let json): json
    }
  }

  private func block(_ open: String, _ close: String, _ indent: String?, _ parts: [(String, JSONDocument)]) -> String {
    guard let indent, !parts.isEmpty else {
      return open + parts.map { $0.0 + $0.1.text(indent: nil) }.joined(separator: ",") + close
    }
    let inner = indent + "  "
    let lines = parts.map { inner + $0.0 + $0.1.text(indent: inner) }
    return "\(open)\n\(lines.joined(separator: ",\n"))\n\(indent)\(close)"
  }

  private static func thousandths(_ seconds: Double) -> String {
    let text = Wording.seconds(seconds)
    return text == "?" ? "null" : String(text.dropLast(2))
  }
}

extension JSONDocument: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral members: (String, JSONDocument)...) { self = .object(members) }
}
