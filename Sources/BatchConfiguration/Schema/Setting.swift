package import BatchFoundation

/// A place in ``Settings`` that a setting fills.
package typealias Target<Value> = WritableKeyPath<Settings, Value> & Sendable

/// The groups of settings, in the order in which they are listed.
package enum SettingSection: String, CaseIterable, Sendable {
  case general = "General"
  case paramFieldNames = "ParamFieldNames"
  case session = "Session"
  case networking = "Networking"
  case ubfFieldNames = "UBFFieldNames"
  case locationServices = "LocationServices"
  case augmentation = "Augmentation"
  case pluggableServices = "PluggableServices"
  case localEventStore = "LocalEventStore"
  case recipient = "Recipient"
  case auditRecord = "AuditRecord"
  case connection = "Connection"
  case upload = "Upload"
  case ingest = "Ingest"
  case privacy = "Privacy"
  case report = "Report"
  case deepLinks = "DeepLinks"
  case deltaDNA = "DeltaDNA"
  case unity = "Unity"
  case sandbox = "Sandbox"
}

/// One row of the table of settings: everything that is known about a key.
package struct Setting: Sendable {
  package var section: SettingSection
  package var key: String
  /// How the other platform's package, or an older one, spells the key.
  package var otherSpellings: [String] = []
  package var kind: SettingKind
  package var unit: String?
  /// The variable of the environment that carries it (reference formats 2.2); also with the suffix `_FILE`, naming a file that holds the value.
  package var variable: String?
  /// The built-in default, as a configuration file would hold it.
  package var fallback: JSONNode
  /// Never shown.
  package var isSecret = false
  /// Only the service is told it, so what is done without the service goes without it.
  var isCredential: Bool { isSecret && [.connection, .deltaDNA].contains(section) }
  /// Read and checked, but nothing in a batch run depends on it.
  package var isWithoutEffect = false
  /// One or two sentences for the reference.
  package var summary: String
  /// Puts a checked value into the settings.
  var store: @Sendable (SettingValue, inout Settings) -> Void = { _, _ in }

  /// `Section.key`.
  package var name: String { "\(section.rawValue).\(key)" }

  package var spellings: [String] { [key] + otherSpellings }
}

/// One function per type of value: the row and its place in ``Settings``.
extension Setting {
  /// - Parameters:
  ///   - target: the place that the value fills.
  ///   - value: as the place has it; nil for a checked value of another kind, which a row never gets.
  init<Value: Sendable>(
    _ key: String, aka otherSpellings: [String] = [], _ kind: SettingKind, unit: String? = nil, fallback: JSONNode,
    _ target: any Target<Value>, _ summary: String, _ value: @escaping @Sendable (SettingValue) -> Value?
  ) {
    self.init(
      section: .general, key: key, otherSpellings: otherSpellings, kind: kind, unit: unit, fallback: fallback,
      summary: summary
    ) { given, settings in
      if let value = value(given) { settings[keyPath: target] = value }
    }
  }

  static func flag(
    _ key: String, _ fallback: Bool, _ target: any Target<Bool>, aka otherSpellings: [String] = [], _ summary: String
  ) -> Setting {
    Setting(key, aka: otherSpellings, .boolean, fallback: .flag(fallback), target, summary, \.flag)
  }

  static func number(
    _ key: String, _ fallback: Int64, in range: ClosedRange<Int64>, unit: String? = nil, _ target: any Target<Int>,
    aka otherSpellings: [String] = [], _ summary: String
  ) -> Setting {
    Setting(
      key, aka: otherSpellings, .integer(range), unit: unit, fallback: .number(fallback), target, summary
    ) { $0.number.map { Int($0) } }
  }

  static func bytes(
    _ key: String, _ fallback: Int64, in range: ClosedRange<Int64>, _ target: any Target<Int>, _ summary: String
  ) -> Setting {
    Setting(key, .byteCount(range), unit: "bytes", fallback: .number(fallback), target, summary) {
      $0.number.map { Int($0) }
    }
  }

  static func duration(
    _ key: String, _ fallback: String, atLeast shortest: Int64 = 0, _ target: any Target<Milliseconds>,
    _ summary: String
  ) -> Setting {
    Setting(
      key, .duration(Milliseconds(shortest * 1000)...ExpirationText.longestDuration), fallback: .text(fallback), target,
      summary
    ) { if case .duration(let span, _) = $0 { span } else { nil } }
  }

  /// A whole number of seconds, as the deltaDNA SDKs spell their durations.
  static func seconds(
    _ key: String, _ fallback: Int64, _ target: any Target<Milliseconds>, aka otherSpellings: [String] = [],
    _ summary: String
  ) -> Setting {
    Setting(
      key, aka: otherSpellings, .integer(0...31_536_000), unit: "seconds", fallback: .number(fallback), target, summary
    ) { $0.number.map { Milliseconds($0 * 1000) } }
  }

  static func text(
    _ key: String, _ fallback: String, _ form: TextForm, _ target: any Target<String>,
    aka otherSpellings: [String] = [], _ summary: String
  ) -> Setting {
    Setting(key, aka: otherSpellings, .text(form), fallback: .text(fallback), target, summary) { $0.text }
  }

  /// Text that may be missing; the empty text counts as missing.
  static func optionalText(
    _ key: String, _ form: TextForm, _ target: any Target<String?>, aka otherSpellings: [String] = [],
    _ summary: String
  ) -> Setting {
    Setting(key, aka: otherSpellings, .text(form), fallback: "", target, summary) { .some($0.isEmpty ? nil : $0.text) }
  }

  /// A credential; the empty text counts as missing.
  static func secret(_ key: String, _ target: any Target<Secret?>, _ summary: String) -> Setting {
    var setting = Setting(key, .text(.any), fallback: "", target, summary) {
      .some($0.isEmpty ? nil : Secret($0.text))
    }
    setting.isSecret = true
    return setting
  }

  static func datePattern(
    _ key: String, _ fallback: String, _ target: any Target<DatePattern>, _ summary: String
  ) -> Setting {
    // A refused pattern never becomes a checked value.
    Setting(key, .text(.datePattern), fallback: .text(fallback), target, summary) { try? DatePattern($0.text) }
  }

  static func choice<Value>(
    _ key: String, _ fallback: Value, _ target: any Target<Value>, _ summary: String
  ) -> Setting where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    Setting(
      key, .choice(Value.allCases.map(\.rawValue)), fallback: .text(fallback.rawValue), target, summary
    ) { Value(rawValue: $0.text) }
  }

  static func list(
    _ key: String, _ fallback: [String], of form: TextForm, _ target: any Target<[String]>,
    aka otherSpellings: [String] = [], _ summary: String
  ) -> Setting {
    Setting(key, aka: otherSpellings, .list(form), fallback: .texts(fallback), target, summary, \.elements)
  }

  /// A setting of the phones that is accepted, checked and shown, and changes nothing in a batch run.
  static func unused(
    _ key: String, _ fallback: JSONNode, _ kind: SettingKind, unit: String? = nil,
    aka otherSpellings: [String] = [],
    _ summary: String
  ) -> Setting {
    Setting(
      section: .general, key: key, otherSpellings: otherSpellings, kind: kind, unit: unit, fallback: fallback,
      isWithoutEffect: true, summary: summary)
  }

  /// Kept for the files that have it; nothing in a batch run depends on it.
  var withoutEffect: Setting {
    var setting = self
    setting.isWithoutEffect = true
    return setting
  }

  func from(_ variable: String) -> Setting {
    var setting = self
    setting.variable = variable
    setting.summary += " Environment: `\(variable)`."
    return setting
  }

  func reading(_ kind: SettingKind) -> Setting {
    var setting = self
    setting.kind = kind
    return setting
  }

  func placed(in section: SettingSection) -> Setting {
    var setting = self
    setting.section = section
    return setting
  }
}
