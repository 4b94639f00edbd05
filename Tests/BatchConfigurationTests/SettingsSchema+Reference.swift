import BatchFoundation

@testable import BatchConfiguration

extension SettingsSchema {
  /// The built-in defaults as a document, section by section.
  var defaults: JSONNode { sections { $0.fallback } }

  /// The generated tables of `configs/README.md`.
  var reference: String {
    SettingSection.allCases.map { section in
      var text = "### \(section.rawValue)\n\n| key | type | unit | default | meaning |\n|---|---|---|---|---|\n"
      for setting in settings(in: section) { text += Self.row(setting) }
      return text
    }.joined(separator: "\n")
  }

  private static func row(_ setting: Setting) -> String {
    var key = "`\(setting.key)`"
    if !setting.otherSpellings.isEmpty {
      key += " (" + setting.otherSpellings.map { "`\($0)`" }.joined(separator: ", ") + ")"
    }
    var meaning = setting.summary
    if setting.isSecret { meaning += " Secret." }
    if setting.isWithoutEffect { meaning += " *No effect in a batch run.*" }
    return "| \(key) | \(type(setting.kind)) | \(unit(setting)) | \(fallback(setting)) | \(meaning) |\n"
  }

  private static func unit(_ setting: Setting) -> String {
    if let unit = setting.unit { return unit }
    if case .duration = setting.kind { return "in the value" }
    return ""
  }

  private static func fallback(_ setting: Setting) -> String {
    switch setting.fallback.value {
    case .bool(let flag): "`\(flag)`"
    case .number(let number): "`\(number)`"
    case .string(let text): text.utf8.isEmpty ? "empty" : "`\(text)`"
    case .array(let elements) where elements.isEmpty: "none"
    case .array(let elements):
      elements.map { if case .string(let text) = $0.value { "`\(text)`" } else { "" } }.joined(separator: ", ")
    case .null, .object, .date, .written: ""
    }
  }

  private static func type(_ kind: SettingKind) -> String {
    switch kind {
    case .boolean: "boolean"
    case .integer(let range): "integer, \(range.lowerBound) to \(range.upperBound)"
    case .integerOrText: "integer or string"
    case .byteCount: "integer or string such as `64 MiB`"
    case .duration(let range):
      range.lowerBound == .zero ? "duration" : "duration, at least \(range.lowerBound.wholeSeconds) s"
    case .text(.file): "file"
    case .text(.endpoint), .text(.bareEndpoint), .text(.proxy): "URL"
    case .text(.datePattern): "date format"
    case .text: "string"
    case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .choiceOrBoolean(let words, _, _): words.map { "`\($0)`" }.joined(separator: ", ") + " or a boolean"
    case .list: "array of strings"
    case .lookupTables: "array of objects"
    case .eventCodes: EventCodes.profiles.map { "`\($0.profile)`" }.joined(separator: ", ") + " or an object"
    }
  }
}
