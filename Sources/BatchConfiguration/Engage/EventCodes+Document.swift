import BatchFoundation

/// `General.eventCodes`: the name of a profile, or a table of differences from one (reference events 1.8).
extension EventCodes {
  static let base = "base"
  static let nameTable = "names"
  static let everyEvent = "everyEvent"
  static let code = "code"
  static let attributes = "attributes"
  static let kinds = EventKind.allCases.map { "\($0)" }
  /// The fields that a table can place and name.
  static let fields = AutomaticField.allCases.filter { !AutomaticField.ofAugmentation.contains($0) }.map { "\($0)" }

  /// Takes a checked value; nil for one of another setting.
  init?(_ value: SettingValue) {
    switch value {
    case .text(let name):
      guard let profile = Self.profiles.first(where: { $0.profile == name }) else { return nil }
      self = profile
    case .document(let table):
      guard let codes = try? EventCodes(table, called: "") else { return nil }
      self = codes
    default: return nil
    }
  }

  /// - Parameter name: the setting's name in messages.
  init(_ table: JSONNode, called name: String) throws(SettingReader.Refusal) {
    let given = try table.members([Self.base, Self.nameTable, Self.everyEvent] + Self.kinds, of: name)
    let base = try given[Self.base].map { node throws(SettingReader.Refusal) in try Self.word(node, "\(name).base") }
    let names = Self.profiles.map(\.profile)
    guard let profile = Self.profiles.first(where: { $0.profile == base ?? Self.engageSDK.profile }) else {
      throw SettingReader.Refusal.choice(base ?? "", of: names, "\(name).base")
    }
    self = profile
    for (field, node) in try given[Self.nameTable]?.members(Self.fields, of: "\(name).names") ?? [:] {
      let text = try Self.word(node, "\(name).names.\(field)")
      self.names[try Self.field(field, "\(name).names")] = text
    }
    if let list = given[Self.everyEvent] { ofEveryEvent = try Self.fields(list, "\(name).everyEvent") }
    for kind in EventKind.allCases {
      guard let node = given["\(kind)"] else { continue }
      let row = try node.members([Self.code, Self.attributes], of: "\(name).\(kind)")
      if let code = row[Self.code] { self[kind].code = try Self.code(code, "\(name).\(kind).code") }
      if let list = row[Self.attributes] { self[kind].fields = try Self.fields(list, "\(name).\(kind).attributes") }
    }
  }

  private static func word(_ node: JSONNode, _ name: String) throws(SettingReader.Refusal) -> String {
    guard case .string(let text) = node.value, !text.utf8.isEmpty else {
      throw SettingReader.Refusal("'\(name)' is \(node.documentKind), but must be a non-empty string")
    }
    return text
  }

  /// Reads a code; an empty one keeps events of the kind from being sent.
  private static func code(_ node: JSONNode, _ name: String) throws(SettingReader.Refusal) -> String {
    guard case .string(let text) = node.value, text.utf8.count < 10, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      throw SettingReader.Refusal(
        "'\(name)' must be a string of digits, or empty to not send such events")
    }
    guard !acousticMobile.isOfService(text) else {
      throw SettingReader.Refusal("'\(name)' is '\(text)', a code that only the service itself assigns")
    }
    return text
  }

  private static func fields(_ node: JSONNode, _ name: String) throws(SettingReader.Refusal) -> [AutomaticField] {
    guard case .array(let elements) = node.value else {
      throw SettingReader.Refusal("'\(name)' is \(node.documentKind), but must be an array of strings")
    }
    var fields: [AutomaticField] = []
    for element in elements { fields.append(try field(try word(element, name), name)) }
    return fields
  }

  private static func field(_ text: String, _ name: String) throws(SettingReader.Refusal) -> AutomaticField {
    guard fields.contains(text), let field = AutomaticField.allCases.first(where: { "\($0)" == text }) else {
      throw SettingReader.Refusal.choice(text, of: fields, name)
    }
    return field
  }
}

extension JSONNode {
  /// Returns the members of a dictionary by key; each must be known and given once.
  func members(_ known: [String], of name: String) throws(SettingReader.Refusal) -> [String: JSONNode] {
    guard case .object(let members) = value else {
      throw SettingReader.Refusal("'\(name)' is \(documentKind), but must be a dictionary")
    }
    var given: [String: JSONNode] = [:]
    for member in members {
      guard known.contains(member.key) else {
        throw SettingReader.Refusal(
          "unknown key '\(name).\(member.key)'",
          hint: NearestName.question(about: member.key, among: known)
            ?? "known keys are \(known.joined(separator: ", "))")
      }
      guard given.updateValue(member.value, forKey: member.key) == nil else {
        throw SettingReader.Refusal("key '\(name).\(member.key)' is set twice")
      }
    }
    return given
  }
}

extension Settings {
  /// Returns the settings of an earlier run as listed by its store; secret and unknown ones have their defaults.
  package static func stored(_ values: [(name: String, value: String)]) -> Settings {
    var layers = SettingLayers()
    for (name, value) in values {
      guard let override = SettingOverride("\(name)=\(value)") else { continue }
      layers.lay(overrides: [override], currentDirectory: "/")
    }
    return layers.settings
  }
}
