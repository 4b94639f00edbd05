package import BatchXML

/// Any operation by its name, for operators (`engage-batch xmlapi`). What it answers is the result's element as it came.
package struct NamedOperation: XMLAPIOperation {
  /// Every operation the SDKs name (spec 3.2). Names are case-sensitive.
  package static let names = [
    "AddContactToContactList", "AddContactToProgram", "AddDCRuleset", "AddListColumn", "AddRecipient",
    "CalculateQuery", "CreateContactList", "CreateQuery", "CreateTable", "DeleteDCRuleset", "DeleteJob",
    "DeleteRelationalTableData", "DeleteTable", "DoubleOptInRecipient", "ExportDCRuleset", "ExportList",
    "ExportMailingTemplate", "ExportTable", "ForwardToFriend", "GetAggregateTrackingForMailing",
    "GetAggregateTrackingForOrg", "GetAggregateTrackingForUser", "GetContactMailingDetails", "GetDCRuleset",
    "GetFolderPath", "GetJobStatus", "GetListMetaData", "GetLists", "GetMailingTemplates", "GetMessageGroupDetails",
    "GetReportIdByDate", "GetSentMailingsForList", "GetSentMailingsForOrg", "GetSentMailingsForUser", "ImportDCRuleset",
    "ImportList", "ImportTable", "InsertUpdateRelationalTable", "JoinTable", "ListDCRulesetsForMailing",
    "ListRecipientMailings", "Login", "Logout", "OptOutRecipient", "PreviewMailing", "PurgeData", "PurgeTable",
    "RawRecipientDataExport", "RemoveRecipient", "ReplaceDCRuleset", "ScheduleMailing", "SelectRecipientData",
    "SendMailing", "SetColumnValue", "TrackingMetricExport", "UpdateRecipient", "ValidateDCRuleset",
    "WebTrackingDataExport",
  ]

  package var name: String
  /// Names may be paths, such as `CONTACT_LISTS/CONTACT_LIST_ID`; neighbours below the same parent share it.
  package var parameters: [Column]
  package var columns: [Column]

  /// A name that cannot stand as an element's.
  package struct InvalidName: Error, Equatable, Sendable {
    package var name: String
  }

  package init(_ name: String, parameters: [Column], columns: [Column]) throws(InvalidName) {
    for element in [name] + parameters.flatMap({ Array(Self.path($0.name)) }) where !Self.isElementName(element) {
      throw InvalidName(name: element)
    }
    self.name = name
    self.parameters = parameters
    self.columns = columns
  }

  package var call: OperationCall {
    OperationCall(
      name, Self.fields(parameters.map { (Self.path($0.name), $0.value) }) + columnFields, isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> XMLElement? { result.element }

  /// Columns the way the operation takes them: pairs of name and value, one row of a table, or names only.
  private var columnFields: [OperationField] {
    guard !columns.isEmpty else { return [] }
    switch name {
    case "InsertUpdateRelationalTable":
      return [.group("ROWS", [.group("ROW", columns.map { .named("COLUMN", name: $0.name, $0.value) })])]
    case "DeleteRelationalTableData":
      return [.group("ROWS", [.group("ROW", columns.map { .named("KEY_COLUMN", name: $0.name, $0.value) })])]
    case "ExportList", "ExportTable":
      return [.group("EXPORT_COLUMNS", columns.map { .text("COLUMN", $0.name) })]
    case "CreateTable":
      return [.group("COLUMNS", columns.map { .group("COLUMN", [.text("NAME", $0.name), .text("TYPE", $0.value)]) })]
    default: return OperationField.columns(columns)
    }
  }

  private static func isElementName(_ name: String) -> Bool {
    let isLetter = { (byte: UInt8) in (0x41...0x5A).contains(byte & 0xDF) || byte == UInt8(ascii: "_") }
    guard let first = name.utf8.first, isLetter(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }
  }

  private static func path(_ name: String) -> ArraySlice<String> {
    name.split(separator: "/").map(String.init)[...]
  }

  private static func fields(_ parameters: [(path: ArraySlice<String>, value: String)]) -> [OperationField] {
    var fields: [OperationField] = []
    var at = 0
    while at < parameters.count {
      guard let head = parameters[at].path.first, parameters[at].path.count > 1 else {
        let name = parameters[at].path.first ?? ""
        fields.append(parameters[at].value.isEmpty ? .flag(name) : .text(name, parameters[at].value))
        at += 1
        continue
      }
      let end = parameters[at...].firstIndex { $0.path.count < 2 || $0.path.first != head } ?? parameters.count
      fields.append(.group(head, Self.fields(parameters[at..<end].map { ($0.path.dropFirst(), $0.value) })))
      at = end
    }
    return fields
  }
}
