import BatchFoundation

extension SettingsSchema {
  /// A JSON Schema for editors: every section and key, in every spelling, with type, limits, default and description.
  package var jsonSchema: DocumentNode {
    let sections = SettingSection.allCases.map { section in
      let members = settings(in: section).flatMap { setting in
        setting.spellings.map { DocumentMember(key: $0, node: Self.schema(of: setting, spelled: $0)) }
      }
      return Self.member(
        section.rawValue,
        Self.object([
          ("type", "object"), ("additionalProperties", false), ("properties", DocumentNode(.dictionary(members))),
        ]))
    }
    return Self.object([
      ("$schema", "http://json-schema.org/draft-07/schema#"),
      ("title", "engage-batch configuration"),
      ("type", "object"),
      ("additionalProperties", false),
      ("properties", DocumentNode(.dictionary([Self.member("$schema", Self.object([("type", "string")]))] + sections))),
      (
        "definitions",
        Self.object([
          ("variable", Self.object([("type", "string"), ("pattern", "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}")]))
        ])
      ),
    ])
  }

  private static func schema(of setting: Setting, spelled spelling: String) -> DocumentNode {
    var fields = type(of: setting.kind)
    if !takesAnyText(setting.kind) {
      let variable = object([("$ref", "#/definitions/variable")])
      fields = [("anyOf", DocumentNode(.array([object(fields), variable])))]
    }
    fields.append(("default", setting.fallback))
    var summary = setting.summary
    if spelling != setting.key { summary = "Another spelling of `\(setting.key)`. \(summary)" }
    if setting.isWithoutEffect { summary += " No effect in a batch run." }
    fields.append(("description", DocumentNode(.string(summary))))
    return object(fields)
  }

  /// Whether the text of a variable's place is of the type as it is.
  private static func takesAnyText(_ kind: SettingKind) -> Bool {
    if case .text(let form) = kind { form != .urlPath } else { false }
  }

  private static func type(of kind: SettingKind) -> [(String, DocumentNode)] {
    func limits(_ range: ClosedRange<Int64>) -> [(String, DocumentNode)] {
      [
        ("minimum", DocumentNode(.number(String(range.lowerBound)))),
        ("maximum", DocumentNode(.number(String(range.upperBound)))),
      ]
    }
    func words(_ words: [String]) -> DocumentNode { DocumentNode(.array(words.map { DocumentNode(.string($0)) })) }
    switch kind {
    case .boolean: return [("type", "boolean")]
    case .integer(let range): return [("type", "integer")] + limits(range)
    case .integerOrText(let range):
      return [("type", ["integer", "string"])] + limits(range) + [("pattern", "^[0-9]+$")]
    case .byteCount(let range):
      return [("type", ["integer", "string"])] + limits(range) + [("pattern", "^[0-9]+ *(B|[kK]B|MB|GB|KiB|MiB|GiB)?$")]
    case .duration:
      let unit =
        "([dD]([aA][yY][sS]?)?|[hH]([rR][sS]?|[oO][uU][rR][sS]?)?|[mM]([iI][nN]([uU][tT][eE])?[sS]?)?|[sS]([eE][cC]([oO][nN][dD])?[sS]?)?)"
      return [("type", "string"), ("pattern", DocumentNode(.string("^\\s*([0-9]+\\s*\(unit)\\s*)+$")))]
    case .text(.name): return [("type", "string"), ("minLength", 1)]
    case .text(.urlPath): return [("type", "string"), ("pattern", "^/[^?#\\s]*$")]
    case .text: return [("type", "string")]
    case .choice(let choices): return [("type", "string"), ("enum", words(choices))]
    case .choiceOrBoolean(let choices, _, _):
      return [("enum", DocumentNode(.array(choices.map { DocumentNode(.string($0)) } + [true, false])))]
    case .list: return [("type", "array"), ("items", object([("type", "string"), ("minLength", 1)]))]
    case .lookupTables: return [("type", "array"), ("items", lookupTable)]
    case .eventCodes: return [("anyOf", [object([("enum", words(EventCodes.profiles.map(\.profile)))]), eventCodes])]
    }
  }

  private static var eventCodes: DocumentNode {
    func words(_ words: [String]) -> DocumentNode {
      object([("enum", DocumentNode(.array(words.map { DocumentNode(.string($0)) })))])
    }
    func table(_ properties: [(String, DocumentNode)]) -> [(String, DocumentNode)] {
      [("type", "object"), ("additionalProperties", false), ("properties", object(properties))]
    }
    let fields = object([("type", "array"), ("items", words(EventCodes.fields))])
    let code = object([("type", "string"), ("pattern", "^[0-9]{0,9}$")])
    let name = object([("type", "string"), ("minLength", 1)])
    let names = object([
      ("type", "object"), ("propertyNames", words(EventCodes.fields)), ("additionalProperties", name),
    ])
    let rows = object([
      (
        "^(\(EventCodes.kinds.joined(separator: "|")))$",
        object(table([(EventCodes.code, code), (EventCodes.attributes, fields)]))
      )
    ])
    let base = words(EventCodes.profiles.map(\.profile))
    return object(
      table([(EventCodes.base, base), (EventCodes.nameTable, names), (EventCodes.everyEvent, fields)])
        + [("patternProperties", rows)])
  }

  private static var lookupTable: DocumentNode {
    let name = object([("type", "string"), ("minLength", 1)])
    return object([
      ("type", "object"),
      ("additionalProperties", false),
      ("required", ["file", "keyAttribute", "columns"]),
      (
        "properties",
        object([
          ("file", name), ("keyAttribute", name), ("keyColumn", name),
          ("columns", object([("type", ["array", "object"]), ("items", name), ("additionalProperties", name)])),
        ])
      ),
    ])
  }

  private static func object(_ fields: [(String, DocumentNode)]) -> DocumentNode {
    DocumentNode(.dictionary(fields.map { member($0.0, $0.1) }))
  }

  private static func member(_ key: String, _ node: DocumentNode) -> DocumentMember {
    DocumentMember(key: key, node: node)
  }
}
