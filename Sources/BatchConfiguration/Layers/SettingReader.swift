import BatchFoundation

/// Checks a document's value against its setting.
struct SettingReader {
  /// The reason a value was refused, without its place.
  struct Refusal: Error, Hashable {
    var problem: String
    var hint: String?

    init(_ problem: String, hint: String? = nil) {
      self.problem = problem
      self.hint = hint
    }

    static func choice(_ text: String, of words: [String], _ name: String) -> Refusal {
      Refusal(
        "'\(name)' is '\(text)', but must be one of \(words.map { "'\($0)'" }.joined(separator: ", "))",
        hint: NearestName.question(about: text, among: words))
    }
  }

  /// The base of relative file names.
  var directory: String

  /// - Parameter name: the section and the key as spelled in the document.
  func read(_ node: JSONNode, as setting: Setting, called name: String) throws(Refusal) -> SettingValue {
    switch (setting.kind, node.value) {
    case (.boolean, .bool(let flag)):
      return .boolean(flag)
    case (.integer(let range), .number(let text)), (.integerOrText(let range), .number(let text)):
      return .integer(try integer(text, in: range, name, setting))
    case (.integerOrText(let range), .string(let text)):
      return .integer(try integer(text, in: range, name, setting))
    case (.byteCount(let range), .number(let text)):
      return .integer(try integer(text, in: range, name, setting))
    case (.byteCount(let range), .string(let text)):
      guard let count = Self.byteCount(text) else {
        throw Refusal(
          "'\(name)' is '\(text)', but must be a number of bytes", hint: "write it as in 1000000, '64 MiB' or '128 MB'")
      }
      return .integer(try integer(count, in: range, name))
    case (.duration(let range), .string(let text)):
      return .duration(try duration(text, in: range, name), text)
    case (.text, .string(Secret.redacted)) where setting.isSecret:
      throw Refusal("'\(name)' is the placeholder for a secret, not the secret itself")
    case (.text(let form), .string(let text)):
      return .text(try checked(text, form, name, isSecret: setting.isSecret))
    case (.choice(let words), .string(let text)), (.choiceOrBoolean(let words, _, _), .string(let text)):
      return .text(try choice(text, of: words, name))
    case (.choiceOrBoolean(_, let yes, let no), .bool(let flag)):
      return .text(flag ? yes : no)
    case (.list(let form), .array(let elements)):
      return .list(try list(elements, form, name))
    case (.lookupTables, .array(let elements)):
      var tables: [LookupTable] = []
      for element in elements { tables.append(try lookupTable(element, name)) }
      return .lookupTables(tables)
    case (.eventCodes, .string(let text)):
      return .text(try choice(text, of: EventCodes.profiles.map(\.profile), name))
    case (.eventCodes, .object):
      _ = try EventCodes(node, called: name)
      return .document(node)
    default:
      throw Refusal("'\(name)' is \(node.documentKind), but must be \(setting.kind.name)")
    }
  }

  private func integer(
    _ text: String, in range: ClosedRange<Int64>, _ name: String, _ setting: Setting
  ) throws(Refusal) -> Int64 {
    guard let number = Int64(text) else {
      throw Refusal("'\(name)' is '\(text)', but must be \(setting.kind.name)")
    }
    return try integer(number, in: range, name)
  }

  private func integer(_ number: Int64, in range: ClosedRange<Int64>, _ name: String) throws(Refusal) -> Int64 {
    guard range.contains(number) else {
      throw Refusal("'\(name)' is \(number), but must be between \(range.lowerBound) and \(range.upperBound)")
    }
    return number
  }

  /// Parses a number with an optional common unit; nil for anything else.
  static func byteCount(_ text: String) -> Int64? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let number = Int64(digits) else { return nil }
    let unit = text[digits.endIndex...].drop { $0 == " " }
    let factors: [Substring: Int64] = [
      "": 1, "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "KiB": 1 << 10, "MiB": 1 << 20,
      "GiB": 1 << 30,
    ]
    guard let factor = factors[unit] else { return nil }
    let (count, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : count
  }

  private func duration(
    _ text: String, in range: ClosedRange<Milliseconds>, _ name: String
  ) throws(Refusal) -> Milliseconds {
    var copy = text
    let reason: String
    switch copy.withUTF8({ unsafe ExpirationText.parse($0) }) {
    case .duration(let span):
      guard range.contains(span) else {
        throw Refusal("'\(name)' is '\(text)', but must be at least \(range.lowerBound.wholeSeconds) seconds")
      }
      return span
    case .absolute: reason = "a date"
    case .refused(.empty): reason = "empty"
    case .refused(.unexpectedText): reason = "text in place of a number or unit"
    case .refused(.unknownUnit): reason = "an unknown unit"
    case .refused(.repeatedUnit): reason = "a unit twice"
    case .refused(.invalidDate): reason = "a date that does not exist"
    case .refused(.outOfRange): reason = "more than 36525 days"
    }
    throw Refusal(
      "'\(name)' is '\(text)', which is not a duration (\(reason))",
      hint: "write it as in '30 minutes' or '1 day 12 hours'")
  }

  private func choice(_ text: String, of words: [String], _ name: String) throws(Refusal) -> String {
    guard words.contains(text) else { throw .choice(text, of: words, name) }
    return text
  }

  private func list(_ elements: [JSONNode], _ form: TextForm, _ name: String) throws(Refusal) -> [String] {
    var list: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element.value else {
        throw Refusal("'\(name)[\(index)]' is \(element.documentKind), but must be a string")
      }
      list.append(try checked(text, form, "\(name)[\(index)]"))
    }
    return list
  }

  private func checked(
    _ text: String, _ form: TextForm, _ name: String, isSecret: Bool = false
  ) throws(Refusal) -> String {
    do {
      return try form.check(text, directory: directory)
    } catch {
      // A URL may have a password before its host.
      let shown = isSecret || form.isURL && text.contains("@") ? Secret.redacted : text
      throw Refusal("'\(name)' is '\(shown)', but must be \(error.expected)")
    }
  }

  private func lookupTable(_ node: JSONNode, _ name: String) throws(Refusal) -> LookupTable {
    let fields = try node.members(["file", "keyAttribute", "keyColumn", "columns"], of: "\(name)[]")
    func text(_ key: String) throws(Refusal) -> String {
      guard let node = fields[key] else { throw Refusal("an element of '\(name)' has no '\(key)'") }
      guard case .string(let text) = node.value, !text.utf8.isEmpty else {
        throw Refusal("'\(name)[].\(key)' is \(node.documentKind), but must be a non-empty string")
      }
      return text
    }
    let keyAttribute = try text("keyAttribute")
    return LookupTable(
      file: PathText.resolve(try text("file"), in: directory), keyAttribute: keyAttribute,
      keyColumn: fields["keyColumn"] == nil ? keyAttribute : try text("keyColumn"),
      columns: try columns(fields["columns"], name))
  }

  private func columns(_ node: JSONNode?, _ name: String) throws(Refusal) -> [LookupTable.Column] {
    let refusal = Refusal(
      "'\(name)[].columns' must be an array of column names, or a dictionary from column to attribute")
    var columns: [LookupTable.Column] = []
    switch node?.value {
    case .array(let elements):
      for element in elements {
        guard case .string(let column) = element.value else { throw refusal }
        columns.append(LookupTable.Column(name: column, attribute: column))
      }
    case .object(let members):
      for member in members {
        guard case .string(let attribute) = member.value.value else { throw refusal }
        columns.append(LookupTable.Column(name: member.key, attribute: attribute))
      }
    default: throw refusal
    }
    guard !columns.isEmpty else { throw refusal }
    return columns
  }
}

/// One `--set Section.key=value` of the command line.
package struct SettingOverride: Sendable, Hashable {
  package var section: String
  package var key: String
  package var text: String
  /// The option by which it was given.
  package var option = "--set"

  /// Nil for text in another form.
  package init?(_ argument: String) {
    guard let equals = argument.firstIndex(of: "=") else { return nil }
    let name = argument[..<equals]
    guard let dot = name.firstIndex(of: ".") else { return nil }
    section = String(name[..<dot])
    key = String(name[name.index(after: dot)...])
    text = String(argument[argument.index(after: equals)...])
    if section.isEmpty || key.isEmpty { return nil }
  }
}

extension SettingKind {
  /// Converts a text of the command line or of a variable to the value a document would have.
  func node(of text: String, called name: String) throws(SettingReader.Refusal) -> JSONNode {
    switch self {
    case .boolean:
      guard text == "true" || text == "false" else {
        throw SettingReader.Refusal("'\(name)' is '\(text)', but must be 'true' or 'false'")
      }
      return .flag(text == "true")
    case .choiceOrBoolean where text == "true" || text == "false": return .flag(text == "true")
    case .integer, .integerOrText: return JSONNode(.number(text))
    case .byteCount: return JSONNode(Int64(text) == nil ? .string(text) : .number(text))
    case .duration, .text, .choice, .choiceOrBoolean: return .text(text)
    case .list where !text.hasPrefix("["):
      let elements = text.split(separator: ",").map { $0.drop { $0 == " " } }
      return .texts(elements.map(String.init))
    case .eventCodes where !text.hasPrefix("{"): return .text(text)
    case .list, .lookupTables, .eventCodes:
      do {
        return try DocumentReader.read(Array(text.utf8))
      } catch {
        throw SettingReader.Refusal("'\(name)' is not valid JSON")
      }
    }
  }
}
