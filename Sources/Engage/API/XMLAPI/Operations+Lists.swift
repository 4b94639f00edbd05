import BatchWire

extension XMLAPIOperation<ListDescription> {
  /// Describes a database, query or relational table: names, types and keys of its columns.
  package static func describe(_ list: String) -> Self {
    Self("GetListMetaData", [.text("LIST_ID", list)], isRepeatable: true, read: ListDescription.init)
  }
}

extension XMLAPIOperation<Void> {
  /// Adds a column to a database; it cannot be changed or removed afterwards.
  ///
  /// - Parameter type: its number (reference identity 3.2).
  package static func addColumn(_ name: String, type: Int, to list: String) -> Self {
    Self(
      "AddListColumn",
      [.text("LIST_ID", list), .text("COLUMN_NAME", name), .text("COLUMN_TYPE", "\(type)"), .text("DEFAULT", "")],
      isRepeatable: false)
  }
}

package struct ListDescription: Sendable, Equatable {
  package struct ListColumn: Sendable, Equatable {
    package var name: String
    /// Nil for the system's own columns; a number for a list, a word for a relational table.
    package var type: String?
  }

  package var name: String
  /// Contacts or rows; nil if the service does not say.
  package var size: Int?
  package var columns: [ListColumn]
  /// Empty for a flexible database.
  package var keyColumns: [String]

  package init(_ result: XMLAPIResult) throws(MissingField) {
    guard result.text("ID") != nil else { throw MissingField("ID") }
    name = result.text("NAME") ?? ""
    size = result.text("SIZE").flatMap { Int($0) }
    columns = (result.element?.first("COLUMNS")?.all("COLUMN") ?? []).map { column in
      ListColumn(name: column.first("NAME")?.text ?? "", type: column.first("TYPE")?.text)
    }
    keyColumns = (result.element?.first("KEY_COLUMNS")?.all("COLUMN") ?? []).compactMap { $0.first("NAME")?.text }
  }
}

extension XMLAPIOperation<Void> {
  /// Takes every contact that has the values off the mailings of its list (reference identity 3.1).
  package static func optOut(_ columns: [Column], of list: String) -> Self {
    Self("OptOutRecipient", [.text("LIST_ID", list)] + OperationField.columns(columns), isRepeatable: true)
  }

  /// Puts a contact into a contact list; one that is in it already is a fault of its own (1018).
  package static func add(_ contact: String, toContactList list: String) -> Self {
    Self(
      "AddContactToContactList", [.text("CONTACT_LIST_ID", list), .text("CONTACT_ID", contact)], isRepeatable: true)
  }

  /// Starts a contact in a program. The service cannot be asked whether it is in it.
  package static func add(_ contact: String, toProgram program: String) -> Self {
    Self("AddContactToProgram", [.text("PROGRAM_ID", program), .text("CONTACT_ID", contact)], isRepeatable: false)
  }

  /// Deletes a contact from its list for good (reference identity 3.1).
  package static func remove(_ recipient: String, of list: String) -> Self {
    Self("RemoveRecipient", [.text("LIST_ID", list), .text("RECIPIENT_ID", recipient)], isRepeatable: true)
  }
}

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
