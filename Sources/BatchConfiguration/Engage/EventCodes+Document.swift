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

  /// Creates the table from a validated value; nil if the value belongs to a different setting.
  init?(_ value: JSONNode) {
    guard let name = value.string else {
      self.init(Field("", value, DocumentFaults("")))
      return
    }
    guard let profile = Self.profiles.first(where: { $0.profile == name }) else { return nil }
    self = profile
  }

  /// Reads a table; nil after reporting the reason why it is refused.
  init?(_ table: Field) {
    guard let given = table.object() else { return nil }
    defer { given.end() }
    let names = Self.profiles.map(\.profile)
    let base = given[Self.base].map { $0.choice(names) } ?? Self.engageSDK.profile
    guard let profile = Self.profiles.first(where: { $0.profile == base }) else { return nil }
    self = profile
    for (key, name) in given[Self.nameTable]?.entries() ?? [] {
      if let field = Self.field(key, name), let text = name.text() { self.names[field] = text }
    }
    if let list = given[Self.everyEvent] { ofEveryEvent = Self.fields(list) }
    for kind in EventKind.allCases {
      guard let row = given["\(kind)"]?.object() else { continue }
      if let code = row[Self.code].flatMap(Self.code) { self[kind].code = code }
      if let list = row[Self.attributes] { self[kind].fields = Self.fields(list) }
      row.end()
    }
  }

  /// Reads an event code; an empty code keeps events of the kind from being sent.
  private static func code(_ field: Field) -> String? {
    guard let text = field.node.string, text.utf8.count < 10, text.utf8.allSatisfy(\.isASCIIDigit) else {
      field.refuse("must be a string of up to 9 digits, or empty to keep these events from being sent")
      return nil
    }
    guard !acousticMobile.isOfService(text) else {
      field.refuse("is '\(text)', a code for events that only the service creates")
      return nil
    }
    return text
  }

  private static func fields(_ list: Field) -> [AutomaticField] {
    list.elements("an array of strings")?.compactMap { element in element.text().flatMap { field($0, element) } } ?? []
  }

  private static func field(_ text: String, _ place: Field) -> AutomaticField? {
    if fields.contains(text), let field = AutomaticField.allCases.first(where: { "\($0)" == text }) { return field }
    place.refuse(text, as: fields)
    return nil
  }
}

extension Settings {
  /// Returns an earlier run's settings from the values that its store lists; secrets and unknown settings have their
  /// defaults.
  package static func stored(_ values: [(name: String, value: String)]) -> Settings {
    var layers = SettingLayers()
    for (name, value) in values {
      guard let override = SettingOverride("\(name)=\(value)") else { continue }
      layers.lay(overrides: [override], currentDirectory: "/")
    }
    return layers.settings
  }
}
