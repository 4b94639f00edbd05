import BatchXML

/// Describes a database, query or relational table: names, types and keys of its columns.
package struct GetListMetaData: XMLAPIOperation {
  package var listID: String

  package init(listID: String) { self.listID = listID }

  package var call: OperationCall {
    OperationCall("GetListMetaData", [.text("LIST_ID", listID)], isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> ListDescription {
    guard result.text("ID") != nil else { throw MissingField("ID") }
    let columns = (result.element?.first("COLUMNS")?.all("COLUMN") ?? []).map { column in
      ListDescription.ListColumn(name: column.first("NAME")?.text ?? "", type: column.first("TYPE")?.text)
    }
    let keys = (result.element?.first("KEY_COLUMNS")?.all("COLUMN") ?? []).compactMap { $0.first("NAME")?.text }
    return ListDescription(
      name: result.text("NAME") ?? "", size: result.text("SIZE").flatMap { Int($0) }, columns: columns, keyColumns: keys
    )
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
}

/// Adds a column to a database; it cannot be changed or removed afterwards.
package struct AddListColumn: XMLAPIOperation {
  package var listID: String
  package var name: String
  /// The number of the type (reference identity 3.2).
  package var type: Int

  package init(listID: String, name: String, type: Int) {
    self.listID = listID
    self.name = name
    self.type = type
  }

  package var call: OperationCall {
    OperationCall(
      "AddListColumn",
      [.text("LIST_ID", listID), .text("COLUMN_NAME", name), .text("COLUMN_TYPE", "\(type)"), .text("DEFAULT", "")],
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) {}
}
