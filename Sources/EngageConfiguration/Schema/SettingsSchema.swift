/// The table of all settings. Parsing, checks, defaults, the JSON Schema and the reference are derived from it.
package struct SettingsSchema: Sendable {
  package let settings: [Setting]
  private let bySpelling: [String: Int]

  /// The only one there is.
  package static let current = SettingsSchema(
    engageRows + identityRows + transportRows + deltaDNARows)

  private init(_ settings: [Setting]) {
    self.settings = settings
    var bySpelling: [String: Int] = [:]
    for (index, setting) in settings.enumerated() {
      for spelling in setting.spellings { bySpelling["\(setting.section.rawValue).\(spelling)"] = index }
    }
    self.bySpelling = bySpelling
  }

  package func settings(in section: SettingSection) -> [Setting] { settings.filter { $0.section == section } }

  /// The setting that a section knows under a key, in any of its spellings.
  package func setting(_ section: String, _ key: String) -> Setting? {
    bySpelling["\(section).\(key)"].map { settings[$0] }
  }

  /// The setting called `Section.key`.
  package func setting(named name: String) -> Setting? { bySpelling[name].map { settings[$0] } }

  static func rows(_ section: SettingSection, _ rows: [Setting]) -> [Setting] { rows.map { $0.placed(in: section) } }
}
