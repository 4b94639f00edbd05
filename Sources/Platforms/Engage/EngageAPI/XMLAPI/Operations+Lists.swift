import BatchXML

/// Adds a column to a list. Types: 0 text, 1 yes/no, 2 number, 3 date, 4 time, 5 country, 6 select-one, 8 segmenting, 9 system,
/// 13 to 16 SMS and phone, 17 timestamp, 19 sync id, 20 multi-select.
package struct AddListColumn: XMLAPIOperation {
  package var listID: String
  package var name: String
  package var type: Int
  /// Sent also when empty.
  package var defaultValue: String
  package var selectionValues: [String]

  package init(listID: String, name: String, type: Int, defaultValue: String = "", selectionValues: [String] = []) {
    self.listID = listID
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.selectionValues = selectionValues
  }

  package var call: OperationCall {
    OperationCall(
      "AddListColumn",
      [
        .text("LIST_ID", listID), .text("COLUMN_NAME", name), .text("COLUMN_TYPE", String(type)),
        .text("DEFAULT", defaultValue),
      ] + SelectionValues.fields(selectionValues),
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Acknowledgement { Acknowledgement(result) }
}

/// Lists the lists. Types: 0 databases, 1 queries, 2 all three, 5 test, 6 seed, 13 suppression, 15 relational, 18 contact lists.
package struct GetLists: XMLAPIOperation {
  package var visibility: Int
  package var listType: Int
  package var folderID: String?
  package var includesAllLists: Bool?
  package var includesTags: Bool?

  package init(visibility: Int, listType: Int) {
    self.visibility = visibility
    self.listType = listType
  }

  package var call: OperationCall {
    OperationCall(
      "GetLists",
      [.text("VISIBILITY", String(visibility)), .text("LIST_TYPE", String(listType))]
        + OperationField.optional("FOLDER_ID", folderID)
        + OperationField.optional("INCLUDE_ALL_LISTS", includesAllLists)
        + OperationField.optional("INCLUDE_TAGS", includesTags),
      isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> [ListSummary] {
    (result.element?.all("LIST") ?? []).map { list in
      ListSummary(
        id: list.first("ID")?.text ?? "", name: list.first("NAME")?.text ?? "", type: list.first("TYPE")?.text ?? "",
        size: list.first("SIZE").flatMap { Int($0.text) }, visibility: list.first("VISIBILITY")?.text ?? "",
        isFolder: XMLAPIResult.isSuccess(list.first("IS_FOLDER")?.text ?? ""))
    }
  }
}

package struct ListSummary: Sendable, Equatable {
  package var id: String
  package var name: String
  package var type: String
  package var size: Int?
  package var visibility: String
  package var isFolder: Bool
}

/// Describes a database, query or relational table: names, types and keys of its columns.
package struct GetListMetaData: XMLAPIOperation {
  package var listID: String

  package init(listID: String) { self.listID = listID }

  package var call: OperationCall {
    OperationCall("GetListMetaData", [.text("LIST_ID", listID)], isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> ListDescription {
    guard let id = result.text("ID") else { throw MissingField("ID") }
    let columns = (result.element?.first("COLUMNS")?.all("COLUMN") ?? []).map { column in
      ListDescription.ListColumn(
        name: column.first("NAME")?.text ?? "", type: column.first("TYPE")?.text,
        defaultValue: column.first("DEFAULT_VALUE")?.text,
        selectionValues: (column.first("SELECTION_VALUES")?.all("VALUE") ?? []).map(\.text))
    }
    let keys = (result.element?.first("KEY_COLUMNS")?.all("COLUMN") ?? []).compactMap { $0.first("NAME")?.text }
    return ListDescription(
      id: id, name: result.text("NAME") ?? "", type: result.text("TYPE") ?? "",
      size: result.text("SIZE").flatMap { Int($0) }, organizationID: result.text("ORGANIZATION_ID"), columns: columns,
      keyColumns: keys, parentDatabaseID: result.text("PARENT_DATABASE_ID"))
  }
}

package struct ListDescription: Sendable, Equatable {
  package struct ListColumn: Sendable, Equatable {
    package var name: String
    /// Nil for the system's own columns; a number for a list, a word for a relational table.
    package var type: String?
    package var defaultValue: String?
    package var selectionValues: [String]
  }

  package var id: String
  package var name: String
  package var type: String
  package var size: Int?
  package var organizationID: String?
  package var columns: [ListColumn]
  /// Empty for a flexible database.
  package var keyColumns: [String]
  package var parentDatabaseID: String?
}
