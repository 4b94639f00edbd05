package import BatchFoundation

/// The sources of values; later ones win (reference formats 2.1).
package enum Layer: String, Sendable, CaseIterable {
  case defaults = "default"
  case file
  case job
  case profile
  case environment
  case commandLine = "command line"
}

package struct GivenValue: Sendable, Hashable {
  package var value: SettingValue
  package var layer: Layer
  package var place: Place
  /// The environment variables expanded in the value.
  package var variables: [NamedVariable] = []

  /// The origin of the value in words.
  package var origin: String { ([place.description] + variables.map(\.description)).joined(separator: ", ") }
}

/// A setting with all values given for it; the last one wins.
package struct ResolvedSetting: Sendable {
  package var setting: Setting
  /// The values in the order of the layers, starting with the built-in default.
  package var chain: [GivenValue]
  /// The values of other settings that must be hidden, even within the URL of this one.
  var secrets: [Secret] = []

  package var given: GivenValue { chain[chain.count - 1] }
  package var value: SettingValue { given.value }

  /// The value for display, without secrets.
  package var shown: String { shown(value) }

  func shown(_ value: SettingValue) -> String {
    if setting.isSecret { return value.isEmpty ? value.text : Secret.redacted }
    guard case .text(let form) = setting.kind, form.isURL else { return value.text }
    return secrets.reduce(value.text) { $1.hidden(in: $0) }
  }

  /// The files named by the value that are read.
  var files: [String] {
    switch (setting.kind, value) {
    case (.text(.file), .text(let file)): file.utf8.isEmpty ? [] : [file]
    case (_, .lookupTables(let tables)): tables.map(\.file)
    default: []
    }
  }
}

/// Merges layers value by value and collects their faults.
struct SettingLayers {
  private(set) var resolved: [ResolvedSetting] = []
  private(set) var faults: [ConfigurationFault] = []
  private let schema = SettingsSchema.current
  private var indexes: [String: Int] = [:]

  /// The name of the JSON Schema for editors, ignored here.
  static let schemaKey = "$schema"

  init() {
    let reader = SettingReader(directory: "/")
    for setting in schema.settings {
      do {
        let value = try reader.read(setting.fallback, as: setting, called: setting.name)
        indexes[setting.name] = resolved.count
        resolved.append(
          ResolvedSetting(
            setting: setting, chain: [GivenValue(value: value, layer: .defaults, place: Place("built-in default"))]))
      } catch {
        // A default that its own row refuses is a bug, which a test of every row excludes.
        preconditionFailure(error.problem)
      }
    }
  }

  /// Lays a document of sections over the present values.
  ///
  /// - Parameter source: the file as messages name it.
  /// - Parameter directory: the base of its relative file names.
  mutating func lay(_ document: JSONNode, _ layer: Layer, source: String, directory: String) {
    guard case .object(let sections) = document.value else {
      report(
        Place(source, line: document.line),
        "the configuration is \(document.documentKind), but must be a dictionary of sections")
      return
    }
    if let inputs = sections.first(where: { $0.key == "inputs" }) {
      report(Place(source, line: inputs.line), "the file is a job, not a configuration", hint: "name it with --job")
      return
    }
    let reader = SettingReader(directory: directory)
    var firstLines: [String: Int?] = [:]
    for section in sections where section.key != Self.schemaKey {
      let place = Place(source, line: section.line)
      if let first = firstLines.updateValue(section.line, forKey: section.key) {
        report(place, "section '\(section.key)' is given twice\(Self.firstIn(first))")
        continue
      }
      guard let known = SettingSection(rawValue: section.key) else {
        report(unknownSection(section.key, place))
        continue
      }
      switch section.value.value {
      case .null: continue
      case .object(let members): lay(members, of: known, layer, source, reader)
      default:
        let kind = section.value.documentKind
        report(place, "section '\(section.key)' is \(kind), but must be a dictionary")
      }
    }
  }

  private mutating func lay(
    _ members: [JSONMember], of section: SettingSection, _ layer: Layer, _ source: String, _ reader: SettingReader
  ) {
    var seen: [String: (spelling: String, line: Int?)] = [:]
    for member in members {
      let name = "\(section.rawValue).\(member.key)"
      let place = Place(source, line: member.line)
      guard let setting = schema.setting(section.rawValue, member.key) else {
        report(unknownKey(section.rawValue, member.key, place))
        continue
      }
      if let first = seen[setting.key] {
        let other = first.spelling == member.key ? "" : ", which '\(first.spelling)' is another spelling of"
        report(place, "key '\(name)' is set twice\(other)\(Self.firstIn(first.line))")
        continue
      }
      seen[setting.key] = (member.key, member.line)
      if member.value.isNull { continue }
      lay(member.value, as: setting, called: name, layer, Place(source, line: member.value.line ?? member.line), reader)
    }
  }

  mutating func lay(
    _ node: JSONNode, as setting: Setting, called name: String, _ layer: Layer, _ place: Place,
    _ reader: SettingReader
  ) {
    guard let index = indexes[setting.name] else { return }
    do {
      let variables = node.allVariables
      var node = node
      if !variables.isEmpty, case .string(let text) = node.value {
        node = try setting.kind.node(of: text, called: name)
      }
      let value = try reader.read(node, as: setting, called: name)
      resolved[index].chain.append(GivenValue(value: value, layer: layer, place: place, variables: variables))
    } catch {
      report(place, error.problem, hint: error.hint)
    }
  }

  mutating func report(_ fault: ConfigurationFault) { faults.append(fault) }

  mutating func report(_ place: Place, _ problem: String, hint: String? = nil) {
    report(ConfigurationFault(place, problem, hint: hint))
  }

  mutating func warn(_ place: Place, _ problem: String, hint: String? = nil) {
    report(ConfigurationFault(place, .warning, problem, hint: hint))
  }

  /// Returns the winning value of a setting of the table.
  func winner(_ name: String) -> GivenValue? { indexes[name].map { resolved[$0].given } }

  func unknownKey(_ section: String, _ key: String, _ place: Place) -> ConfigurationFault {
    ConfigurationFault(
      place, "unknown key '\(section).\(key)'", hint: isLookedFor ? schema.suggestion(forKey: key, in: section) : nil)
  }

  func unknownSection(_ section: String, _ place: Place) -> ConfigurationFault {
    ConfigurationFault(
      place, "unknown section '\(section)'", hint: isLookedFor ? schema.suggestion(forSection: section) : nil)
  }

  /// Whether to look for suggestions: faults beyond the limit are not shown.
  private var isLookedFor: Bool { faults.count < ConfigurationErrors.most }

  private static func firstIn(_ line: Int?) -> String { line.map { " (first in line \($0))" } ?? "" }
}

extension SettingsSchema {
  /// Returns the suggestion for an unknown key, or the section's keys if none is near.
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
    return "known keys of \(section) are \(own.map(\.key).joined(separator: ", "))"
  }

  func suggestion(forSection section: String) -> String {
    let sections = SettingSection.allCases.map(\.rawValue)
    if let question = NearestName.question(about: section, among: sections) { return question }
    if let setting = settings.first(where: { $0.spellings.contains(section) }) {
      return "'\(setting.key)' belongs in '\(setting.section.rawValue)'"
    }
    return "known sections are \(sections.joined(separator: ", "))"
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
      guard let given = winner(name), case .list(let attributes) = given.value, !attributes.isEmpty else { continue }
      if isOfGame {
        report(
          given.place, "'\(name)' names attributes, but a game's events are sent unchanged",
          hint: "leave such parameters out of the export")
      }
      for attribute in attributes {
        guard let other = lists.updateValue(name, forKey: ByteText(attribute)), other != name else { continue }
        report(given.place, "'\(name)' and '\(other)' both name '\(attribute)'")
      }
    }
    guard let hash = winner("Privacy.hash"), !hash.value.isEmpty, let key = winner("Privacy.hashKey"),
      key.value.text.utf8.count < 16
    else { return }
    report(
      hash.place, "'Privacy.hash' names attributes, but 'Privacy.hashKey' has fewer than 16 bytes",
      hint: "name a file of random bytes with ENGAGE_HASH_KEY_FILE; with the same key, equal values stay equal")
  }
}
