import BatchFoundation

/// Expands environment variables in `${NAME}` and `${NAME:-default}` (reference decisions 42).
struct VariableExpansion {
  let environment: [String: String]
  private let found: DocumentFaults

  var faults: [ConfigurationFault] { found.all }

  /// - Parameter source: the name of the document in messages.
  init(environment: [String: String], source: String) {
    (self.environment, found) = (environment, DocumentFaults(source))
  }

  /// Returns the document at the key path `path` with its variables expanded; faulty strings are left as written.
  func expand(_ document: JSONNode, under path: [String] = []) -> JSONNode { expand(document, path, document.place) }

  /// - Parameter path: the keys that lead to the value.
  /// - Parameter place: the place of the value or of its container.
  private func expand(_ node: JSONNode, _ path: [String], _ place: TextPlace?) -> JSONNode {
    var node = node
    let place = node.place ?? place
    switch node.value {
    case .string(let text):
      guard text.utf8.contains(UInt8(ascii: "$")),
        let expanded = expanded(text, path, Field(path.joined(separator: "."), node, at: place, found))
      else { return node }
      (node.value, node.variables) = (.string(expanded.text), expanded.variables)
    case .array(let elements):
      node.value = .array(
        elements.enumerated().map { expand($1, path.dropLast() + [(path.last ?? "") + "[\($0)]"], place) })
    case .object(var members):
      for index in members.indices {
        members[index].value = expand(members[index].value, path + [members[index].key], members[index].place ?? place)
      }
      node.value = .object(members)
    case .null, .bool, .number, .date, .written: break
    }
    return node
  }

  /// Returns a string with its variables expanded, and the variables; nil after reporting a fault in the field.
  private func expanded(
    _ text: String, _ path: [String], _ field: Field
  ) -> (text: String, variables: [NamedVariable])? {
    var expanded = ""
    var variables: [NamedVariable] = []
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      expanded += rest[..<dollar]
      rest = rest[dollar...]
      if rest.hasPrefix("$${") {
        expanded += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        guard let (variable, value, length) = reference(rest, path, field) else { return nil }
        expanded += value
        variables.append(variable)
        rest = rest.dropFirst(length)
      } else {
        expanded += "$"
        rest = rest.dropFirst()
      }
    }
    return (expanded + rest, variables)
  }

  /// Reads the variable reference at the start of a string. Returns the variable, its value and the length of the
  /// reference in characters; nil after reporting a fault in the field.
  private func reference(
    _ text: Substring, _ path: [String], _ field: Field
  ) -> (variable: NamedVariable, value: String, length: Int)? {
    func refuse(_ problem: String, hint: String?) -> (NamedVariable, String, Int)? {
      field.refuse(problem, hint: hint)
      return nil
    }
    let whole = text.prefix { $0 != "}" }
    let inner = whole.dropFirst(2)
    let name = inner.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    let tail = inner[name.endIndex...]
    let isWellFormed =
      whole.endIndex < text.endIndex && name.first.map { !$0.isNumber } ?? false
      && (tail.isEmpty || tail.hasPrefix(":-")) && !tail.contains("${")
    let variable = String(name)
    let setting = Self.setting(at: path)
    if setting?.isSecret ?? false {
      return refuse(
        "names \(isWellFormed ? "the variable \(variable)" : "a variable"), but secrets cannot contain variables",
        hint: setting?.variable.map { "set \($0), or set \($0)_FILE to the path of a file with the secret" }
      )
    }
    guard isWellFormed else {
      return refuse(
        "contains '\(text.prefix(whole.count + 1).prefix(40))', which is not a variable",
        hint: "write ${NAME} or ${NAME:-default}, or $${ for a literal ${")
    }
    if SettingsSchema.current.settings.contains(where: { $0.variable == variable && $0.isSecret }) {
      return refuse(
        "names the variable \(variable), which holds a secret",
        hint: "remove the variable: the secret's own setting already reads it")
    }
    // With a default, an empty variable counts as not set.
    let value = environment[variable].flatMap { tail.isEmpty || !$0.utf8.isEmpty ? $0 : nil }
    if value == nil, tail.isEmpty {
      return refuse(
        "names the variable \(variable), which is not set", hint: "set the variable, or write ${\(variable):-default}")
    }
    return (
      NamedVariable(name: variable, usesDefault: value == nil), value ?? String(tail.dropFirst(2)), whole.count + 1
    )
  }

  private static func setting(at path: [String]) -> Setting? {
    path.count < 2 ? nil : SettingsSchema.current.setting(path[path.count - 2], path[path.count - 1])
  }
}
