package import BatchFoundation

/// The sources of values; a later source wins (reference formats 2.1).
package enum Layer: String, Sendable, CaseIterable {
  case defaults = "default"
  case file
  case job
  case profile
  case environment
  case commandLine = "command line"
}

package struct GivenValue: Sendable, Hashable {
  /// The validated value, as in a document.
  package var value: JSONNode
  package var layer: Layer
  package var place: Place
  /// The environment variables expanded in the value.
  package var variables: [NamedVariable] = []

  /// The value on one line, as `config show` prints it.
  package var text: String {
    switch value.value {
    case .array(let elements):
      "[" + elements.map { $0.string ?? $0["file"]?.string ?? "" }.joined(separator: ", ") + "]"
    case .object: value.compactText(", ", ": ")
    default: value.scalar ?? ""
    }
  }

  /// Whether the value is empty; if so, even a secret need not be hidden.
  package var isEmpty: Bool { value.string?.utf8.isEmpty ?? value.array?.isEmpty ?? false }

  /// The origin of the value in words.
  package var origin: String { ([place.description] + variables.map(\.description)).joined(separator: ", ") }
}

/// A setting with all values given for it; the last one wins.
package struct ResolvedSetting: Sendable {
  package var setting: Setting
  /// The values in the order of the layers, starting with the built-in default.
  package var chain: [GivenValue]
  /// The secrets of all settings, which are hidden even within this setting's URL.
  var secrets: [Secret] = []

  package var given: GivenValue { chain[chain.count - 1] }

  /// The value for display, without secrets.
  package var shown: String { shown(given) }

  func shown(_ given: GivenValue) -> String {
    if setting.isSecret { return given.isEmpty ? given.text : Secret.redacted }
    guard case .text(let form) = setting.kind, form.isURL else { return given.text }
    return secrets.reduce(given.text) { $1.hidden(in: $0) }
  }

  /// The input files that the value names.
  var files: [String] {
    switch setting.kind {
    case .text(.file): given.isEmpty ? [] : [given.text]
    case .lookupTables: given.value.array?.compactMap { $0["file"]?.string } ?? []
    default: []
    }
  }
}

/// Merges layers value by value and collects the faults in them.
struct SettingLayers {
  private(set) var resolved: [ResolvedSetting] = []
  var faults: [ConfigurationFault] = []
  private let schema = SettingsSchema.current
  private var indexes: [String: Int] = [:]

  init() {
    for setting in schema.settings {
      let field = Field(setting.name, setting.fallback, DocumentFaults("built-in default"))
      guard let value = SettingReader(setting: setting, field: field, directory: "/").value else {
        // A default that its own row refuses is a bug; a test checks every row.
        preconditionFailure("\(field.faults.all)")
      }
      indexes[setting.name] = resolved.count
      resolved.append(
        ResolvedSetting(
          setting: setting, chain: [GivenValue(value: value, layer: .defaults, place: Place(field.faults.source))]))
    }
  }

  /// Merges a document of sections, which overrides the existing values.
  ///
  /// - Parameter source: the name of the file in messages.
  /// - Parameter directory: the base of its relative file names.
  mutating func lay(_ document: JSONNode, _ layer: Layer, source: String, directory: String) {
    let found = DocumentFaults(source)
    defer { faults += found.all }
    if let inputs = document.members?.first(where: { $0.key == "inputs" }) {
      return found.add(inputs.place, "the file is a job, not a configuration", hint: "name the job with --job")
    }
    guard let sections = Fields(document, "the configuration", found) else { return }
    for section in SettingSection.allCases {
      guard let keys = sections[section.rawValue]?.object() else { continue }
      for setting in schema.settings(in: section) {
        let given = setting.spellings.compactMap { keys[$0] }.sorted { ($0.place?.line ?? 0) < ($1.place?.line ?? 0) }
        for other in given.dropFirst() {
          other.refuse(
            "is another spelling of '\(given[0].name)', which is set\(given[0].place.map { " on line \($0.line)" } ?? "")"
          )
        }
        if let first = given.first { lay(first, as: setting, layer, directory: directory) }
      }
      keys.end { schema.suggestion(forKey: $0, in: section.rawValue) }
    }
    sections.end("section") { schema.suggestion(forSection: $0) }
  }

  /// Overrides the existing value; faults are reported to the field.
  ///
  /// - Parameter directory: the base of relative file names.
  mutating func lay(_ field: Field, as setting: Setting, _ layer: Layer, directory: String) {
    guard let index = indexes[setting.name] else { return }
    let variables = field.node.allVariables
    var field = field
    if !variables.isEmpty, let text = field.node.string {
      guard let node = setting.kind.node(of: text, field) else { return }
      field = Field(field.name, node, at: field.place, field.faults)
    }
    guard let value = SettingReader(setting: setting, field: field, directory: directory).value else { return }
    let place = Place(field.faults.source, line: field.place?.line)
    resolved[index].chain.append(GivenValue(value: value, layer: layer, place: place, variables: variables))
  }

  mutating func report(_ place: Place, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(place, problem, hint: hint))
  }

  mutating func warn(_ place: Place, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(place, .warning, problem, hint: hint))
  }

  /// Returns the winning value of a setting; nil for an unknown name.
  func winner(_ name: String) -> GivenValue? { indexes[name].map { resolved[$0].given } }
}

extension SettingsSchema {
  /// Returns the suggestion for an unknown key, or the section's keys if none is similar.
  func suggestion(forKey key: String, in section: String) -> String {
    let own = settings.filter { $0.section.rawValue == section }
    if let elsewhere = settings.first(where: { $0.spellings.contains(key) }) {
      return NearestName.question(elsewhere.name)
    }
    if let near = NearestName.of(key, among: own.flatMap(\.spellings)) {
      return NearestName.question("\(section).\(near)")
    }
    let others = settings.filter { $0.section.rawValue != section }
    if let near = NearestName.of(key, among: others.map(\.key)), let setting = others.first(where: { $0.key == near }) {
      return NearestName.question(setting.name)
    }
    return "known keys of \(section): \(own.map(\.key).joined(separator: ", "))"
  }

  func suggestion(forSection section: String) -> String {
    let sections = SettingSection.allCases.map(\.rawValue)
    if let question = NearestName.question(about: section, among: sections) { return question }
    if let setting = settings.first(where: { $0.spellings.contains(section) }) {
      return "'\(setting.key)' belongs in '\(setting.section.rawValue)'"
    }
    return "known sections: \(sections.joined(separator: ", "))"
  }
}

extension SettingLayers {
  /// Checks the settings of `Privacy` against each other and the job.
  ///
  /// - Parameter isOfGame: whether the job's platform sends events that `Privacy` does not change.
  mutating func checkPrivacy(isOfGame: Bool) {
    var lists: [ByteText: String] = [:]
    for key in ["leaveOut", "mask", "hash"] {
      let name = "Privacy.\(key)"
      guard let given = winner(name), let attributes = given.value.array?.compactMap(\.string), !attributes.isEmpty
      else { continue }
      if isOfGame {
        report(
          given.place, "'\(name)' names attributes, but a game's events are sent unchanged",
          hint: "remove the personal data from the export instead")
      }
      for attribute in attributes {
        guard let other = lists.updateValue(name, forKey: ByteText(attribute)), other != name else { continue }
        report(given.place, "'\(name)' and '\(other)' both name '\(attribute)'")
      }
    }
    guard let hash = winner("Privacy.hash"), !hash.isEmpty, let key = winner("Privacy.hashKey"),
      key.text.utf8.count < 16
    else { return }
    report(
      hash.place, "'Privacy.hash' names attributes, but 'Privacy.hashKey' has fewer than 16 bytes",
      hint:
        "set ENGAGE_HASH_KEY_FILE to the path of a file with at least 16 random characters; equal values have equal hashes as long as the key is the same"
    )
  }
}
