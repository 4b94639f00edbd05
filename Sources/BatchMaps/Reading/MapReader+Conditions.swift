import BatchConfiguration
import BatchFoundation

extension MapReader {
  static let testWords = ["exists", "is", "not", "begins", "ends", "contains", "atLeast", "below"]

  /// `when`: a path for each test; `any` has a list of further ones.
  mutating func conditions(_ node: JSONNode, _ name: String) -> [MapCondition] {
    members(node, name).compactMap { member in
      if member.key == "any" {
        guard case .array(let choices) = member.value.value else {
          fault(
            member.value.line, "'\(name).any' is \(member.value.documentKind), but must be an array of dictionaries")
          return nil
        }
        return .any(choices.enumerated().map { conditions($1, "\(name).any[\($0)]") })
      }
      guard let path = path(member.key, name, member.line), let test = test(member.value, "\(name).\(member.key)")
      else {
        return nil
      }
      return .test(path, test)
    }
  }

  /// A value, several of which one is meant, or words.
  private mutating func test(_ node: JSONNode, _ name: String) -> MapTest? {
    switch node.value {
    case .array(let elements): return .isOneOf(elements.compactMap { value($0, name) })
    case .object(let members):
      let tests = known(members, Self.testWords, in: "a test").compactMap { word, node in
        test(word, node, "\(name).\(word)")
      }
      if tests.isEmpty, members.isEmpty { fault(node.line, "'\(name)' tests nothing") }
      return .all(tests)
    default: return value(node, name).map { .isOneOf([$0]) }
    }
  }

  private mutating func test(_ word: String, _ node: JSONNode, _ name: String) -> MapTest? {
    switch word {
    case "exists": return boolean(node, name).map { .exists($0) }
    case "not": return test(node, name).map { .not($0) }
    case "is": return test(node, name)
    case "atLeast", "below":
      guard case .number(let digits) = node.value, let bound = Double(digits) else {
        fault(node.line, "'\(name)' is \(node.documentKind), but must be a number")
        return nil
      }
      return word == "below" ? .below(bound) : .atLeast(bound)
    default:
      guard let text = text(node, name, allowsBlank: true).map({ Array($0.utf8) }) else { return nil }
      return word == "begins" ? .begins(text) : word == "ends" ? .ends(text) : .contains(text)
    }
  }

  private mutating func value(_ node: JSONNode, _ name: String) -> [UInt8]? {
    guard let text = MapConstant(node).text else {
      fault(node.line, "'\(name)' is \(node.documentKind), with which nothing can be compared")
      return nil
    }
    return text
  }
}

extension MapConstant {
  init(_ node: JSONNode) {
    json = Array(node.canonicalText.utf8)
    switch node.value {
    case .string(let string), .date(let string): text = Array(string.utf8)
    case .number, .bool: text = json
    default: text = nil
    }
  }
}
