import BatchFoundation
import BatchJSON
import TestSupport
import Testing

@testable import EngageAPI

/// Every request of the vectors, built from its typed operation, byte for byte.
@Suite struct RequestVectorTests {
  static func vectors() throws -> [Vector] { try Vector.all("requests") }

  @Test func thereAreVectors() throws {
    #expect(try Self.vectors().count >= 26)
  }

  @Test(arguments: try vectors())
  func isWrittenByteForByte(_ vector: Vector) throws {
    let call = try #require(Self.call(vector))
    #expect(String(decoding: try Envelope.bytes([call]), as: UTF8.self) == vector["xml"]?.string)
  }

  static func call(_ vector: Vector) -> OperationCall? {
    let input = vector["input"]
    let list = input?["listId"]?.string ?? ""
    let table = TableKey.id(input?["tableId"]?.string ?? "")
    let pairs = columns(input?["columns"])
    let rows = (input?["rows"] ?? input?["keys"])?.array?.map { columns($0) } ?? []
    switch vector["op"]?.string {
    case "SelectRecipientData":
      let keys: [SelectRecipientData.Key] = (input?["email"]?.string).map { [.email($0)] } ?? [.columns(pairs)]
      return SelectRecipientData(listID: list, keys: keys).call
    case "AddRecipient":
      var add = AddRecipient(listID: list, columns: pairs)
      add.createdFrom = (input?["createdFrom"]?.integer).flatMap { CreatedFrom(rawValue: Int($0)) }
      add.sendAutoreply = input?["sendAutoreply"]?.bool
      add.updateIfFound = input?["updateIfFound"]?.bool
      add.allowHTML = input?["allowHtml"]?.bool
      add.visitorKey = input?["visitorKey"]?.string
      add.contactListIDs = (input?["contactLists"]?.array ?? []).compactMap(\.string)
      return add.call
    case "UpdateRecipient":
      let key: UpdateRecipient.Key =
        (input?["recipientId"]?.string).map { .recipient($0) } ?? .oldEmail(input?["oldEmail"]?.string ?? "")
      var update = UpdateRecipient(listID: list, key: key, columns: pairs)
      update.createdFrom = (input?["createdFrom"]?.integer).flatMap { CreatedFrom(rawValue: Int($0)) }
      if let snooze = input?["snooze"] {
        update.snooze = .init(
          isSnoozed: snooze["snoozed"]?.bool ?? false, end: snooze["resume"]?.string.map { .date($0) })
      }
      return update.call
    case "OptOutRecipient":
      if let mailing = input?["mailingId"]?.string {
        return OptOutRecipient(
          listID: list,
          key: .mailing(id: mailing, recipient: input?["recipientId"]?.string ?? "", job: input?["jobId"]?.string ?? "")
        ).call
      }
      return OptOutRecipient(listID: list, key: .email(input?["email"]?.string ?? "")).call
    case "DoubleOptInRecipient":
      var operation = DoubleOptInRecipient(listID: list, columns: pairs)
      operation.sendAutoreply = true
      operation.allowHTML = false
      return operation.call
    case "RemoveRecipient":
      let key: RemoveRecipient.Key =
        (input?["email"]?.string).map { .email($0) } ?? .recipient(input?["recipientId"]?.string ?? "")
      return RemoveRecipient(listID: list, key: key).call
    case "AddListColumn":
      return AddListColumn(
        listID: list, name: input?["name"]?.string ?? "", type: Int(input?["type"]?.integer ?? -1),
        defaultValue: input?["default"]?.string ?? "",
        selectionValues: (input?["values"]?.array ?? []).compactMap(\.string)
      ).call
    case "InsertUpdateRelationalTable":
      return InsertUpdateRelationalTable(tableID: input?["tableId"]?.string ?? "", rows: rows).call
    case "DeleteRelationalTableData":
      return DeleteRelationalTableData(tableID: input?["tableId"]?.string ?? "", keys: rows).call
    case "CreateTable":
      return CreateTable(
        name: input?["tableName"]?.string ?? "",
        columns: [
          .init("Audit Record Id", type: "TEXT", isRequired: true, isKey: true),
          .init("Old Recipient Id", type: "TEXT", isRequired: true),
          .init("New Recipient Id", type: "TEXT", isRequired: true),
          .init("Create Date", type: "DATE_TIME", isRequired: true),
        ]
      ).call
    case "JoinTable":
      return JoinTable(table: table, list: .id(list), fields: [("RECIPIENT_ID", "New Recipient Id")]).call
    case "PurgeTable": return PurgeTable(table: table, before: "01/01/2020 00:00:00").call
    case "DeleteTable": return DeleteTable(table: table).call
    case "ExportTable":
      var export = ExportTable(table: table)
      export.addsToStoredFiles = true
      return export.call
    case "GetLists":
      return GetLists(
        visibility: Int(input?["visibility"]?.integer ?? -1), listType: Int(input?["listType"]?.integer ?? -1)
      ).call
    case "GetListMetaData": return GetListMetaData(listID: list).call
    case "ImportTable":
      return ImportFile(
        .table, mapFile: input?["mapFile"]?.string ?? "", sourceFile: input?["sourceFile"]?.string ?? ""
      ).call
    case "GetJobStatus": return GetJobStatus(jobID: input?["jobId"]?.string ?? "").call
    case "DeleteJob": return DeleteJob(jobID: input?["jobId"]?.string ?? "").call
    case "Login":
      return Login(username: input?["username"]?.string ?? "", password: Secret("not-a-real-password")).call
    case "Logout": return Logout().call
    default: return nil
    }
  }

  @Test(arguments: try Vector.all("transport") { $0["headers"] != nil })
  func travelsInBothForms(_ vector: Vector) throws {
    let isForm = vector["headers"]?["Content-Type"]?.string?.hasPrefix("application/") == true
    let form = isForm ? EnvelopeForm.form : .raw
    var add = AddRecipient(listID: "50001", columns: [])
    if vector.testDescription.hasSuffix("nonascii") {
      add.createdFrom = .manual
      add.columns = [Column("Full Name", "Zoë 東京 Ünal")]
    } else {
      add.columns = [Column("Mobile User Id", "A1111111-0000-4000-8000-00000000000A")]
    }
    #expect(form.contentType == vector["headers"]?["Content-Type"]?.string)
    #expect(String(decoding: form.body(try Envelope.bytes([add.call])), as: UTF8.self) == vector["body"]?.string)
  }

  @Test func aNamedOperationTakesPathsAndColumns() throws {
    let operation = try NamedOperation(
      "AddRecipient",
      parameters: [
        Column("LIST_ID", "1"), Column("CONTACT_LISTS/CONTACT_LIST_ID", "2"),
        Column("CONTACT_LISTS/CONTACT_LIST_ID", "3"),
        Column("ADD_TO_STORED_FILES", ""),
      ], columns: [Column("a&b", "<c>")])
    #expect(
      String(decoding: try Envelope.bytes([operation.call]), as: UTF8.self)
        == "<Envelope><Body><AddRecipient><LIST_ID>1</LIST_ID><CONTACT_LISTS><CONTACT_LIST_ID>2</CONTACT_LIST_ID>"
        + "<CONTACT_LIST_ID>3</CONTACT_LIST_ID></CONTACT_LISTS><ADD_TO_STORED_FILES/><COLUMN><NAME>a&amp;b</NAME>"
        + "<VALUE><![CDATA[<c>]]></VALUE></COLUMN></AddRecipient></Body></Envelope>")
    #expect(throws: NamedOperation.Fault.invalidName("a b")) {
      try NamedOperation("GetLists", parameters: [Column("a b", "")], columns: [])
    }
    #expect(throws: NamedOperation.Fault.invalidName("x><y")) {
      try NamedOperation("x><y", parameters: [], columns: [])
    }
    #expect(NamedOperation.names.count == Set(NamedOperation.names).count)
  }

  @Test func severalOperationsShareAnEnvelope() throws {
    let calls = [GetJobStatus(jobID: "1").call, Logout().call]
    #expect(
      String(decoding: try Envelope.bytes(calls), as: UTF8.self)
        == "<Envelope><Body><GetJobStatus><JOB_ID>1</JOB_ID></GetJobStatus><Logout/></Body></Envelope>")
  }
}
