import BatchFoundation
import BatchSandbox
import Testing

@Suite struct RecipientTests {
  @Test func addsUpdatesAndFindsARecipient() throws {
    try withSandbox { server, client, token throws in
      #expect(
        try client.xml(add([("Mobile User Id", "A-1")]), token: token)
          == "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>900000000101</RecipientId><ORGANIZATION_ID>org-1</ORGANIZATION_ID></RESULT>"
      )
      #expect(
        try client.xml(update("900000000101", [("customer_id", "a]]>b&")].map { ($0.0, "c-1") }), token: token)
          == "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>900000000101</RecipientId><ORGANIZATION_ID>org-1</ORGANIZATION_ID></RESULT>"
      )
      #expect(
        try client.xml(select([("customer_id", "c-1"), ("Mobile User Id", "A-1")]), token: token)
          == "<RESULT><SUCCESS>TRUE</SUCCESS><EMAIL/><Email/><RecipientId>900000000101</RecipientId><EmailType>0</EmailType>"
          + "<LastModified>1/31/26 10:00 AM</LastModified><CreatedFrom>6</CreatedFrom><OptedIn>1/31/26 10:00 AM</OptedIn>"
          + "<OptedOut/><ResumeSendDate/><ORGANIZATION_ID>org-1</ORGANIZATION_ID><CRMLeadSource/><COLUMNS>"
          + "<COLUMN><NAME>customer_id</NAME><VALUE><![CDATA[c-1]]></VALUE></COLUMN>"
          + "<COLUMN><NAME>Mobile User Id</NAME><VALUE><![CDATA[A-1]]></VALUE></COLUMN>"
          + "<COLUMN><NAME>Merged Recipient Id</NAME><VALUE></VALUE></COLUMN>"
          + "<COLUMN><NAME>Merged Date</NAME><VALUE></VALUE></COLUMN></COLUMNS></RESULT>")
      #expect(server.totals.operations == ["AddRecipient": 1, "UpdateRecipient": 1, "SelectRecipientData": 1])
    }
  }

  @Test func findsTheOldestAndOnlyByExactBytes() throws {
    try withSandbox { _, client, token throws in
      for _ in 0..<2 { _ = try client.xml(add([("customer_id", "caf\u{E9}")]), token: token) }
      #expect(
        try client.xml(select([("customer_id", "caf\u{E9}")]), token: token).contains("<RecipientId>900000000101<"))
      #expect(
        try client.xml(select([("customer_id", "cafe\u{301}")]), token: token)
          == fault(128, "<![CDATA[Recipient is not a member of the list.]]>", "SP.ListManager"))
    }
  }

  @Test func addsAgainOnAFlexibleListAndRefusesOnAKeyedOne() throws {
    try withSandbox { server, client, token throws in
      for _ in 0..<2 { _ = try client.xml(add([("customer_id", "c-1")]), token: token) }
      #expect(server.recipients(of: "50001").map(\.id) == [900_000_000_101, 900_000_000_102])
    }
    try withSandbox(.fixture(keyColumns: ["customer_id"])) { server, client, token throws in
      _ = try client.xml(add([("customer_id", "c-1")]), token: token)
      #expect(
        try client.xml(add([("customer_id", "c-1")]), token: token)
          == fault(122, "<![CDATA[Unable to add the recipient. The recipient already exists.]]>", "SP.Recipients"))
      let upsert = add(
        [("customer_id", "c-1"), ("Mobile User Id", "m")], extra: "<UPDATE_IF_FOUND>true</UPDATE_IF_FOUND>")
      #expect(try client.xml(upsert, token: token).contains("<RecipientId>900000000101<"))
      #expect(server.recipients(of: "50001").count == 1)
      _ = try client.xml(add([("customer_id", "c-2")]), token: token)
      #expect(try client.xml(update("900000000102", [("customer_id", "c-1")]), token: token).contains("<errorid>122<"))
    }
  }

  @Test func updatesByTheSyncFieldsOfAFlexibleList() throws {
    try withSandbox { server, client, token throws in
      _ = try client.xml(add([("customer_id", "c-1")]), token: token)
      let sync = "<SYNC_FIELDS><SYNC_FIELD><NAME>customer_id</NAME><VALUE>c-1</VALUE></SYNC_FIELD></SYNC_FIELDS>"
      let upsert = add([("Mobile User Id", "m")], extra: "<UPDATE_IF_FOUND>true</UPDATE_IF_FOUND>" + sync)
      #expect(try client.xml(upsert, token: token).contains("<RecipientId>900000000101<"))
      #expect(server.recipients(of: "50001").map(\.values) == [["customer_id": "c-1", "Mobile User Id": "m"]])
    }
  }

  @Test(arguments: [
    (update("", [("customer_id", "c")]), 124), (update("12", [("customer_id", "c")]), 123),
    (update("x", []), 124), (update("900000000101", [("nope", "c")]), 1007),
    (update("900000000101", [("RECIPIENT_ID", "1")]), 1011), (select([("nope", "c")]), 1007),
    (select([]), 1006), (select([("customer_id", "c")], list: "50099"), 108),
    (select([("customer_id", "c")], list: "abc"), 106), ("<SelectRecipientData/>", 100),
    ("<SendMailing/>", 150), ("<selectrecipientdata/>", 51), ("<Nonsense/>", 51),
    (add([("nope", "c")]), 1007), (add([], extra: "<CREATED_FROM>9</CREATED_FROM>"), 116),
    (add([], extra: "<UPDATE_IF_FOUND>maybe</UPDATE_IF_FOUND>"), 119),
    ("<UpdateRecipient><LIST_ID>50001</LIST_ID></UpdateRecipient>", 1006),
    (
      "<UpdateRecipient><LIST_ID>50001</LIST_ID><RECIPIENT_ID>900000000101</RECIPIENT_ID><COLUMN><VALUE>x</VALUE></COLUMN></UpdateRecipient>",
      316
    ),
  ])
  func refusesWith(operation: String, id: Int) throws {
    try withSandbox { server, client, token throws in
      _ = try client.xml(add([("Mobile User Id", "m")]), token: token)
      #expect(try client.xml(operation, token: token).contains("<errorid>\(id)</errorid>"))
      #expect(server.recipients(of: "50001").map(\.values) == [["Mobile User Id": "m"]])
    }
  }

  @Test func takesAnUpdateWithoutColumns() throws {
    try withSandbox { _, client, token throws in
      _ = try client.xml(add([("Mobile User Id", "m")]), token: token)
      #expect(try client.xml(update("900000000101", []), token: token).hasPrefix("<RESULT><SUCCESS>TRUE</SUCCESS>"))
    }
  }

  @Test func answersSeveralOperationsInOrderAndFailsThemAlone() throws {
    try withSandbox { server, client, token throws in
      let body = add([("customer_id", "a")]) + add([("nope", "b")]) + add([("customer_id", "c")])
      let ok = { (id: Int) in
        "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>\(id)</RecipientId><ORGANIZATION_ID>org-1</ORGANIZATION_ID></RESULT>"
      }
      #expect(
        try client.xml(body, token: token)
          == ok(900_000_000_101) + fault(1007, "<![CDATA[Column nope does not exist.]]>", "SP.Recipients")
          + ok(900_000_000_102))
      #expect(server.ledger.last?.operations == ["AddRecipient", "AddRecipient", "AddRecipient"])
    }
  }

  @Test func optsOutAndInAndRemoves() throws {
    try withSandbox { server, client, token throws in
      _ = try client.xml(add([("EMAIL", "ada@example.test")]), token: token)
      let optOut = "<OptOutRecipient><LIST_ID>50001</LIST_ID><EMAIL>ada@example.test</EMAIL></OptOutRecipient>"
      #expect(
        try client.xml(optOut, token: token)
          == "<RESULT><SUCCESS>SUCCESS</SUCCESS><ORGANIZATION_ID>org-1</ORGANIZATION_ID></RESULT>")
      let found = try client.xml(select([("EMAIL", "ada@example.test")]), token: token)
      #expect(found.contains("<EMAIL>ada@example.test</EMAIL><Email>ada@example.test</Email>"))
      #expect(found.contains("<OptedOut>1/31/26 10:00 AM</OptedOut>"))
      _ = try client.xml(update("900000000101", [("OPT_OUT", "false")]), token: token)
      #expect(try client.xml(select([("EMAIL", "ada@example.test")]), token: token).contains("<OptedOut/>"))
      let remove = "<RemoveRecipient><LIST_ID>50001</LIST_ID><EMAIL>ada@example.test</EMAIL></RemoveRecipient>"
      #expect(try client.xml(remove, token: token).hasPrefix("<RESULT><SUCCESS>TRUE</SUCCESS>"))
      #expect(server.recipients(of: "50001").isEmpty)
      #expect(try client.xml(remove, token: token).contains("<errorid>128</errorid>"))
    }
  }

  @Test func takesBothFormsOfABodyAndRefusesBrokenOnes() throws {
    try withSandbox { server, client, token throws in
      let form = "application/x-www-form-urlencoded; charset=UTF-8"
      let body =
        "xml=%3CEnvelope%3E%3CBody%3E%3CAddRecipient%3E%3CLIST_ID%3E50001%3C%2FLIST_ID%3E%3CCOLUMN%3E%3CNAME%3EMobile+User+Id"
        + "%3C%2FNAME%3E%3CVALUE%3E%C3%A9%3C%2FVALUE%3E%3C%2FCOLUMN%3E%3C%2FAddRecipient%3E%3C%2FBody%3E%3C%2FEnvelope%3E"
      #expect(try client.request("POST", "/xmlapi", token: token, type: form, body: body).body.contains("TRUE"))
      #expect(server.recipients(of: "50001").map(\.values) == [["Mobile User Id": "\u{E9}"]])
      for (type, body, id) in [
        (form, "other=1", 52), (form, "xml=", 50), (form, "xml=%zz", 51), ("text/xml", "<Envelope><Body>", 51),
        ("text/xml", "<Envelope><Body/></Envelope>", 51),
        ("text/xml", "<envelope><Body><Logout/></Body></envelope>", 51),
        ("text/xml", "<Envelope><Body><Logout>\u{E9}</Logout></Body></Envelope>", 51),
      ] {
        let answer = try client.request("POST", "/XMLAPI", token: token, type: type, body: body)
        #expect(answer.status == 200)
        #expect(answer.body.contains("<errorid>\(id)</errorid>"), "\(body)")
      }
    }
  }
}
