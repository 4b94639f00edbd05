import BatchFoundation
import EngageRules

/// Builds elements from paths and columns, and splits repeated groups where the service expects separate elements.
extension NamedOperation {
  private static let repeatableGroups: Set<ByteText> = [
    "COLUMN", "EXPRESSION", "KEY_COLUMN", "MAILING", "MAP_FIELD", "ROW", "SUBSTITUTION", "SYNC_FIELD",
  ]

  /// The text elements that may occur several times below their parent.
  private static let repeatableTexts: Set<ByteText> = [
    "CONTACT_LISTS/CONTACT_LIST_ID", "DOMAINS/DOMAIN_ID", "EXPORT_COLUMNS/COLUMN", "SELECTION_VALUES/VALUE",
    "SITES/SITE_ID", "SUPPRESSION_LISTS/SUPPRESSION_LIST_ID",
  ]

  static func isRepeatable(_ group: String) -> Bool { repeatableGroups.contains(ByteText(group)) }

  // MARK: - Parameters

  private struct Parameter {
    var path: ArraySlice<String>
    var value: String

    var text: ByteText { ByteText(path.joined(separator: "/")) }
  }

  static func fields(of parameters: [ColumnValue]) throws(Fault) -> [OperationField] {
    try fields(
      of: parameters.map { parameter in
        Parameter(path: parameter.name.split(separator: "/").map(String.init)[...], value: parameter.value)
      }[...], below: "")
  }

  private static func fields(
    of parameters: ArraySlice<Parameter>, below parent: String
  ) throws(Fault) -> [OperationField] {
    var fields: [OperationField] = []
    var seen: Set<ByteText> = []
    var rest = parameters
    while let first = rest.first, let head = first.path.first {
      let isText = first.path.count == 1
      let mayRepeat = isText ? repeatableTexts.contains(ByteText("\(parent)/\(head)")) : isRepeatable(head)
      if !seen.insert(ByteText(head)).inserted, !mayRepeat { throw .repeated(head) }
      if isText {
        fields.append(first.value.isEmpty ? .flag(head) : .text(head, first.value))
        rest = rest.dropFirst()
      } else {
        let group = group(at: rest, head)
        fields.append(.group(head, try Self.fields(of: group, below: head)))
        rest = rest.dropFirst(group.count)
      }
    }
    return fields
  }

  /// Returns the group that the first parameter begins: adjacent parameters below the same parent, with paths relative
  /// to it. A repeatable group ends where one of its elements recurs.
  private static func group(at parameters: ArraySlice<Parameter>, _ head: String) -> ArraySlice<Parameter> {
    var group: [Parameter] = []
    var seen: Set<ByteText> = []
    for parameter in parameters {
      guard parameter.path.count > 1, let first = parameter.path.first, first.utf8.elementsEqual(head.utf8) else {
        break
      }
      let inner = Parameter(path: parameter.path.dropFirst(), value: parameter.value)
      if isRepeatable(head), !repeatsInside(inner, below: head), !seen.insert(inner.text).inserted { break }
      group.append(inner)
    }
    return group[...]
  }

  /// Whether a nested element may repeat, so that its recurrence does not end the group.
  private static func repeatsInside(_ parameter: Parameter, below head: String) -> Bool {
    let path = [head] + parameter.path
    return path.dropFirst().dropLast().contains(where: isRepeatable)
      || repeatableTexts.contains(ByteText(path.suffix(2).joined(separator: "/")))
  }

  // MARK: - Columns

  /// Converts columns to the format of the operation: names with values or types, rows of a table, or names only.
  static func fields(of columns: [ColumnValue], for operation: String) throws(Fault) -> [OperationField] {
    guard !columns.isEmpty else { return [] }
    switch operation {
    case "InsertUpdateRelationalTable": return [rows(of: columns, "COLUMN")]
    case "DeleteRelationalTableData": return [rows(of: columns, "KEY_COLUMN")]
    default: break
    }
    var seen: Set<ByteText> = []
    for column in columns where !seen.insert(ByteText(column.name)).inserted { throw .repeated(column.name) }
    switch operation {
    case "ExportList", "ExportTable": return [.group("EXPORT_COLUMNS", columns.map { .text("COLUMN", $0.name) })]
    case "CreateTable":
      return [.group("COLUMNS", columns.map { .group("COLUMN", [.text("NAME", $0.name), .text("TYPE", $0.value)]) })]
    default: return OperationField.columns(columns)
    }
  }

  private static func rows(of columns: [ColumnValue], _ element: String) -> OperationField {
    var rows: [[OperationField]] = [[]]
    var seen: Set<ByteText> = []
    for column in columns {
      if !seen.insert(ByteText(column.name)).inserted {
        rows.append([])
        seen = [ByteText(column.name)]
      }
      rows[rows.count - 1].append(.named(element, name: column.name, column.value))
    }
    return .group("ROWS", rows.map { .group("ROW", $0) })
  }
}
