import BatchFoundation

/// Validates a document's value against its setting.
struct SettingReader {
  let setting: Setting
  let field: Field
  /// The base of relative file names.
  let directory: String

  /// The validated value; nil after reporting the reason why it is refused.
  var value: JSONNode? {
    switch (setting.kind, field.node.value) {
    case (.boolean, .bool(let flag)): .flag(flag)
    case (.integer(let range), .number(let text)), (.byteCount(let range), .number(let text)),
      (.integerOrText(let range), .number(let text)), (.integerOrText(let range), .string(let text)):
      integer(Int64(text), in: range, or: "is '\(text)', but must be \(setting.kind.name)")
    case (.byteCount(let range), .string(let text)):
      integer(
        Self.byteCount(text), in: range, or: "is '\(text)', but must be a number of bytes",
        hint: "write a size such as 1000000, '64 MiB' or '128 MB'")
    case (.duration(let range), .string(let text)): duration(text, in: range)
    case (.text, .string(Secret.redacted)) where setting.isSecret:
      refused("is the placeholder for a secret, not the secret itself")
    case (.text(let form), .string(let text)): checked(text, form, field).map { .text($0) }
    case (.choice(let words), .string), (.choiceOrBoolean(let words, _, _), .string): choice(words)
    case (.choiceOrBoolean(_, let yes, let no), .bool(let flag)): .text(flag ? yes : no)
    case (.list(let form), .array): list(form)
    case (.lookupTables, .array): all(lookupTable).map { .array($0) }
    case (.eventCodes, .string): choice(EventCodes.profiles.map(\.profile))
    case (.eventCodes, .object): EventCodes(field).map { _ in field.node }
    default: refused("is \(field.node.kind), but must be \(setting.kind.name)")
    }
  }

  private func refused(_ problem: String, hint: String? = nil) -> JSONNode? {
    field.refuse(problem, hint: hint)
    return nil
  }

  private func integer(
    _ number: Int64?, in range: ClosedRange<Int64>, or problem: String, hint: String? = nil
  ) -> JSONNode? {
    guard let number else { return refused(problem, hint: hint) }
    guard range.contains(number) else {
      return refused("is \(number), but must be between \(range.lowerBound) and \(range.upperBound)")
    }
    return .number(number)
  }

  /// Parses a number of bytes with an optional unit, such as `kB` or `MiB`; nil for anything else.
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

  private func duration(_ text: String, in range: ClosedRange<Milliseconds>) -> JSONNode? {
    let reason: String
    switch text.withText(ExpirationText.parse) {
    case .duration(let span):
      guard range.contains(span) else {
        return refused("is '\(text)', but must be at least \(Int(range.lowerBound.wholeSeconds).counted("second"))")
      }
      return .text(text)
    case .absolute: reason = "it is a date"
    case .refused(.empty): reason = "it is empty"
    case .refused(.unexpectedText): reason = "it must consist of whole numbers, each followed by a unit"
    case .refused(.unknownUnit): reason = "it has an unknown unit"
    case .refused(.repeatedUnit): reason = "it repeats a unit"
    case .refused(.invalidDate): reason = "it is a date that does not exist"
    case .refused(.outOfRange): reason = "it exceeds 36525 days"
    }
    return refused(
      "is '\(text)', which is not a valid duration: \(reason)",
      hint: "write a duration such as '30 minutes' or '1 day 12 hours'")
  }

  private func choice(_ words: [String]) -> JSONNode? {
    guard let text = field.node.string, !words.contains(text) else { return field.node.string.map { .text($0) } }
    field.refuse(text, as: words)
    return nil
  }

  private func list(_ form: TextKind) -> JSONNode? {
    all { element in element.value("a string", \.string).flatMap { checked($0, form, element) } }.map { .texts($0) }
  }

  /// Returns the elements; nil if one is refused.
  private func all<Element>(_ read: (Field) -> Element?) -> [Element]? {
    let fields = field.elements() ?? []
    let elements = fields.compactMap(read)
    return elements.count == fields.count ? elements : nil
  }

  private func checked(_ text: String, _ form: TextKind, _ field: Field) -> String? {
    do {
      return try form.check(text, directory: directory)
    } catch {
      // A URL may have a password before its host.
      let shown = setting.isSecret || form.isURL && text.contains("@") ? Secret.redacted : text
      field.refuse("is '\(shown)', but must be \(error.expected)")
      return nil
    }
  }

  private func lookupTable(_ element: Field) -> JSONNode? {
    guard let fields = element.object() else { return nil }
    let (file, keyAttribute) = (fields.required("file")?.text(), fields.required("keyAttribute")?.text())
    let keyColumn = fields["keyColumn"].map { $0.text() } ?? keyAttribute
    let columns = fields.required("columns").flatMap(columns)
    fields.end()
    guard let file, let keyAttribute, let keyColumn, let columns else { return nil }
    return [
      "file": .text(PathText.resolve(file, in: directory)), "keyAttribute": .text(keyAttribute),
      "keyColumn": .text(keyColumn), "columns": columns,
    ]
  }

  /// Returns an object that maps columns to attributes; nil after reporting any other value than that or their names.
  private func columns(_ field: Field) -> JSONNode? {
    let pairs: [(String?, JSONNode)] =
      field.node.array?.map { ($0.string, $0) } ?? field.node.members?.map { ($0.key, $0.value) } ?? []
    let columns = pairs.compactMap { name, attribute in name.flatMap { attribute.string == nil ? nil : ($0, attribute) }
    }
    if !columns.isEmpty, columns.count == pairs.count { return .object(columns) }
    field.refuse("must be an array of column names, or an object that maps columns to attributes")
    return nil
  }
}

/// One `--set Section.key=value` from the command line.
package struct SettingOverride: Sendable, Hashable {
  package var section: String
  package var key: String
  package var text: String
  /// The option that gave the value.
  package var option = "--set"

  /// Returns nil unless the argument is `Section.key=value`.
  package init?(_ argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let names = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, names.count == 2, !names.contains("") else { return nil }
    (section, key, text) = (names[0], names[1], parts[1])
  }
}

extension SettingKind {
  /// Converts a string from the command line or a variable to the value that a document would contain.
  ///
  /// - Returns: nil if the string is not such a value, after reporting that as a fault in the field.
  func node(of text: String, _ field: Field) -> JSONNode? {
    switch self {
    case .boolean:
      guard text == "true" || text == "false" else {
        field.refuse("is '\(text)', but must be 'true' or 'false'")
        return nil
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
        field.refuse("is not valid JSON")
        return nil
      }
    }
  }
}
