import BatchFoundation

/// Expands environment variables in `${NAME}` and `${NAME:-default}` (reference decisions 42).
struct VariableExpansion {
  var environment: [String: String]
  /// The document as messages name it.
  var source: String
  private(set) var faults: [ConfigurationFault] = []

  init(environment: [String: String], source: String) {
    self.environment = environment
    self.source = source
  }

  /// Returns the document at the keys of `path` with its variables expanded; texts with a fault stay as written.
  mutating func expand(_ document: JSONNode, under path: [String] = []) -> JSONNode {
    expand(document, path, document.line)
  }

  /// - Parameter path: the keys that lead to the value.
  /// - Parameter line: the line of the value or of its container.
  private mutating func expand(_ node: JSONNode, _ path: [String], _ line: Int?) -> JSONNode {
    var node = node
    let line = node.line ?? line
    switch node.value {
    case .string(let text):
      guard text.utf8.contains(UInt8(ascii: "$")) else { return node }
      do {
        let (text, variables) = try expanded(text, isSecret: Self.isSecret(path))
        node.value = .string(text)
        node.variables = variables
      } catch {
        faults.append(fault(error, path, line))
      }
    case .array(var elements):
      for index in elements.indices {
        let place = (path.last ?? "") + "[\(index)]"
        elements[index] = expand(elements[index], path.dropLast() + [place], line)
      }
      node.value = .array(elements)
    case .object(var members):
      for index in members.indices {
        members[index].value = expand(members[index].value, path + [members[index].key], members[index].line ?? line)
      }
      node.value = .object(members)
    case .null, .bool, .number, .date, .data, .written: break
    }
    return node
  }

  private enum Refusal: Error {
    case unset(String)
    /// A malformed reference, from `${` on.
    case form(Substring)
    /// A variable in a secret setting; nil if it has no name.
    case secretKey(String?)
    /// A variable that contains a secret, outside its setting.
    case secretVariable(String)
  }

  /// - Parameter isSecret: whether the text is a secret, which may not contain variables.
  private func expanded(_ text: String, isSecret: Bool) throws(Refusal) -> (text: String, [NamedVariable]) {
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
        let (variable, value, length) = try reference(rest, isSecret: isSecret)
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

  /// Reads the variable at the start of a text, with its value and the length of its reference in characters.
  private func reference(
    _ text: Substring, isSecret: Bool
  ) throws(Refusal) -> (variable: NamedVariable, value: String, length: Int) {
    guard let close = text.firstIndex(of: "}") else { throw isSecret ? .secretKey(nil) : .form(text.prefix(40)) }
    let whole = text[...close]
    let inner = whole.dropFirst(2).dropLast()
    let name = inner.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    let tail = inner[name.endIndex...]
    let isWellFormed =
      name.first.map { !$0.isNumber } ?? false && (tail.isEmpty || tail.hasPrefix(":-")) && !tail.contains("${")
    guard isWellFormed else { throw isSecret ? .secretKey(nil) : .form(whole.prefix(40)) }
    let variable = String(name)
    if isSecret { throw .secretKey(variable) }
    if Self.holdsSecret(variable) { throw .secretVariable(variable) }
    let value = environment[variable]
    if tail.isEmpty {
      guard let value else { throw .unset(variable) }
      return (NamedVariable(name: variable, usesDefault: false), value, whole.count)
    }
    if let value, !value.utf8.isEmpty {
      return (NamedVariable(name: variable, usesDefault: false), value, whole.count)
    }
    return (NamedVariable(name: variable, usesDefault: true), String(tail.dropFirst(2)), whole.count)
  }

  private func fault(_ refusal: Refusal, _ path: [String], _ line: Int?) -> ConfigurationFault {
    let key = path.joined(separator: ".")
    let place = Place(source, line: line)
    switch refusal {
    case .unset(let name):
      return ConfigurationFault(
        place, "'\(key)' names the variable \(name), which is not set", hint: "set it, or write ${\(name):-default}")
    case .form(let text):
      return ConfigurationFault(
        place, "'\(key)' holds '\(text)', which is not a variable",
        hint: "write ${NAME} or ${NAME:-default}; $${ means ${")
    case .secretKey(let name):
      return ConfigurationFault(
        place, "'\(key)' names \(name.map { "the variable \($0)" } ?? "a variable"), but a secret takes none",
        hint: Self.variable(ofSecret: path).map { "set \($0), or name a file with \($0)_FILE" })
    case .secretVariable(let name):
      return ConfigurationFault(
        place, "'\(key)' names the variable \(name), which holds a secret",
        hint: "remove it: its setting already reads that variable")
    }
  }

  private static func setting(at path: [String]) -> Setting? {
    path.count < 2 ? nil : SettingsSchema.current.setting(path[path.count - 2], path[path.count - 1])
  }

  private static func isSecret(_ path: [String]) -> Bool { setting(at: path)?.isSecret ?? false }

  /// Returns whether the variable provides a secret setting.
  private static func holdsSecret(_ name: String) -> Bool {
    EnvironmentVariables.all.contains {
      $0.name == name && SettingsSchema.current.setting(named: $0.setting)?.isSecret ?? false
    }
  }

  private static func variable(ofSecret path: [String]) -> String? {
    setting(at: path).flatMap { secret in EnvironmentVariables.all.first { $0.setting == secret.name }?.name }
  }
}
