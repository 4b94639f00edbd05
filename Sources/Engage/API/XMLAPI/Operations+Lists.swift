import BatchWire
package import EngageRules

extension XMLAPIOperation<ListDescription> {
  /// Describes a database, query or relational table: the names, types and keys of its columns.
  package static func describe(_ list: String) -> Self {
    Self("GetListMetaData", [.text("LIST_ID", list)], isRepeatable: true, read: ListDescription.init)
  }
}

extension XMLAPIOperation<Void> {
  /// Adds a column, which cannot be changed or removed later; `type` is a number (reference identity 3.2).
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
    /// A number for a list, a word for a relational table; nil for system columns.
    package var type: String?
  }

  package var name: String
  /// The number of contacts or rows; nil if the service does not report it.
  package var size: Int?
  package var columns: [ListColumn]
  /// The columns of the unique key; empty for a flexible database.
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
  /// Opts out every contact in the list that has these values (reference identity 3.1).
  package static func optOut(_ columns: [ColumnValue], of list: String) -> Self {
    Self("OptOutRecipient", [.text("LIST_ID", list)] + OperationField.columns(columns), isRepeatable: true)
  }

  /// Adds a contact to a contact list; fault 1018 means that it is already a member.
  package static func add(_ contact: String, toContactList list: String) -> Self {
    Self(
      "AddContactToContactList", [.text("CONTACT_LIST_ID", list), .text("CONTACT_ID", contact)], isRepeatable: true)
  }

  /// Adds a contact to a program. The service offers no way to find out whether the contact is already in it.
  package static func add(_ contact: String, toProgram program: String) -> Self {
    Self("AddContactToProgram", [.text("PROGRAM_ID", program), .text("CONTACT_ID", contact)], isRepeatable: false)
  }

  /// Deletes a contact from its list permanently (reference identity 3.1).
  package static func remove(_ recipient: String, of list: String) -> Self {
    Self("RemoveRecipient", [.text("LIST_ID", list), .text("RECIPIENT_ID", recipient)], isRepeatable: true)
  }
}

extension XMLAPIOperation<[RowFailure]> {
  /// Writes up to 100 rows of a relational table by key. A successful operation may still report failed rows.
  package static func write(_ rows: [[ColumnValue]], to table: String) -> Self {
    Self("InsertUpdateRelationalTable", fields(table, rows, "COLUMN"), isRepeatable: true) { $0.rowFailures }
  }

  /// Deletes up to 1000 rows from a relational table, each identified by all of its key columns.
  package static func delete(_ keys: [[ColumnValue]], of table: String) -> Self {
    Self("DeleteRelationalTableData", fields(table, keys, "KEY_COLUMN"), isRepeatable: true) { $0.rowFailures }
  }

  private static func fields(_ table: String, _ rows: [[ColumnValue]], _ element: String) -> [OperationField] {
    [
      .text("TABLE_ID", table),
      .group("ROWS", rows.map { row in .group("ROW", row.map { .named(element, name: $0.name, $0.value) }) }),
    ]
  }
}

package struct NewTableColumn: Sendable {
  package var name: String
  /// The name of the type (reference identity 3.2).
  package var type: String
  package var isKey: Bool

  package init(name: String, type: String, isKey: Bool) {
    self.name = name
    self.type = type
    self.isKey = isKey
  }
}

extension XMLAPIOperation<String> {
  /// Creates a relational table whose columns are all required, and returns its id.
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
