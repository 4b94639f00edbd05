/// Writes rows of a relational table, by key; 100 at most. A success may still have left rows out: look at the failures.
package struct InsertUpdateRelationalTable: XMLAPIOperation {
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

/// Makes a relational table, whose id is the answer.
package struct CreateTable: XMLAPIOperation {
  package struct NewColumn: Sendable, Equatable {
    package var name: String
    /// The word of the type (reference identity 3.2).
    package var type: String
    package var isKey: Bool

    package init(name: String, type: String, isKey: Bool) {
      self.name = name
      self.type = type
      self.isKey = isKey
    }
  }

  package var name: String
  /// None may be empty in a row.
  package var columns: [NewColumn]

  package init(name: String, columns: [NewColumn]) {
    self.name = name
    self.columns = columns
  }

  package var call: OperationCall {
    let columns = columns.map { column in
      OperationField.group(
        "COLUMN",
        [.text("NAME", column.name), .text("TYPE", column.type), .text("IS_REQUIRED", "true")]
          + (column.isKey ? [.text("KEY_COLUMN", "true")] : []))
    }
    return OperationCall("CreateTable", [.text("TABLE_NAME", name), .group("COLUMNS", columns)], isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> String {
    guard let id = result.text("TABLE_ID"), !id.isEmpty else { throw MissingField("TABLE_ID") }
    return id
  }
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
