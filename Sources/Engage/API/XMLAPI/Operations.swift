import BatchWire
package import EngageRules

// MARK: Recipients

extension XMLAPIOperation<RecipientImage> {
  /// Reads the contact with the given id, or the oldest one with all the given values (reference identity 3.1).
  package static func select(_ question: RecipientQuestion, of list: String) -> Self {
    let fields: [OperationField] =
      switch question {
      case .recipient(let id): [.text("RECIPIENT_ID", id)]
      case .columns(let pairs): OperationField.columns(pairs)
      }
    return Self("SelectRecipientData", [.text("LIST_ID", list)] + fields, isRepeatable: true, read: RecipientImage.init)
  }
}

extension RecipientImage {
  package init(_ result: XMLAPIResult) throws(MissingField) {
    let upper = result.text("EMAIL") ?? ""
    let email = upper.isEmpty ? result.text("Email") ?? "" : upper
    self.init(
      id: try result.required("RecipientId"),
      columns: (email.isEmpty ? [] : [ColumnValue("EMAIL", email)]) + result.columns)
    isOptedOut = !(result.text("OptedOut") ?? "").isEmpty
  }
}

/// Operations that return an id, or the state of a job.
extension XMLAPIOperation<String> {
  /// Adds a contact, or updates the oldest one that already has all of these values (reference identity 3.1).
  package static func add(_ columns: [ColumnValue], to list: String) -> Self {
    let pairs = columns.map {
      OperationField.group("SYNC_FIELD", [.text("NAME", $0.name), .value("VALUE", $0.value)])
    }
    return Self(
      "AddRecipient",
      [.text("LIST_ID", list), .text("UPDATE_IF_FOUND", "true"), .group("SYNC_FIELDS", pairs)]
        + OperationField.columns(columns), isRepeatable: true, read: Self.recipient)
  }

  /// Changes the named columns of a contact; an empty value clears a column, and an empty list changes nothing.
  package static func update(_ recipient: String, of list: String, _ columns: [ColumnValue]) -> Self {
    Self(
      "UpdateRecipient",
      [.text("LIST_ID", list), .text("RECIPIENT_ID", recipient)] + OperationField.columns(columns),
      isRepeatable: true, read: Self.recipient)
  }

  private static func recipient(_ result: XMLAPIResult) throws(MissingField) -> String {
    try result.required("RecipientId")
  }

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

  /// Returns the state of a job in capitals.
  package static func status(ofJob job: String) -> Self {
    Self("GetJobStatus", [.text("JOB_ID", job)], isRepeatable: true) { result throws(MissingField) in
      guard let state = result.text("JOB_STATUS") else { throw MissingField("JOB_STATUS") }
      return state.trimmingBlanks().uppercased()
    }
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

  /// Adds a column, which cannot be changed or removed later; `type` is a number (reference identity 3.2).
  package static func addColumn(_ name: String, type: Int, to list: String) -> Self {
    Self(
      "AddListColumn",
      [.text("LIST_ID", list), .text("COLUMN_NAME", name), .text("COLUMN_TYPE", "\(type)"), .text("DEFAULT", "")],
      isRepeatable: false)
  }
}

// MARK: Lists and tables

extension XMLAPIOperation<ListDescription> {
  /// Describes a database, query or relational table: the names, types and keys of its columns.
  package static func describe(_ list: String) -> Self {
    Self("GetListMetaData", [.text("LIST_ID", list)], isRepeatable: true, read: ListDescription.init)
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

// MARK: Jobs

/// A job that the service runs asynchronously.
package struct JobReference: Sendable, Equatable {
  package var id: String
  /// The path of the exported file, which may contain spaces; nil if the response has none.
  package var filePath: String?

  init(_ result: XMLAPIResult) throws(MissingField) {
    id = try result.required("JOB_ID")
    filePath = result.text("FILE_PATH")
  }
}

extension XMLAPIOperation<JobReference> {
  /// Imports a contact file from the service's `upload` folder, using a map file from the same folder.
  package static func importList(map: String, source: String) -> Self {
    Self(
      "ImportList", [.text("MAP_FILE", map), .text("SOURCE_FILE", source), .text("FILE_ENCODING", "UTF-8")],
      isRepeatable: false, read: JobReference.init)
  }

  /// Exports columns of all contacts in a list as CSV into the service's `download` folder.
  package static func exportList(_ list: String, columns: [String]) -> Self {
    Self(
      "ExportList",
      [
        .text("LIST_ID", list), .text("EXPORT_TYPE", "ALL"), .text("EXPORT_FORMAT", "CSV"),
        .text("FILE_ENCODING", "UTF-8"), .flag("ADD_TO_STORED_FILES"),
        .group("EXPORT_COLUMNS", columns.map { .text("COLUMN", $0) }),
      ], isRepeatable: false, read: JobReference.init)
  }

  /// Exports all columns of all rows in a relational table as CSV into the service's `download` folder.
  package static func exportTable(_ table: String) -> Self {
    Self(
      "ExportTable", [.text("TABLE_ID", table), .text("EXPORT_FORMAT", "CSV"), .flag("ADD_TO_STORED_FILES")],
      isRepeatable: false, read: JobReference.init)
  }
}
