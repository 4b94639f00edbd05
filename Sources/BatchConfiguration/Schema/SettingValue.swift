package import BatchFoundation

/// A validated value of a setting, before it is stored in ``Settings``.
package enum SettingValue: Hashable, Sendable {
  case boolean(Bool)
  case integer(Int64)
  case text(String)
  /// The span and its original text.
  case duration(Milliseconds, String)
  case list([String])
  case lookupTables([LookupTable])
  /// A JSON object as given.
  case document(JSONNode)

  /// The value on one line, as `config show` prints it.
  package var text: String {
    switch self {
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .text(let text), .duration(_, let text): text
    case .list(let elements): "[" + elements.joined(separator: ", ") + "]"
    case .lookupTables(let tables): "[" + tables.map(\.file).joined(separator: ", ") + "]"
    case .document(let node): node.compactText(", ", ": ")
    }
  }

  var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
  var number: Int64? { if case .integer(let number) = self { number } else { nil } }
  var elements: [String]? { if case .list(let elements) = self { elements } else { nil } }

  /// Whether the value is empty; if so, even a secret need not be hidden.
  package var isEmpty: Bool {
    switch self {
    case .text(let text), .duration(_, let text): text.utf8.isEmpty
    case .list(let elements): elements.isEmpty
    case .lookupTables(let tables): tables.isEmpty
    case .boolean, .integer, .document: false
    }
  }

  /// The value as it appears in a document.
  package var node: JSONNode {
    switch self {
    case .boolean(let flag): .flag(flag)
    case .integer(let number): .number(number)
    case .text(let text), .duration(_, let text): .text(text)
    case .list(let elements): .texts(elements)
    case .lookupTables(let tables): .array(tables.map(\.node))
    case .document(let node): node
    }
  }
}

/// A table in a CSV or JSON file whose columns become event attributes: an augmentation plug-in without code.
package struct LookupTable: Hashable, Sendable {
  /// A column of the table and the attribute that it fills.
  package struct Column: Hashable, Sendable {
    package var name: String
    package var attribute: String
  }

  /// The absolute path of the file.
  package var file: String
  /// The event attribute whose value selects the row.
  package var keyAttribute: String
  /// The column that is compared with that value.
  package var keyColumn: String
  package var columns: [Column]

  var node: JSONNode {
    [
      "file": .text(file), "keyAttribute": .text(keyAttribute), "keyColumn": .text(keyColumn),
      "columns": .object(columns.map { ($0.name, .text($0.attribute)) }),
    ]
  }
}
