package import BatchFoundation
import BatchWire

extension SettingsSchema {
  /// Returns sections and keys in the order of the table, with a value for each.
  func sections(_ value: (Setting) -> JSONNode) -> JSONNode {
    .object(
      SettingSection.allCases.map { section in
        (section.rawValue, .object(settings(in: section).map { ($0.key, value($0)) }))
      })
  }
}

extension Configuration {
  /// The resolved configuration as a document with secrets redacted.
  package var document: JSONNode {
    var values: [String: ResolvedSetting] = [:]
    for resolved in resolved { values[resolved.setting.name] = resolved }
    return SettingsSchema.current.sections { setting in
      guard let resolved = values[setting.name] else { return setting.fallback }
      return resolved.shownNode(resolved.given)
    }
  }

  /// Returns the settings of some sections as text for ``settings(with:)``, without secrets.
  package func text(of sections: Set<SettingSection>) -> String {
    let known = resolved.filter { sections.contains($0.setting.section) && !$0.setting.isSecret }
    let bySection = Dictionary(grouping: known, by: \.setting.section)
    let document = JSONNode.object(
      SettingSection.allCases.compactMap { section in
        bySection[section].map { (section.rawValue, .object($0.map { ($0.setting.key, $0.given.value) })) }
      })
    return document.text() + "\n"
  }

  /// Returns these settings, overridden by those in the result of ``text(of:)``.
  ///
  /// - Throws: the faults in parts that this version does not accept.
  package func settings(with text: String) throws(ConfigurationErrors) -> Settings {
    let source = "settings of an earlier run"
    var layers = SettingLayers()
    layers.lay(try JSONNode.read(Array(text.utf8), source: source), .file, source: source, directory: "/")
    guard layers.faults.isEmpty else { throw ConfigurationErrors(layers.faults) }
    var settings = Settings()
    for (own, earlier) in zip(resolved, layers.resolved) {
      own.setting.store((earlier.given.layer == .defaults ? own : earlier).given.value, &settings)
    }
    layers.nameAttributes(of: &settings)
    return settings
  }

  /// One line per setting, as `Section.key = value`.
  package var lines: [String] { resolved.map { "\($0.setting.name) = \($0.shown)" } }
}

extension ResolvedSetting {
  func shownNode(_ given: GivenValue) -> JSONNode {
    if setting.isSecret, !given.isEmpty { return .text(Secret.redacted) }
    guard case .text(let form) = setting.kind, form.isURL else { return given.value }
    return .text(shown(given))
  }

  /// All given values as text, the winning value first.
  package var explanation: String {
    var text = "\(setting.name) = \(shown)\n"
    var facts = [setting.kind.name]
    if let unit = setting.unit { facts.append(unit) }
    if !setting.otherSpellings.isEmpty {
      facts.append("also spelled \(setting.otherSpellings.joined(separator: ", "))")
    }
    if setting.isSecret { facts.append("secret") }
    if setting.isWithoutEffect { facts.append("no effect in a batch run") }
    text += "  \(setting.summary)\n  (\(facts.joined(separator: "; ")))\n"
    for (index, given) in chain.reversed().enumerated() {
      let mark = index == 0 ? "->" : "  "
      text += "\(mark) \(given.layer.rawValue): \(shown(given))  [\(given.origin)]\n"
    }
    return text
  }

  /// All given values as data, in the order of the layers.
  package var explanationDocument: JSONNode {
    let chain = chain.map { given in
      let value: JSONNode = [
        "layer": .text(given.layer.rawValue), "value": shownNode(given), "source": .text(given.place.source),
      ]
      let variables = given.variables.map(\.description)
      return value.adding([
        "line": given.place.line.map { .number($0) }, "variables": variables.isEmpty ? nil : .texts(variables),
      ])
    }
    return [
      "key": .text(setting.name), "value": shownNode(given), "summary": .text(setting.summary), "chain": .array(chain),
    ]
  }
}

/// Writes documents as XML property lists, which ``DocumentReader`` reads back.
package enum PropertyListText {
  /// Returns an XML property list in the style of Apple's tools, with tabs and a document type.
  package static func of(_ node: JSONNode) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    write(node, indent: "", &text)
    return text + "</plist>\n"
  }

  private static func write(_ node: JSONNode, indent: String, _ text: inout String) {
    let inner = indent + "\t"
    switch node.value {
    case .null, .written: text += "\(indent)<string></string>\n"
    case .bool(let flag): text += "\(indent)<\(flag)/>\n"
    case .number(let number):
      let element = Int64(number) == nil ? "real" : "integer"
      text += "\(indent)<\(element)>\(number)</\(element)>\n"
    case .string(let string): text += "\(indent)<string>\(XMLWriter.escaped(string))</string>\n"
    case .date(let date): text += "\(indent)<date>\(XMLWriter.escaped(date))</date>\n"
    case .array(let elements) where elements.isEmpty: text += "\(indent)<array/>\n"
    case .array(let elements):
      text += "\(indent)<array>\n"
      for element in elements { write(element, indent: inner, &text) }
      text += "\(indent)</array>\n"
    case .object(let members) where members.isEmpty: text += "\(indent)<dict/>\n"
    case .object(let members):
      text += "\(indent)<dict>\n"
      for member in members {
        text += "\(inner)<key>\(XMLWriter.escaped(member.key))</key>\n"
        write(member.value, indent: inner, &text)
      }
      text += "\(indent)</dict>\n"
    }
  }
}
