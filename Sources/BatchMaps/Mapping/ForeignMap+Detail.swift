import BatchFoundation
package import BatchIngest

extension ForeignMap {
  package func detail(of rejection: Rejection, rule: Int, record: [UInt8]) -> String {
    if rejection.reason == .noRule { return "no rule of the map '\(shownName)' takes it" }
    guard let field = rejection.field, rules.indices.contains(rule) else { return rejection.detail }
    let paths = paths(of: field, in: rules[rule])
    let fault =
      switch rejection.reason {
      case .missingField: "is missing"
      case .wrongType: "is of the wrong kind"
      case .invalidTimestamp: "is not a time"
      default: "is not known"
      }
    guard !paths.isEmpty else {
      return "field '\(field)' \(fault): rule '\(rules[rule].name)' of the map '\(shownName)' has no path for it"
    }
    let named = paths.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
    let words = "field '\(field)' \(fault): the map '\(shownName)' reads it from \(named)"
    guard rejection.reason == .missingField, let near = nearName(paths, record) else { return words }
    return "\(words); the record has '\(String(near.prefix(60)).printable)'"
  }

  /// What a rule reads a field from. A fault may be below what a map has a path for, such as an element of a list, or above: an object
  /// of which every member was absent.
  private func paths(of field: String, in rule: MapRule) -> [String] {
    let steps = field.split(separator: "/")
    for count in (1...max(1, steps.count)).reversed() {
      if let paths = rule.fieldPaths[steps.prefix(count).joined(separator: ".")], !paths.isEmpty { return paths }
    }
    let begin = steps.joined(separator: ".") + "."
    return rule.fieldPaths.filter { $0.key.hasPrefix(begin) }.sorted {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }.flatMap(\.value)
  }

  /// Without the folders of a file.
  private var shownName: Substring { name.split(separator: "/").last ?? name[...] }

  /// A member of the record where a path ends in vain, whose name could be a slip of the hand for the one that the path wants.
  private func nearName(_ paths: [String], _ record: [UInt8]) -> String? {
    // A record of text has no members.
    guard let root = try? JSONNode.parse(record) else { return nil }
    for text in paths {
      // Paths of a map were read before.
      guard let path = try? MapPath(text), !path.isOuter else { continue }
      var node = root
      for case .member(let bytes) in path.steps {
        let name = String(decoding: bytes, as: UTF8.self)
        if let next = node[name] {
          node = next
          continue
        }
        if let near = NearestName.of(name, among: node.members?.map(\.key) ?? []) { return near }
        break
      }
    }
    return nil
  }
}
