/// Writes rows of a relational table, by key; 100 at most. A success may still have left rows out: look at the failures.
package struct InsertUpdateRelationalTable: XMLAPIOperation {
  package static let largestRowCount = 100

  package var tableID: String
  package var rows: [[Column]]

  package init(tableID: String, rows: [[Column]]) {
    self.tableID = tableID
    self.rows = rows
  }

  package var call: OperationCall {
    OperationCall(
      "InsertUpdateRelationalTable", RelationalRows.fields(tableID, rows, element: "COLUMN"), isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> [RowFailure] { result.rowFailures }
}

/// Deletes rows of a relational table by all their key columns; 1000 at most.
package struct DeleteRelationalTableData: XMLAPIOperation {
  package static let largestRowCount = 1000

  package var tableID: String
  package var keys: [[Column]]

  package init(tableID: String, keys: [[Column]]) {
    self.tableID = tableID
    self.keys = keys
  }

  package var call: OperationCall {
    OperationCall(
      "DeleteRelationalTableData", RelationalRows.fields(tableID, keys, element: "KEY_COLUMN"), isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> [RowFailure] { result.rowFailures }
}

private enum RelationalRows {
  static func fields(_ tableID: String, _ rows: [[Column]], element: String) -> [OperationField] {
    [
      .text("TABLE_ID", tableID),
      .group(
        "ROWS",
        rows.map { row in .group("ROW", row.map { .named(element, name: $0.name, $0.value) }) }),
    ]
  }
}

package struct CreateTable: XMLAPIOperation {
  package struct TableColumn: Sendable {
    /// One of TEXT, YESNO, NUMERIC, DATE, TIME, COUNTRY, SELECTION, EMAIL, DATE_TIME, SYNC_ID.
    package var type: String
    package var name: String
    package var isRequired: Bool?
    package var isKey: Bool?
    package var defaultValue: String?
    package var selectionValues: [String] = []

    package init(
      _ name: String, type: String, isRequired: Bool? = nil, isKey: Bool? = nil, defaultValue: String? = nil,
      selectionValues: [String] = []
    ) {
      self.name = name
      self.type = type
      self.isRequired = isRequired
      self.isKey = isKey
      self.defaultValue = defaultValue
      self.selectionValues = selectionValues
    }
  }

  package var name: String
  package var columns: [TableColumn]

  package init(name: String, columns: [TableColumn]) {
    self.name = name
    self.columns = columns
  }

  package var call: OperationCall {
    let columns = columns.map { column -> OperationField in
      .group(
        "COLUMN",
        [.text("NAME", column.name), .text("TYPE", column.type)]
          + OperationField.optional("IS_REQUIRED", column.isRequired)
          + OperationField.optional("KEY_COLUMN", column.isKey)
          + OperationField.optional("DEFAULT_VALUE", column.defaultValue)
          + SelectionValues.fields(column.selectionValues))
    }
    return OperationCall("CreateTable", [.text("TABLE_NAME", name), .group("COLUMNS", columns)], isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> String {
    guard let id = result.text("TABLE_ID"), !id.isEmpty else { throw MissingField("TABLE_ID") }
    return id
  }
}

/// A table by its id, or by its name in the private (0) or shared (1) part.
package enum TableKey: Sendable {
  case id(String)
  case name(String, visibility: Int)

  var fields: [OperationField] {
    switch self {
    case .id(let id): [.text("TABLE_ID", id)]
    case .name(let name, let visibility):
      [.text("TABLE_NAME", name), .text("TABLE_VISIBILITY", String(visibility))]
    }
  }
}

package struct JoinTable: XMLAPIOperation {
  package enum ListKey: Sendable {
    case id(String)
    case name(String, visibility: Int)
  }

  package var table: TableKey
  package var list: ListKey
  /// The list's column and the table's column that hold the same value.
  package var fields: [(list: String, table: String)]
  package var removes: Bool?
  package var email: String?

  package init(table: TableKey, list: ListKey, fields: [(list: String, table: String)]) {
    self.table = table
    self.list = list
    self.fields = fields
  }

  package var call: OperationCall {
    let listFields: [OperationField] =
      switch list {
      case .id(let id): [.text("LIST_ID", id)]
      case .name(let name, let visibility):
        [.text("LIST_NAME", name), .text("LIST_VISIBILITY", String(visibility))]
      }
    let map = fields.map { pair -> OperationField in
      .group("MAP_FIELD", [.text("LIST_FIELD", pair.list), .text("TABLE_FIELD", pair.table)])
    }
    return OperationCall(
      "JoinTable",
      table.fields + listFields + OperationField.optional("REMOVE", removes) + OperationField.optional("EMAIL", email)
        + map,
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

/// Deletes all rows of a table, or those from before a time (`MM/dd/yyyy HH:mm:ss`).
package struct PurgeTable: XMLAPIOperation {
  package var table: TableKey
  package var before: String?
  package var email: String?

  package init(table: TableKey, before: String? = nil, email: String? = nil) {
    self.table = table
    self.before = before
    self.email = email
  }

  package var call: OperationCall {
    OperationCall(
      "PurgeTable",
      table.fields + OperationField.optional("DELETE_BEFORE", before) + OperationField.optional("EMAIL", email),
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

package struct DeleteTable: XMLAPIOperation {
  package var table: TableKey
  package var email: String?

  package init(table: TableKey, email: String? = nil) {
    self.table = table
    self.email = email
  }

  package var call: OperationCall {
    OperationCall("DeleteTable", table.fields + OperationField.optional("EMAIL", email), isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

enum SelectionValues {
  static func fields(_ values: [String]) -> [OperationField] {
    values.isEmpty ? [] : [.group("SELECTION_VALUES", values.map { .text("VALUE", $0) })]
  }
}
