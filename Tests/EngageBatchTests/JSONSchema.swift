import BatchFoundation

/// The part of JSON Schema, draft 7, that the program's schemas use. A keyword beyond it is a fault, so that none goes unchecked.
struct JSONSchema {
  let root: JSONNode
  /// Schemas in other files, by the words with which this one names them.
  var others: [String: JSONSchema] = [:]

  init(_ text: String) throws { root = try JSONNode.parse(Array(text.utf8)) }

  /// What is wrong with the value: a JSON Pointer into it and the keyword that refuses it.
  func faults(of value: JSONNode) -> [String] { faults(of: value, root, "") }

  private func faults(of value: JSONNode, _ schema: JSONNode, _ path: String) -> [String] {
    guard let keywords = schema.members else { return schema.bool == true ? [] : ["\(path): not a schema"] }
    return keywords.flatMap { faults(of: value, $0.key, $0.value, schema, path) }
  }

  private func faults(
    of value: JSONNode, _ keyword: String, _ argument: JSONNode, _ schema: JSONNode, _ path: String
  ) -> [String] {
    let refused = ["\(path): \(keyword)"]
    switch keyword {
    case "$schema", "title", "description", "default", "definitions", "then": return []
    case "$ref":
      if let other = argument.string.flatMap({ others[$0] }) { return other.faults(of: value).map { path + $0 } }
      let name = argument.string ?? ""
      let keys = name.split(separator: "/").dropFirst().map(String.init)
      guard let definition = keys.reduce(root as JSONNode?, { $0?[$1] }) else {
        return ["\(path): $ref \(name) leads nowhere"]
      }
      return faults(of: value, definition, path)
    case "type":
      let types = argument.array?.compactMap(\.string) ?? [argument.string ?? ""]
      return types.contains { Self.is(value, $0) } ? [] : refused
    case "enum": return argument.array?.contains { Self.equal($0, value) } == true ? [] : refused
    case "minimum": return value.double.map { $0 >= argument.double ?? 0 } ?? true ? [] : refused
    case "maximum": return value.double.map { $0 <= argument.double ?? 0 } ?? true ? [] : refused
    case "minLength":
      return value.string.map { Int64($0.unicodeScalars.count) >= argument.integer ?? 0 } ?? true ? [] : refused
    case "pattern":
      guard let text = value.string else { return [] }
      guard let expression = try? Regex(argument.string ?? "(").matchingSemantics(.unicodeScalar) else {
        // The test fails by this fault.
        return ["\(path): pattern is not an expression"]
      }
      return text.contains(expression) ? [] : refused
    case "required":
      return (argument.array ?? []).compactMap(\.string).filter { value.members != nil && value[$0] == nil }
        .map { "\(path): required \($0)" }
    case "minProperties": return value.members.map { Int64($0.count) >= argument.integer ?? 0 } ?? true ? [] : refused
    case "properties":
      return (argument.members ?? []).flatMap { member in
        value[member.key].map { faults(of: $0, member.value, "\(path)/\(member.key)") } ?? []
      }
    case "additionalProperties":
      let known = schema["properties"]?.members?.map(\.key) ?? []
      let others = (value.members ?? []).filter { member in !known.contains { $0.utf8.elementsEqual(member.key.utf8) } }
      if argument.bool == false { return others.map { "\(path): additional \($0.key)" } }
      return others.flatMap { faults(of: $0.value, argument, "\(path)/\($0.key)") }
    case "items":
      return (value.array ?? []).enumerated().flatMap { faults(of: $1, argument, "\(path)/\($0)") }
    case "anyOf":
      let all = (argument.array ?? []).map { faults(of: value, $0, path) }
      return all.contains { $0.isEmpty } ? [] : refused + all.flatMap { $0 }
    case "allOf": return (argument.array ?? []).flatMap { faults(of: value, $0, path) }
    case "not": return faults(of: value, argument, path).isEmpty ? refused : []
    case "if":
      guard let then = schema["then"], faults(of: value, argument, path).isEmpty else { return [] }
      return faults(of: value, then, path)
    default: return ["\(path): unknown keyword \(keyword)"]
    }
  }

  private static func `is`(_ value: JSONNode, _ type: String) -> Bool {
    switch (type, value.value) {
    case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string), ("array", .array),
      ("object", .object):
      true
    case ("integer", .number): value.integer != nil
    default: false
    }
  }

  /// Of constants: texts, numbers, booleans and null.
  private static func equal(_ one: JSONNode, _ other: JSONNode) -> Bool {
    switch (one.value, other.value) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.number(let one), .number(let other)): Double(one) == Double(other)
    case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
    default: false
    }
  }
}
