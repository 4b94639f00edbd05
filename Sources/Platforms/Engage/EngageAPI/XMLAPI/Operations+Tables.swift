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
