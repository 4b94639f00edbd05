import BatchFoundation
import BatchSandbox
import Testing

@Suite struct JobTests {
  private func status(_ job: Int, _ client: RawClient, _ token: String) throws -> String {
    let answer = try client.xml("<GetJobStatus><JOB_ID>\(job)</JOB_ID></GetJobStatus>", token: token)
    return String(answer.split(separator: "JOB_STATUS>")[1].dropLast(2))
  }

  @Test func exportsAListInTheBackground() throws {
    try withSandbox { server, client, token throws in
      for (customer, mobile) in [("c-1", "m,1"), ("c-2", "say \"hi\"")] {
        _ = try client.xml(add([("customer_id", customer), ("Mobile User Id", mobile)]), token: token)
      }
      let export =
        "<ExportList><LIST_ID>50001</LIST_ID><EXPORT_TYPE>ALL</EXPORT_TYPE><EXPORT_FORMAT>CSV</EXPORT_FORMAT><EXPORT_COLUMNS>"
        + "<COLUMN>RECIPIENT_ID</COLUMN><COLUMN>Mobile User Id</COLUMN></EXPORT_COLUMNS></ExportList>"
      #expect(
        try client.xml(export, token: token)
          == "<RESULT><SUCCESS>TRUE</SUCCESS><JOB_ID>80001</JOB_ID>"
          + "<FILE_PATH>/download/Customers - All - Jan 31 2026 10-00-00 AM.CSV</FILE_PATH></RESULT>")
      let file = "/sandbox/files/download/Customers%20-%20All%20-%20Jan%2031%202026%2010-00-00%20AM.CSV"
      #expect(try client.request("GET", file).status == 404)
      #expect(try (0..<3).map { _ in try status(80001, client, token) } == ["WAITING", "RUNNING", "COMPLETE"])
      #expect(
        try client.request("GET", file).body
          == "RECIPIENT_ID,Mobile User Id\n900000000101,\"m,1\"\n900000000102,\"say \"\"hi\"\"\"\n")
      #expect(server.download("Customers - All - Jan 31 2026 10-00-00 AM.CSV") != nil)
    }
  }

  @Test func importsAListFromUploadedFiles() throws {
    try withSandbox { server, client, token throws in
      _ = try client.xml(add([("customer_id", "c-1")]), token: token)
      let map =
        "<LIST_IMPORT><LIST_INFO><ACTION>ADD_AND_UPDATE</ACTION><LIST_ID>50001</LIST_ID><FILE_TYPE>0</FILE_TYPE>"
        + "<HASHEADERS>true</HASHEADERS></LIST_INFO><SYNC_FIELDS><SYNC_FIELD><NAME>customer_id</NAME></SYNC_FIELD></SYNC_FIELDS>"
        + "<MAPPING><COLUMN><INDEX>1</INDEX><NAME>customer_id</NAME><INCLUDE>true</INCLUDE></COLUMN>"
        + "<COLUMN><INDEX>2</INDEX><NAME>Mobile User Id</NAME><INCLUDE>true</INCLUDE></COLUMN></MAPPING></LIST_IMPORT>"
      #expect(try client.request("PUT", "/sandbox/files/upload/map.xml", body: map).status == 201)
      let start = "<ImportList><MAP_FILE>map.xml</MAP_FILE><SOURCE_FILE>links.csv</SOURCE_FILE></ImportList>"
      #expect(try client.xml(start, token: token).contains("<errorid>132</errorid>"))
      let source = "\u{FEFF}id,mobile\r\nc-1,m-1\r\nc-2,\"m\n2\"\r\n"
      #expect(try client.request("PUT", "/sandbox/files/upload/links.csv", body: source).status == 201)
      #expect(try client.xml(start, token: token) == "<RESULT><SUCCESS>TRUE</SUCCESS><JOB_ID>80001</JOB_ID></RESULT>")
      #expect(server.recipients(of: "50001").count == 1)
      server.advanceClock(by: Milliseconds(25_000))
      let done = try client.xml("<GetJobStatus><JOB_ID>80001</JOB_ID></GetJobStatus>", token: token)
      let counts = [
        ("LIST_ID", "50001"), ("TOTAL_ROWS", "2"), ("TOTAL_VALID", "2"), ("SQL_ADDED", "1"), ("SQL_UPDATED", "1"),
      ]
      let wanted = """
        <RESULT><SUCCESS>TRUE</SUCCESS><JOB_ID>80001</JOB_ID><JOB_STATUS>COMPLETE</JOB_STATUS>\
        <JOB_DESCRIPTION>links.csv</JOB_DESCRIPTION><PARAMETERS>\
        \(counts.map { "<PARAMETER><NAME>\($0.0)</NAME><VALUE>\($0.1)</VALUE></PARAMETER>" }.joined())
        """
      #expect(done.hasPrefix(wanted))
      #expect(
        server.recipients(of: "50001").map(\.values) == [
          ["customer_id": "c-1", "Mobile User Id": "m-1"], ["customer_id": "c-2", "Mobile User Id": "m\n2"],
        ])
      #expect(try client.request("GET", "/sandbox/files/download/80001.err").body == "")
    }
  }

  @Test(arguments: [
    "/sandbox/files/upload/..", "/sandbox/files/upload/%2e%2e%2fx", "/sandbox/files/other/x", "/sandbox/files/upload/",
  ])
  func keepsFilesInTheirFolders(path: String) throws {
    try withServer { _, client throws in
      #expect(try client.request("PUT", path, body: "x").status == 404)
    }
  }
}
