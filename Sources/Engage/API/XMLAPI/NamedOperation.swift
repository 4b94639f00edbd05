import BatchFoundation
package import BatchWire
package import EngageRules

/// Any XMLAPI operation, given by name, for operators (`engage-batch xmlapi`). It returns the result element unchanged.
package struct NamedOperation: Sendable {
  /// All operations that the SDKs name (reference identity 3.2). Names are case-sensitive.
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

  package enum Fault: Error, Equatable, Sendable {
    /// A name that is not a valid element name.
    case invalidName(String)
    /// A repeated element that the operation accepts only once.
    case repeated(String)

    package func words(of operation: String) -> String {
      switch self {
      case .invalidName(let name): "'\(name.printable)' is not a valid parameter name"
      case .repeated(let name): "'\(name.printable)' is given twice, but \(operation) accepts it only once"
      }
    }
  }

  package let name: String
  private let fields: [OperationField]

  /// - Parameters:
  ///   - parameters: The parameters, whose names may be paths such as `CONTACT_LISTS/CONTACT_LIST_ID`. Adjacent
  ///     parameters share their parent; a repeatable group begins again where one of its elements recurs.
  ///   - columns: The columns, added after the parameters; in rows of a table, a recurring column begins the next row.
  /// - Throws: The first ``Fault`` found.
  package init(_ name: String, parameters: [ColumnValue], columns: [ColumnValue]) throws(Fault) {
    for element in [name] + parameters.flatMap({ $0.name.split(separator: "/").map(String.init) })
    where !Self.isElementName(element) {
      throw .invalidName(element)
    }
    self.name = name
    let given = try Self.fields(of: parameters)
    let columns = try Self.fields(of: columns, for: name)
    for case .group(let group, _) in columns where !Self.isRepeatable(group) {
      for case .group(let other, _) in given where other.utf8.elementsEqual(group.utf8) { throw .repeated(group) }
    }
    fields = given + columns
  }

  package var call: OperationCall { operation.call }

  /// The operation to send. Read operations are repeatable; the effects of the others are not known here.
  package var operation: XMLAPIOperation<XMLElement?> {
    XMLAPIOperation(name, fields, isRepeatable: name.hasPrefix("Get") || name == "SelectRecipientData") { $0.element }
  }

  private static func isElementName(_ name: String) -> Bool {
    guard let first = name.utf8.first, first.isASCIILetter || first == UInt8(ascii: "_") else { return false }
    return name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-.".utf8.contains($0) }
  }
}
