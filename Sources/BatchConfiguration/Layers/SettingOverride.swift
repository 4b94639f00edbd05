import BatchFoundation

/// One `--set Section.key=value` of the command line.
package struct SettingOverride: Sendable, Hashable {
  package var section: String
  package var key: String
  package var text: String
  /// By which it was given.
  package var option = "--set"

  /// Nil for text that is not of this form.
  package init?(_ argument: String) {
    guard let equals = argument.firstIndex(of: "=") else { return nil }
    let name = argument[..<equals]
    guard let dot = name.firstIndex(of: ".") else { return nil }
    section = String(name[..<dot])
    key = String(name[name.index(after: dot)...])
    text = String(argument[argument.index(after: equals)...])
    if section.isEmpty || key.isEmpty { return nil }
  }
}

extension SettingKind {
  /// A text of the command line or of a variable as a document would hold the value.
  ///
  /// - Parameter name: the key with its section.
  func node(of text: String, called name: String) throws(SettingReader.Refusal) -> JSONNode {
    switch self {
    case .boolean:
      guard text == "true" || text == "false" else {
        throw SettingReader.Refusal("'\(name)' is '\(text)', but must be 'true' or 'false'")
      }
      return .flag(text == "true")
    case .choiceOrBoolean where text == "true" || text == "false": return .flag(text == "true")
    case .integer, .integerOrText: return JSONNode(.number(text))
    case .byteCount: return JSONNode(Int64(text) == nil ? .string(text) : .number(text))
    case .duration, .text, .choice, .choiceOrBoolean: return .text(text)
    case .list where !text.hasPrefix("["):
      let elements = text.split(separator: ",").map { $0.drop { $0 == " " } }
      return .texts(elements.map(String.init))
    case .eventCodes where !text.hasPrefix("{"): return .text(text)
    case .list, .lookupTables, .eventCodes:
      do {
        return try DocumentReader.read(Array(text.utf8))
      } catch {
        throw SettingReader.Refusal("'\(name)' is not valid JSON")
      }
    }
  }
}
