extension XMLAPIOperation<[RowFailure]> {
  /// Writes rows of a relational table, by key; 100 at most. A success may still have left rows out: look at the failures.
  package static func write(_ rows: [[Column]], to table: String) -> Self {
    Self("InsertUpdateRelationalTable", fields(table, rows, "COLUMN"), isRepeatable: true) { $0.rowFailures }
  }

  /// Deletes rows of a relational table by all their key columns; 1000 at most.
  package static func delete(_ keys: [[Column]], of table: String) -> Self {
    Self("DeleteRelationalTableData", fields(table, keys, "KEY_COLUMN"), isRepeatable: true) { $0.rowFailures }
  }

  private static func fields(_ table: String, _ rows: [[Column]], _ element: String) -> [OperationField] {
    [
      .text("TABLE_ID", table),
      .group("ROWS", rows.map { row in .group("ROW", row.map { .named(element, name: $0.name, $0.value) }) }),
    ]
  }
}

/// A column of a relational table that is made.
package struct NewTableColumn: Sendable {
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

extension XMLAPIOperation<String> {
  /// Makes a relational table, whose id is the answer.
  ///
  /// - Parameter columns: none may be empty in a row.
  package static func createTable(_ name: String, _ columns: [NewTableColumn]) -> Self {
    let columns = columns.map { column in
      OperationField.group(
        "COLUMN",
        [.text("NAME", column.name), .text("TYPE", column.type), .text("IS_REQUIRED", "true")]
          + (column.isKey ? [.text("KEY_COLUMN", "true")] : []))
    }
    return Self("CreateTable", [.text("TABLE_NAME", name), .group("COLUMNS", columns)], isRepeatable: false) {
      result throws(MissingField) in try result.required("TABLE_ID")
    }
  }
}
