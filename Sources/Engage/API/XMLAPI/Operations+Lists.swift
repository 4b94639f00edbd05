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
