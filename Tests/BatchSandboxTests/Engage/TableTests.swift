import BatchFoundation
import BatchSandbox
import Testing

@Suite struct TableTests {
  private func row(_ cells: [(String, String)], _ element: String = "COLUMN") -> String {
    "<ROW>" + cells.map { "<\(element) name=\"\($0.0)\"><![CDATA[\($0.1)]]></\(element)>" }.joined() + "</ROW>"
  }

  private func insert(_ rows: [String], table: String = "50002") -> String {
    "<InsertUpdateRelationalTable><TABLE_ID>\(table)</TABLE_ID><ROWS>\(rows.joined())</ROWS></InsertUpdateRelationalTable>"
  }

  private func audit(_ key: String, date: String = "01/31/2026 10:00:00") -> [(String, String)] {
    [("Audit Record Id", key), ("Old Recipient Id", "1"), ("New Recipient Id", "2"), ("Create Date", date)]
  }

  @Test func keepsOneRowPerKey() throws {
    try withSandbox { server, client, token throws in
      let ok = "<RESULT><SUCCESS>true</SUCCESS></RESULT>"
      #expect(try client.xml(insert([row(audit("k-1"))]), token: token) == ok)
      #expect(try client.xml(insert([row(audit("k-1", date: "02/01/2026"))]), token: token) == ok)
      #expect(
        server.rows(of: "50002") == [
          [
            "Audit Record Id": "k-1", "Old Recipient Id": "1", "New Recipient Id": "2", "Create Date": "02/01/2026",
          ]
        ])
    }
  }

  @Test func listsBadRowsInsideSuccess() throws {
    try withSandbox { server, client, token throws in
      let rows = [
        row(audit("k-1")), row(audit("k-2", date: "31.01.2026")), row(audit("k-3") + [("Nope", "x")]),
        row(Array(audit("k-4").dropLast())),
      ]
      let failure = { (text: String, key: String) in
        "<FAILURE failure_type=\"permanent\" description=\"\(text)\"><COLUMN name=\"Audit Record Id\">\(key)</COLUMN></FAILURE>"
      }
      #expect(
        try client.xml(insert(rows), token: token)
          == "<RESULT><SUCCESS>true</SUCCESS><FAILURES>" + failure("Invalid Date Value in column: Create Date", "k-2")
          + failure("There is no column Nope", "k-3") + failure("Missing value for column: Create Date", "k-4")
          + "</FAILURES></RESULT>")
      #expect(server.rows(of: "50002").map { $0["Audit Record Id"] } == ["k-1"])
    }
  }

  @Test(arguments: [
    ("01/31/2026 10:00:00", true), ("01/31/2026", true), ("01/31/2026 10:00:00 GMT", true), ("1/31/2026", false),
    ("02/29/2026", false), ("02/29/2028", true), ("13/01/2026", false), ("01/31/2026 24:00:00", false), ("x", false),
  ])
  func takesDates(text: String, isTaken: Bool) throws {
    try withSandbox { server, client, token throws in
      _ = try client.xml(insert([row(audit("k-1", date: text))]), token: token)
      #expect(server.rows(of: "50002").count == (isTaken ? 1 : 0))
    }
  }

  @Test func refusesAZoneIfItIsTold() throws {
    try withSandbox(.fixture { $0.switches.datesWithZone = false }) { server, client, token throws in
      let answer = try client.xml(insert([row(audit("k-1", date: "01/31/2026 10:00:00 GMT"))]), token: token)
      #expect(answer.contains("Invalid Date Value in column: Create Date"))
      #expect(server.rows(of: "50002").isEmpty)
    }
  }

  @Test func takesHundredRowsAndNotMore() throws {
    try withSandbox { server, client, token throws in
      let rows = (1...101).map { row(audit("k-\($0)")) }
      #expect(try client.xml(insert(rows), token: token).contains("<errorid>51</errorid>"))
      #expect(
        try client.xml(insert(Array(rows.dropLast())), token: token) == "<RESULT><SUCCESS>true</SUCCESS></RESULT>")
      #expect(server.rows(of: "50002").count == 100)
    }
  }

  @Test func deletesRowsByKey() throws {
    try withSandbox { server, client, token throws in
      _ = try client.xml(insert([row(audit("k-1"))]), token: token)
      let delete = { (keys: [String]) in
        "<DeleteRelationalTableData><TABLE_ID>50002</TABLE_ID><ROWS>"
          + keys.map { row([("Audit Record Id", $0)], "KEY_COLUMN") }.joined() + "</ROWS></DeleteRelationalTableData>"
      }
      let missing =
        "<FAILURES><FAILURE failure_type=\"permanent\" description=\"Row Not Found\">"
        + "<KEY_COLUMN name=\"Audit Record Id\">k-2</KEY_COLUMN></FAILURE></FAILURES>"
      #expect(
        try client.xml(delete(["k-1", "k-2"]), token: token) == "<RESULT><SUCCESS>true</SUCCESS>\(missing)</RESULT>")
      #expect(try client.xml(delete(["k-2"]), token: token) == "<RESULT><SUCCESS>false</SUCCESS>\(missing)</RESULT>")
      #expect(server.rows(of: "50002").isEmpty)
    }
  }

  @Test func createsATableAndDescribesIt() throws {
    try withSandbox { _, client, token throws in
      let columns =
        "<COLUMN><NAME>k</NAME><TYPE>TEXT</TYPE><IS_REQUIRED>true</IS_REQUIRED><KEY_COLUMN>true</KEY_COLUMN></COLUMN>"
        + "<COLUMN><NAME>n</NAME><TYPE>NUMERIC</TYPE></COLUMN>"
      let create = "<CreateTable><TABLE_NAME>Scores</TABLE_NAME><COLUMNS>\(columns)</COLUMNS></CreateTable>"
      #expect(
        try client.xml(create, token: token)
          == "<RESULT><SUCCESS>TRUE</SUCCESS><TABLE_ID>60001</TABLE_ID></RESULT>")
      #expect(try client.xml(create, token: token).contains("<errorid>256</errorid>"))
      let answer = try client.xml(insert([row([("k", "a"), ("n", "twelve")])], table: "60001"), token: token)
      #expect(answer.contains("description=\"Invalid Number in column: n\""))
      let described = try client.xml("<GetListMetaData><LIST_ID>60001</LIST_ID></GetListMetaData>", token: token)
      #expect(
        described.contains(
          "<COLUMNS><COLUMN><NAME>k</NAME><DEFAULT_VALUE/><TYPE>0</TYPE></COLUMN>"
            + "<COLUMN><NAME>n</NAME><DEFAULT_VALUE/><TYPE>2</TYPE></COLUMN></COLUMNS>"
            + "<KEY_COLUMNS><COLUMN><NAME>k</NAME></COLUMN></KEY_COLUMNS>"))
    }
  }

  @Test func describesTheDatabase() throws {
    try withSandbox { _, client, token throws in
      let add =
        "<AddListColumn><LIST_ID>50001</LIST_ID><COLUMN_NAME>Tier</COLUMN_NAME><COLUMN_TYPE>6</COLUMN_TYPE><DEFAULT>a</DEFAULT>"
        + "<SELECTION_VALUES><VALUE>a</VALUE><VALUE>b</VALUE></SELECTION_VALUES></AddListColumn>"
      #expect(try client.xml(add, token: token) == "<RESULT><SUCCESS>TRUE</SUCCESS></RESULT>")
      #expect(try client.xml(add, token: token).contains("<errorid>161</errorid>"))
      let system = ["LIST_ID", "MAILING_ID", "RECIPIENT_ID", "EMAIL", "CRM Lead Source"]
      let systemColumns = system.map { "<COLUMN><NAME>\($0)</NAME></COLUMN>" }.joined()
      let textColumns = ["customer_id", "Mobile User Id", "Merged Recipient Id"]
        .map { "<COLUMN><NAME>\($0)</NAME><DEFAULT_VALUE/><TYPE>0</TYPE></COLUMN>" }.joined()
      let wanted = """
        <RESULT><SUCCESS>TRUE</SUCCESS><ID>50001</ID><NAME>Customers</NAME><TYPE>0</TYPE><SIZE>0</SIZE>\
        <NUM_OPT_OUTS>0</NUM_OPT_OUTS><NUM_UNDELIVERABLE>0</NUM_UNDELIVERABLE>\
        <LAST_MODIFIED>01/31/26 10:00 AM</LAST_MODIFIED><LAST_CONFIGURED>01/31/26 10:00 AM</LAST_CONFIGURED>\
        <CREATED>01/31/26 10:00 AM</CREATED><VISIBILITY>1</VISIBILITY><USER_ID>user-1</USER_ID>\
        <ORGANIZATION_ID>org-1</ORGANIZATION_ID><OPT_IN_FORM_DEFINED>false</OPT_IN_FORM_DEFINED>\
        <OPT_OUT_FORM_DEFINED>false</OPT_OUT_FORM_DEFINED><PROFILE_FORM_DEFINED>false</PROFILE_FORM_DEFINED>\
        <OPT_IN_AUTOREPLY_DEFINED>false</OPT_IN_AUTOREPLY_DEFINED>\
        <PROFILE_AUTOREPLY_DEFINED>false</PROFILE_AUTOREPLY_DEFINED><COLUMNS>\(systemColumns)\(textColumns)\
        <COLUMN><NAME>Merged Date</NAME><DEFAULT_VALUE/><TYPE>17</TYPE></COLUMN>\
        <COLUMN><NAME>Tier</NAME><DEFAULT_VALUE>a</DEFAULT_VALUE><TYPE>6</TYPE>\
        <SELECTION_VALUES><VALUE>a</VALUE><VALUE>b</VALUE></SELECTION_VALUES></COLUMN>\
        </COLUMNS><KEY_COLUMNS/></RESULT>
        """
      let described = try client.xml("<GetListMetaData><LIST_ID>50001</LIST_ID></GetListMetaData>", token: token)
      #expect(described == wanted)
      let lists = try client.xml(
        "<GetLists><VISIBILITY>1</VISIBILITY><LIST_TYPE>0</LIST_TYPE></GetLists>", token: token)
      #expect(
        lists.hasPrefix(
          "<RESULT><SUCCESS>TRUE</SUCCESS><LIST><ID>50001</ID><NAME>Customers</NAME><TYPE>0</TYPE><SIZE>0</SIZE>"))
    }
  }
}
