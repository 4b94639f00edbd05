import BatchFoundation

/// The table of all settings, from which parsing, validation, defaults, the JSON Schema and the reference are derived.
package struct SettingsSchema: Sendable {
  package let settings: [Setting]
  private let bySpelling: [String: Int]

  package static let current = SettingsSchema([
    generalRows, paramFieldNamesRows, sessionRows, networkingRows, ubfFieldNamesRows, locationServicesRows,
    augmentationRows, pluggableServicesRows, localEventStoreRows, recipientRows, auditRecordRows, connectionRows,
    uploadRows, ingestRows, storageRows, privacyRows, reportRows, deepLinksRows, sandboxRows, deltaDNARows, unityRows,
  ])

  private init(_ groups: [[Setting]]) {
    settings = groups.flatMap(\.self)
    var bySpelling: [String: Int] = [:]
    for (index, setting) in settings.enumerated() {
      for spelling in setting.spellings { bySpelling["\(setting.section.rawValue).\(spelling)"] = index }
    }
    self.bySpelling = bySpelling
  }

  package func settings(in section: SettingSection) -> [Setting] { settings.filter { $0.section == section } }

  /// Returns a section's setting by its key, in any spelling.
  package func setting(_ section: String, _ key: String) -> Setting? {
    bySpelling["\(section).\(key)"].map { settings[$0] }
  }

  /// Returns the setting `Section.key`, in any spelling of the key; nil if there is none.
  package func setting(named name: String) -> Setting? { bySpelling[name].map { settings[$0] } }

  /// Returns the settings meant by `Section.key`, the SDKs' `Section->key`, a key alone, or a section alone.
  package func settings(matching name: String) -> [Setting] {
    let name = name.replacing("->", with: ".")
    if let setting = setting(named: name) { return [setting] }
    return settings.filter { $0.section.rawValue == name || $0.spellings.contains(name) }
  }

  /// Returns the reason why the name matches nothing, with a suggestion; nil if it matches.
  package func problem(withName name: String) -> String? {
    guard settings(matching: name).isEmpty else { return nil }
    let parts = name.replacing("->", with: ".").split(separator: ".", maxSplits: 1).map(String.init)
    guard let section = parts.first, parts.count == 2 else {
      let names = SettingSection.allCases.map(\.rawValue) + settings.map(\.key)
      let hint = NearestName.question(about: name, among: names)
      return "unknown key '\(name)'; \(hint ?? "write it as Section.key")"
    }
    guard SettingSection(rawValue: section) != nil else {
      return "unknown section '\(section)'; \(suggestion(forSection: section))"
    }
    return "unknown key '\(name)'; \(suggestion(forKey: parts[1], in: section))"
  }

  static func rows(_ section: SettingSection, _ rows: Setting...) -> [Setting] { rows.map { $0.placed(in: section) } }
}
