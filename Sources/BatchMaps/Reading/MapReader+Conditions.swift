import BatchConfiguration
import BatchFoundation

extension MapReader {
  static let testWords = ["exists", "is", "not", "begins", "ends", "contains", "atLeast", "below"]

  /// `when`: a path for each test; `any` has a list of further ones.
  mutating func conditions(_ node: DocumentNode, _ name: String) -> [MapCondition] {
    members(node, name).compactMap { member in
      if member.key == "any" {
        guard case .array(let choices) = member.node.value else {
          fault(member.node.line, "'\(name).any' is \(member.node.kind), but must be an array of dictionaries")
          return nil
        }
        return .any(choices.enumerated().map { conditions($1, "\(name).any[\($0)]") })
      }
      guard let path = path(member.key, name, member.line), let test = test(member.node, "\(name).\(member.key)") else {
        return nil
      }
      return .test(path, test)
    }
  }

  /// A value, several of which one is meant, or words.
  private mutating func test(_ node: DocumentNode, _ name: String) -> MapTest? {
    switch node.value {
    case .array(let elements): return .isOneOf(elements.compactMap { value($0, name) })
    case .dictionary(let members):
      let tests = known(members, Self.testWords, in: "a test").compactMap { word, node in
        test(word, node, "\(name).\(word)")
      }
      if tests.isEmpty, members.isEmpty { fault(node.line, "'\(name)' tests nothing") }
      return .all(tests)
    default: return value(node, name).map { .isOneOf([$0]) }
    }
  }

  private mutating func test(_ word: String, _ node: DocumentNode, _ name: String) -> MapTest? {
    switch word {
    case "exists": return boolean(node, name).map { .exists($0) }
    case "not": return test(node, name).map { .not($0) }
    case "is": return test(node, name)
    case "atLeast", "below":
      guard case .number(let digits) = node.value, let bound = Double(digits) else {
        fault(node.line, "'\(name)' is \(node.kind), but must be a number")
        return nil
      }
      return word == "below" ? .below(bound) : .atLeast(bound)
    default:
      guard let text = text(node, name, allowsBlank: true).map({ Array($0.utf8) }) else { return nil }
      return word == "begins" ? .begins(text) : word == "ends" ? .ends(text) : .contains(text)
    }
  }

  private mutating func value(_ node: DocumentNode, _ name: String) -> [UInt8]? {
    guard let text = MapConstant(node).text else {
      fault(node.line, "'\(name)' is \(node.kind), with which nothing can be compared")
      return nil
    }
    return text
  }
}

extension MapConstant {
  init(_ node: DocumentNode) {
    json = Array(node.canonicalJSON.utf8)
    switch node.value {
    case .string(let string), .date(let string): text = Array(string.utf8)
    case .number, .boolean: text = json
    default: text = nil
    }
  }
}

extension MapConstant {
  init(_ node: JSONNode) {
    json = Array(node.canonicalText.utf8)
    text = node.string.map { Array($0.utf8) }
  }
}

extension DocumentNode {
  /// Members by the bytes of their names, no white space.
  fileprivate var canonicalJSON: String {
    switch value {
    case .null, .data: return "null"
    case .boolean(let flag): return flag ? "true" : "false"
    case .number(let digits): return digits
    case .string(let text), .date(let text): return JSONString.quoted(text)
    case .array(let elements): return "[" + elements.map(\.canonicalJSON).joined(separator: ",") + "]"
    case .dictionary(let members):
      let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      return "{" + sorted.map { "\(JSONString.quoted($0.key)):\($0.node.canonicalJSON)" }.joined(separator: ",") + "}"
    }
  }
}
