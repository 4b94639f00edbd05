package import BatchFoundation

extension SettingsSchema {
  /// A JSON Schema for editors: every section and key, in every spelling, with type, limits, default and description.
  package var jsonSchema: JSONNode {
    let sections = SettingSection.allCases.map { section in
      let members = settings(in: section).flatMap { setting in
        setting.spellings.map { ($0, Self.schema(of: setting, spelled: $0)) }
      }
      return (
        section.rawValue, ["type": "object", "additionalProperties": false, "properties": .object(members)] as JSONNode
      )
    }
    return [
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": "engage-batch configuration",
      "type": "object",
      "additionalProperties": false,
      "properties": .object([("$schema", ["type": "string"])] + sections),
      "definitions": ["variable": ["type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}"]],
    ]
  }

  private static func schema(of setting: Setting, spelled spelling: String) -> JSONNode {
    var schema = type(of: setting.kind)
    if !takesAnyText(setting.kind) { schema = ["anyOf": [schema, ["$ref": "#/definitions/variable"]]] }
    var summary = setting.summary
    if spelling != setting.key { summary = "Another spelling of `\(setting.key)`. \(summary)" }
    if setting.isWithoutEffect { summary += " No effect in a batch run." }
    return schema.adding(["default": setting.fallback, "description": .text(summary)])
  }

  /// Returns whether the type accepts any string, and so a reference to a variable.
  private static func takesAnyText(_ kind: SettingKind) -> Bool {
    if case .text(let form) = kind { form != .urlPath } else { false }
  }

  private static func type(of kind: SettingKind) -> JSONNode {
    func number(_ types: JSONNode, _ range: ClosedRange<Int64>, _ pattern: JSONNode? = nil) -> JSONNode {
      (["type": types, "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)] as JSONNode)
        .adding(["pattern": pattern])
    }
    switch kind {
    case .boolean: return ["type": "boolean"]
    case .integer(let range): return number("integer", range)
    case .integerOrText(let range): return number(["integer", "string"], range, "^[0-9]+$")
    case .byteCount(let range):
      return number(["integer", "string"], range, "^[0-9]+ *(B|[kK]B|MB|GB|KiB|MiB|GiB)?$")
    case .duration:
      let unit =
        "([dD]([aA][yY][sS]?)?|[hH]([rR][sS]?|[oO][uU][rR][sS]?)?|[mM]([iI][nN]([uU][tT][eE])?[sS]?)?|[sS]([eE][cC]([oO][nN][dD])?[sS]?)?)"
      return ["type": "string", "pattern": .text("^\\s*([0-9]+\\s*\(unit)\\s*)+$")]
    case .text(.name): return name
    case .text(.urlPath): return ["type": "string", "pattern": "^/[^?#\\s]*$"]
    case .text: return ["type": "string"]
    case .choice(let choices): return ["type": "string", "enum": .texts(choices)]
    case .choiceOrBoolean(let choices, _, _): return ["enum": .array(choices.map { .text($0) } + [true, false])]
    case .list: return ["type": "array", "items": name]
    case .lookupTables: return ["type": "array", "items": lookupTable]
    case .eventCodes: return ["anyOf": [profile, eventCodes]]
    }
  }

  private static let name: JSONNode = ["type": "string", "minLength": 1]
  private static let profile: JSONNode = ["enum": .texts(EventCodes.profiles.map(\.profile))]

  private static var eventCodes: JSONNode {
    func table(_ properties: JSONNode) -> JSONNode {
      ["type": "object", "additionalProperties": false, "properties": properties]
    }
    let field: JSONNode = ["enum": .texts(EventCodes.fields)]
    let fields: JSONNode = ["type": "array", "items": field]
    let names: JSONNode = ["type": "object", "propertyNames": field, "additionalProperties": name]
    let row = table([EventCodes.code: ["type": "string", "pattern": "^[0-9]{0,9}$"], EventCodes.attributes: fields])
    return table([EventCodes.base: profile, EventCodes.nameTable: names, EventCodes.everyEvent: fields])
      .adding(["patternProperties": .object(["^(\(EventCodes.kinds.joined(separator: "|")))$": row])])
  }

  private static var lookupTable: JSONNode {
    [
      "type": "object", "additionalProperties": false, "required": ["file", "keyAttribute", "columns"],
      "properties": [
        "file": name, "keyAttribute": name, "keyColumn": name,
        "columns": ["type": ["array", "object"], "items": name, "additionalProperties": name],
      ],
    ]
  }
}
