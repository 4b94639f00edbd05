import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import Engage

/// Every request of the vectors, built from its typed operation, byte for byte.
@Suite struct RequestVectorTests {
  static func vectors() throws -> [Vector] { try Vector.all("requests") }

  @Test func thereAreVectors() throws {
    #expect(try Self.vectors().count >= 26)
  }

  @Test(arguments: try vectors())
  func isWrittenByteForByte(_ vector: Vector) throws {
    // A parameter without a value is an empty element, which XML writes in two ways that mean the same.
    let expected = vector["xml"]?.string?.replacing("<DEFAULT></DEFAULT>", with: "<DEFAULT/>")
    #expect(String(decoding: try Envelope.bytes([Self.call(vector)]), as: UTF8.self) == expected)
  }

  /// What a run sends, from its typed operation; anything else from the parameters that an operator gives to `xmlapi`.
  static func call(_ vector: Vector) throws -> OperationCall {
    let operation = try #require(vector["op"]?.string)
    let input = vector["input"]
    let list = input?["listId"]?.string ?? ""
    let pairs = columns(input?["columns"])
    let rows = (input?["rows"] ?? input?["keys"])?.array?.map { columns($0) } ?? []
    switch operation {
    case "SelectRecipientData" where input?["email"] == nil:
      return XMLAPIOperation.select(.columns(pairs), of: list).call
    case "UpdateRecipient"
    where Set(input?.members?.map(\.key) ?? []).isSubset(of: ["listId", "recipientId", "columns"]):
      return XMLAPIOperation.update(input?["recipientId"]?.string ?? "", of: list, pairs).call
    case "InsertUpdateRelationalTable":
      return XMLAPIOperation.write(rows, to: input?["tableId"]?.string ?? "").call
    case "DeleteRelationalTableData":
      return XMLAPIOperation.delete(rows, of: input?["tableId"]?.string ?? "").call
    case "GetListMetaData": return XMLAPIOperation.describe(list).call
    case "GetJobStatus": return XMLAPIOperation.status(ofJob: input?["jobId"]?.string ?? "").call
    default:
      return try NamedOperation(
        operation, parameters: try #require(parameters[vector.id], "no parameters for \(vector.id)"), columns: pairs
      ).call
    }
  }

  /// As behind `--param`, by the id of the vector.
  private static let given: [String: [String]] = [
    "select-by-email": ["LIST_ID=50001", "EMAIL=ada@example.test"],
    "add-full": [
      "LIST_ID=50001", "CREATED_FROM=2", "SEND_AUTOREPLY=false", "UPDATE_IF_FOUND=true", "ALLOW_HTML=false",
      "VISITOR_KEY=vk-001", "CONTACT_LISTS/CONTACT_LIST_ID=60001", "CONTACT_LISTS/CONTACT_LIST_ID=60002",
    ],
    "update-old-email": ["LIST_ID=50001", "OLD_EMAIL=old@example.test", "CREATED_FROM=1"],
    "update-snooze": [
      "LIST_ID=50001", "RECIPIENT_ID=900000000101", "SNOOZE_SETTINGS/SNOOZED=true",
      "SNOOZE_SETTINGS/RESUME_SEND_DATE=03/31/2027",
    ],
    "optout-email": ["LIST_ID=50001", "EMAIL=ada@example.test"],
    "optout-mailing": ["LIST_ID=50001", "MAILING_ID=70001", "RECIPIENT_ID=900000000101", "JOB_ID=80001"],
    "double-optin": ["LIST_ID=50001", "SEND_AUTOREPLY=true", "ALLOW_HTML=false"],
    "remove-email": ["LIST_ID=50001", "EMAIL=ada@example.test"],
    "remove-id": ["LIST_ID=50001", "RECIPIENT_ID=900000000101"],
    "add-list-column": ["LIST_ID=50001", "COLUMN_NAME=Merged Recipient Id", "COLUMN_TYPE=0", "DEFAULT="],
    "add-list-column-select": [
      "LIST_ID=50001", "COLUMN_NAME=Tier", "COLUMN_TYPE=6", "DEFAULT=basic", "SELECTION_VALUES/VALUE=basic",
      "SELECTION_VALUES/VALUE=gold",
    ],
    "audit-create-table": [
      "TABLE_NAME=AuditRecord",
      "COLUMNS/COLUMN/NAME=Audit Record Id", "COLUMNS/COLUMN/TYPE=TEXT", "COLUMNS/COLUMN/IS_REQUIRED=true",
      "COLUMNS/COLUMN/KEY_COLUMN=true",
      "COLUMNS/COLUMN/NAME=Old Recipient Id", "COLUMNS/COLUMN/TYPE=TEXT", "COLUMNS/COLUMN/IS_REQUIRED=true",
      "COLUMNS/COLUMN/NAME=New Recipient Id", "COLUMNS/COLUMN/TYPE=TEXT", "COLUMNS/COLUMN/IS_REQUIRED=true",
      "COLUMNS/COLUMN/NAME=Create Date", "COLUMNS/COLUMN/TYPE=DATE_TIME", "COLUMNS/COLUMN/IS_REQUIRED=true",
    ],
    "join-table": [
      "TABLE_ID=50002", "LIST_ID=50001", "MAP_FIELD/LIST_FIELD=RECIPIENT_ID", "MAP_FIELD/TABLE_FIELD=New Recipient Id",
    ],
    "purge-table": ["TABLE_ID=50002", "DELETE_BEFORE=01/01/2020 00:00:00"],
    "delete-table": ["TABLE_ID=50002"],
    "export-table": ["TABLE_ID=50002", "EXPORT_FORMAT=CSV", "ADD_TO_STORED_FILES="],
    "get-lists": ["VISIBILITY=1", "LIST_TYPE=2"],
    "import-table": ["MAP_FILE=audit_map.xml", "SOURCE_FILE=audit.csv", "FILE_ENCODING=UTF-8"],
    "delete-job": ["JOB_ID=80001"],
    "login": ["USERNAME=api-user@example.test", "PASSWORD=not-a-real-password"],
    "logout": [],
  ]

  private static let parameters: [String: [ColumnValue]] = given.mapValues { texts in
    texts.map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return ColumnValue(parts[0], parts[1])
    }
  }

  @Test(arguments: try Vector.all("transport") { isForm($0["headers"]) })
  func travelsAsAForm(_ vector: Vector) throws {
    let isPlain = vector.id.hasSuffix("mobile-user")
    let add = try NamedOperation(
      "AddRecipient",
      parameters: [ColumnValue("LIST_ID", "50001")] + (isPlain ? [] : [ColumnValue("CREATED_FROM", "1")]),
      columns: [
        isPlain
          ? ColumnValue("Mobile User Id", "A1111111-0000-4000-8000-00000000000A")
          : ColumnValue("Full Name", "Zoë 東京 Ünal")
      ])
    #expect(FormEncoding.contentType == vector["headers"]?["Content-Type"]?.string)
    let body = FormEncoding.body([("xml", try Envelope.bytes([add.call]))])
    #expect(String(decoding: body, as: UTF8.self) == vector["body"]?.string)
  }

  private static func isForm(_ headers: JSONNode?) -> Bool {
    headers?["Content-Type"]?.string?.hasPrefix("application/x-www-form-urlencoded") == true
  }

  @Test func aNamedOperationTakesPathsAndColumns() throws {
    let operation = try NamedOperation(
      "AddRecipient",
      parameters: [
        ColumnValue("LIST_ID", "1"), ColumnValue("CONTACT_LISTS/CONTACT_LIST_ID", "2"),
        ColumnValue("CONTACT_LISTS/CONTACT_LIST_ID", "3"),
        ColumnValue("ADD_TO_STORED_FILES", ""),
      ], columns: [ColumnValue("a&b", "<c>")])
    #expect(
      String(decoding: try Envelope.bytes([operation.call]), as: UTF8.self)
        == "<Envelope><Body><AddRecipient><LIST_ID>1</LIST_ID><CONTACT_LISTS><CONTACT_LIST_ID>2</CONTACT_LIST_ID>"
        + "<CONTACT_LIST_ID>3</CONTACT_LIST_ID></CONTACT_LISTS><ADD_TO_STORED_FILES/><COLUMN><NAME>a&amp;b</NAME>"
        + "<VALUE><![CDATA[<c>]]></VALUE></COLUMN></AddRecipient></Body></Envelope>")
    #expect(throws: NamedOperation.Fault.invalidName("a b")) {
      try NamedOperation("GetLists", parameters: [ColumnValue("a b", "")], columns: [])
    }
    #expect(throws: NamedOperation.Fault.invalidName("x><y")) {
      try NamedOperation("x><y", parameters: [], columns: [])
    }
    #expect(NamedOperation.names.count == Set(NamedOperation.names).count)
  }

  @Test func severalOperationsShareAnEnvelope() throws {
    let calls = [
      XMLAPIOperation.status(ofJob: "1").call,
      try NamedOperation("Logout", parameters: [], columns: []).call,
    ]
    #expect(
      String(decoding: try Envelope.bytes(calls), as: UTF8.self)
        == "<Envelope><Body><GetJobStatus><JOB_ID>1</JOB_ID></GetJobStatus><Logout/></Body></Envelope>")
  }
}
