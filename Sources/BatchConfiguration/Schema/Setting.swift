package import BatchFoundation

/// The property of ``Settings`` that a setting fills.
package typealias Target<Value> = WritableKeyPath<Settings, Value> & Sendable

/// The groups of settings, in listing order.
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
  case storage = "Storage"
  case privacy = "Privacy"
  case report = "Report"
  case deepLinks = "DeepLinks"
  case deltaDNA = "DeltaDNA"
  case unity = "Unity"
  case sandbox = "Sandbox"
}

/// One row of the table of settings, with all properties of a key.
package struct Setting: Sendable {
  package var section: SettingSection
  package var key: String
  /// The other accepted spellings, from another SDK or an older release.
  package var otherSpellings: [String] = []
  package var kind: SettingKind
  package var unit: String?
  /// The environment variable for the setting (reference formats 2.2); with the suffix `_FILE`, it names a file that
  /// contains the value.
  package var variable: String?
  /// The built-in default, as in a configuration file.
  package var fallback: JSONNode
  /// Whether the value is never shown.
  package var isSecret = false
  /// Whether the value is needed only for calls to the service.
  var isCredential: Bool { isSecret && [.connection, .deltaDNA].contains(section) }
  /// Whether the setting is read and validated, but has no effect in a batch run.
  package var isWithoutEffect = false
  /// One or two sentences for the reference.
  package var summary: String
  /// Stores a validated value in the settings.
  var store: @Sendable (JSONNode, inout Settings) -> Void = { _, _ in }

  package var name: String { "\(section.rawValue).\(key)" }

  package var spellings: [String] { [key] + otherSpellings }
}

/// One function per type of value. Each makes a row that fills a property of ``Settings``.
extension Setting {
  /// - Parameter target: the property that the value fills.
  /// - Parameter value: converts a validated value to the type of the property; returns nil for other kinds, which a
  ///   row never receives.
  init<Value: Sendable>(
    _ key: String, aka otherSpellings: [String] = [], _ kind: SettingKind, unit: String? = nil, fallback: JSONNode,
    _ target: any Target<Value>, _ summary: String, _ value: @escaping @Sendable (JSONNode) -> Value?
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
    Setting(key, aka: otherSpellings, .boolean, fallback: .flag(fallback), target, summary, \.bool)
  }

  static func number(
    _ key: String, _ fallback: Int64, in range: ClosedRange<Int64>, unit: String? = nil, _ target: any Target<Int>,
    aka otherSpellings: [String] = [], _ summary: String
  ) -> Setting {
    Setting(
      key, aka: otherSpellings, .integer(range), unit: unit, fallback: .number(fallback), target, summary
    ) { $0.integer.map { Int($0) } }
  }

  static func bytes(
    _ key: String, _ fallback: Int64, in range: ClosedRange<Int64>, _ target: any Target<Int>, _ summary: String
  ) -> Setting {
    Setting(key, .byteCount(range), unit: "bytes", fallback: .number(fallback), target, summary) {
      $0.integer.map { Int($0) }
    }
  }

  static func duration(
    _ key: String, _ fallback: String, atLeast shortest: Int64 = 0, _ target: any Target<Milliseconds>,
    _ summary: String
  ) -> Setting {
    Setting(
      key, .duration(Milliseconds(shortest * 1000)...ExpirationText.longestDuration), fallback: .text(fallback), target,
      summary
    ) { if case .duration(let span)? = $0.string?.withText(ExpirationText.parse) { span } else { nil } }
  }

  /// A whole number of seconds, as in the deltaDNA SDKs.
  static func seconds(
    _ key: String, _ fallback: Int64, _ target: any Target<Milliseconds>, aka otherSpellings: [String] = [],
    _ summary: String
  ) -> Setting {
    Setting(
      key, aka: otherSpellings, .integer(0...31_536_000), unit: "seconds", fallback: .number(fallback), target, summary
    ) { $0.integer.map { Milliseconds($0 * 1000) } }
  }

  static func text(
    _ key: String, _ fallback: String, _ form: TextKind, _ target: any Target<String>,
    aka otherSpellings: [String] = [], _ summary: String
  ) -> Setting {
    Setting(key, aka: otherSpellings, .text(form), fallback: .text(fallback), target, summary, \.string)
  }

  /// An optional string; an empty string counts as missing.
  static func optionalText(
    _ key: String, _ form: TextKind, _ target: any Target<String?>, aka otherSpellings: [String] = [],
    _ summary: String
  ) -> Setting {
    Setting(key, aka: otherSpellings, .text(form), fallback: "", target, summary) { .some($0.nonempty) }
  }

  /// A credential; an empty string counts as missing.
  static func secret(_ key: String, _ target: any Target<Secret?>, _ summary: String) -> Setting {
    var setting = Setting(key, .text(.any), fallback: "", target, summary) {
      .some($0.nonempty.map { Secret($0) })
    }
    setting.isSecret = true
    return setting
  }

  static func datePattern(
    _ key: String, _ fallback: String, _ target: any Target<DatePattern>, _ summary: String
  ) -> Setting {
    // A refused pattern never becomes a validated value.
    Setting(key, .text(.datePattern), fallback: .text(fallback), target, summary) {
      try? $0.string.map { try DatePattern($0) }
    }
  }

  static func choice<Value>(
    _ key: String, _ fallback: Value, _ target: any Target<Value>, _ summary: String
  ) -> Setting where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    Setting(
      key, .choice(Value.allCases.map(\.rawValue)), fallback: .text(fallback.rawValue), target, summary
    ) { $0.string.flatMap { Value(rawValue: $0) } }
  }

  static func list(
    _ key: String, of form: TextKind, _ target: any Target<[String]>, _ summary: String
  ) -> Setting {
    Setting(key, .list(form), fallback: [], target, summary) { $0.array?.compactMap(\.string) }
  }

  /// A phone setting that is accepted, validated and shown, but has no effect in a batch run.
  static func unused(
    _ key: String, _ fallback: JSONNode, _ kind: SettingKind, unit: String? = nil, _ summary: String
  ) -> Setting {
    Setting(
      section: .general, key: key, kind: kind, unit: unit, fallback: fallback, isWithoutEffect: true, summary: summary)
  }

  func from(_ variable: String) -> Setting {
    var setting = self
    setting.variable = variable
    setting.summary += " Environment: `\(variable)`."
    return setting
  }

  func placed(in section: SettingSection) -> Setting {
    var setting = self
    setting.section = section
    return setting
  }
}

extension JSONNode {
  /// The string; nil if it is empty.
  fileprivate var nonempty: String? { string.flatMap { $0.utf8.isEmpty ? nil : $0 } }
}

/// The type of a setting, from which validation, the JSON Schema and the reference table are derived.
package enum SettingKind: Sendable {
  case boolean
  case integer(ClosedRange<Int64>)
  /// An integer, or a string that contains one: the platforms disagree about the type.
  case integerOrText(ClosedRange<Int64>)
  /// A number of bytes, or a string with a unit such as `64 MiB` or `128 MB`.
  case byteCount(ClosedRange<Int64>)
  /// A length of time, written like the expiration of a campaign.
  case duration(ClosedRange<Milliseconds>)
  case text(TextKind)
  case choice([String])
  /// One of several words, two of which may be given as `true` and `false`.
  case choiceOrBoolean([String], whenTrue: String, whenFalse: String)
  case list(TextKind)
  case lookupTables
  /// The name of a profile of codes, or a custom table.
  case eventCodes

  /// The name of the type in messages and in `config explain`.
  package var name: String {
    switch self {
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .integerOrText: "an integer, or a string that contains one"
    case .byteCount: "an integer, or a string such as '64 MiB'"
    case .duration: "a string with a duration"
    case .text, .choice: "a string"
    case .choiceOrBoolean: "a string or a boolean"
    case .list: "an array of strings"
    case .lookupTables: "an array of objects"
    case .eventCodes: "a string or an object"
    }
  }
}

/// The required format of a text setting.
package enum TextKind: Sendable, Hashable {
  case any
  /// The name of a column, parameter or attribute: not empty, without control characters.
  case name
  /// Empty, or an absolute `https` URL without user, query or fragment; `http` only for loopback addresses.
  case endpoint
  /// Empty, or a URL like ``endpoint``, but `http` is accepted for any host and the scheme is optional, as in the
  /// deltaDNA SDKs.
  case bareEndpoint
  /// Empty, or the URL of an `http` proxy, without a user.
  case proxy
  /// The path of a URL, starting with its slash.
  case urlPath
  /// Empty, or one segment of a URL's path.
  case urlSegment
  /// Empty, or the path of a file, relative to the file that contains the setting.
  case file
  /// Empty, or the path of a folder, relative to the file that contains the setting.
  case folder
  case datePattern
  /// A host name such as `www.example.org`, optionally with `*.` before it.
  case domain

  var isURL: Bool { self == .endpoint || self == .bareEndpoint || self == .proxy }
}
