/// One `--set Section.key=value` of the command line.
package struct SettingOverride: Sendable, Hashable {
  package var section: String
  package var key: String
  package var text: String

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

  /// The value as a document would hold it, by the type that the setting wants.
  func node(for kind: SettingKind) throws(SettingReader.Refusal) -> DocumentNode {
    switch kind {
    case .boolean:
      guard text == "true" || text == "false" else {
        throw SettingReader.Refusal("'\(section).\(key)' is '\(text)', but must be 'true' or 'false'")
      }
      return DocumentNode(.boolean(text == "true"))
    case .choiceOrBoolean where text == "true" || text == "false": return DocumentNode(.boolean(text == "true"))
    case .integer, .integerOrText: return DocumentNode(.number(text))
    case .byteCount: return DocumentNode(Int64(text) == nil ? .string(text) : .number(text))
    case .duration, .text, .choice, .choiceOrBoolean: return DocumentNode(.string(text))
    case .list where !text.hasPrefix("["):
      let elements = text.split(separator: ",").map { $0.drop { $0 == " " } }
      return DocumentNode(.array(elements.map { DocumentNode(.string(String($0))) }))
    case .list, .lookupTables:
      do {
        return try DocumentReader.read(Array(text.utf8))
      } catch {
        throw SettingReader.Refusal("'\(section).\(key)' is not valid JSON")
      }
    }
  }
}
