import BatchFoundation
import BatchWire

/// One operation of an envelope, with access to its parameters.
struct ReceivedCall: Sendable {
  var element: XMLElement

  var name: String { element.name }

  /// Returns the text of the first child element with that name; nil if there is none.
  func text(_ name: String) -> ByteText? { element.first(name).map { ByteText($0.text) } }

  func required(_ name: String) throws(APIFault) -> ByteText {
    guard let value = text(name), !value.isEmpty else { throw .missing(name) }
    return value
  }

  func flag(_ name: String, fault: Int) throws(APIFault) -> Bool {
    switch text(name)?.string.lowercased() {
    case nil, "", "false", "no", "0": return false
    case "true", "yes", "1": return true
    default: throw APIFault(id: fault, text: "\(name) is not valid.")
    }
  }

  /// Returns the NAME and VALUE pairs of COLUMN elements, or of SYNC_FIELD elements inside SYNC_FIELDS.
  func pairs(_ parent: XMLElement? = nil, _ name: String = "COLUMN", fault: Int = 316) throws(APIFault) -> XMLAPI.Pairs
  {
    var pairs: XMLAPI.Pairs = []
    for child in (parent ?? element).all(name) {
      guard let column = child.first("NAME"), !column.text.utf8.isEmpty else {
        throw APIFault(id: fault, text: "\(name) without NAME", errorClass: "SP.Recipients")
      }
      pairs.append((ByteText(column.text), ByteText(child.first("VALUE")?.text ?? "")))
    }
    return pairs
  }

  var syncFields: XMLAPI.Pairs? {
    get throws(APIFault) {
      guard let fields = element.first("SYNC_FIELDS") else { return nil }
      return try pairs(fields, "SYNC_FIELD", fault: 329)
    }
  }
}

/// The XMLAPI over the organization's data.
struct XMLAPI {
  var organization: Organization
  var clock: SandboxTime
  let switches: SandboxSwitches
  let createsWhatIsMissing: Bool
  var random: SplitMix64

  var now: Int64 { clock.now.milliseconds }

  /// Returns the response to all operations in a Body, in order; each succeeds or fails separately.
  mutating func answer(_ operations: [XMLElement]) -> String {
    var body = "<Envelope><Body>"
    for element in operations {
      body += answer(ReceivedCall(element: element))
    }
    return body + "</Body></Envelope>"
  }

  mutating func answer(_ call: ReceivedCall) -> String {
    do {
      var xml = ResponseWriter()
      if switches.spelling == .random { xml.prefersCDATA = Bool.random(using: &random) }
      try perform(call, &xml)
      let success = xml.fails ? "false" : spelling(of: call.name)
      return "<RESULT><SUCCESS>\(success)</SUCCESS>\(xml.text)</RESULT>"
    } catch {
      return faultText(error)
    }
  }

  private mutating func spelling(of operation: String) -> String {
    let documented =
      switch operation {
      case "OptOutRecipient": "SUCCESS"
      case "InsertUpdateRelationalTable", "DeleteRelationalTableData", "Login": "true"
      default: "TRUE"
      }
    guard switches.spelling == .random else { return documented }
    return [documented, "TRUE", "true", "True", "Success"].randomElement(using: &random) ?? documented
  }

  /// Returns the RESULT and Fault elements of a refusal.
  mutating func faultText(_ fault: APIFault) -> String {
    let plain = switches.spelling == .random ? Bool.random(using: &random) : fault.id == 51
    let text = plain ? XMLWriter.escaped(fault.text) : cdata(fault.text)
    return "<RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><Request/><FaultCode/><FaultString>\(text)</FaultString>"
      + "<detail><error><errorid>\(fault.id)</errorid><module/><class>\(fault.errorClass)</class><method/></error></detail>"
      + "</Fault>"
  }

  mutating func faultAnswer(_ fault: APIFault) -> String { "<Envelope><Body>\(faultText(fault))</Body></Envelope>" }

  private mutating func perform(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    switch call.name {
    case "SelectRecipientData": try selectRecipientData(call, &xml)
    case "AddRecipient": try addRecipient(call, &xml)
    case "UpdateRecipient": try updateRecipient(call, &xml)
    case "OptOutRecipient": try optOutRecipient(call, &xml)
    case "DoubleOptInRecipient": try doubleOptInRecipient(call, &xml)
    case "RemoveRecipient": try removeRecipient(call, &xml)
    case "AddContactToContactList": try addContactToContactList(call, &xml)
    case "CreateContactList": try createContactList(call, &xml)
    case "AddContactToProgram": try addContactToProgram(call, &xml)
    case "AddListColumn": try addListColumn(call, &xml)
    case "InsertUpdateRelationalTable": try insertUpdateRelationalTable(call, &xml)
    case "DeleteRelationalTableData": try deleteRelationalTableData(call, &xml)
    case "CreateTable": try createTable(call, &xml)
    case "JoinTable", "PurgeTable", "DeleteTable": try startTableJob(call, &xml)
    case "GetLists": try getLists(call, &xml)
    case "GetListMetaData": try getListMetaData(call, &xml)
    case "ImportList", "ImportTable": try startImport(call, &xml)
    case "ExportList": try exportList(call, &xml)
    case "ExportTable": try exportTable(call, &xml)
    case "GetJobStatus": try getJobStatus(call, &xml)
    case "DeleteJob": try deleteJob(call, &xml)
    case "Login": try login(call, &xml)
    case "Logout": break
    default: throw Self.known.contains(call.name) ? .notPermitted : .invalidRequest
    }
  }

  /// Operations that the service has but the sandbox lacks.
  private static let known: Set<String> = [
    "SendMailing", "ForwardToFriend", "GetContactMailingDetails", "PurgeData", "ListRecipientMailings", "CreateQuery",
    "CalculateQuery", "SetColumnValue", "TrackingMetricExport", "RawRecipientDataExport", "WebTrackingDataExport",
    "GetReportIdByDate", "GetSentMailingsForOrg", "GetSentMailingsForUser", "GetSentMailingsForList",
    "GetAggregateTrackingForMailing", "GetAggregateTrackingForOrg", "GetAggregateTrackingForUser", "GetFolderPath",
    "ScheduleMailing", "PreviewMailing", "GetMessageGroupDetails", "AddDCRuleset", "ImportDCRuleset", "ExportDCRuleset",
    "ListDCRulesetsForMailing", "GetDCRuleset", "ReplaceDCRuleset", "ValidateDCRuleset", "DeleteDCRuleset",
    "GetMailingTemplates", "ExportMailingTemplate",
  ]

  private mutating func login(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let user = try call.required("USERNAME")
    _ = try call.required("PASSWORD")
    if organization.sessions.count >= 20 {
      throw APIFault(
        id: 140, text: "Unable to login user: \(user) - TOO_MANY_SESSIONS.", errorClass: "SP.Admin")
    }
    let session = "FEED\(organization.nextSession + 1000)"
    organization.nextSession += 1
    organization.sessions.append(session)
    xml.element("SESSIONID", session)
    xml.element("ORGANIZATION_ID", Organization.id)
    xml.element("SESSION_ENCODING", ";jsessionid=\(session)")
  }
}
