import BatchFoundation
import BatchSandbox
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite struct ServerTests {
  @Test func refusesTheEleventhRequestAtOnce() throws {
    let options = EngageSandboxOptions.fixture { $0.server.faults.latencyMilliseconds = 300 }
    try withSandbox(options) { server, client, token throws in
      let body = "<Envelope><Body>\(select([("customer_id", "c-1")]))</Body></Envelope>"
      let others = try (0..<10).map { _ in try RawClient(port: server.port) }
      for other in others { try other.sendRequest("POST", "/XMLAPI", token: token, type: "text/xml", body: body) }
      while server.totals.maxInFlight < 10 { usleep(1000) }
      #expect(
        try client.xml(select([("customer_id", "c-1")]), token: token)
          == fault(50, "<![CDATA[The max number of concurrent authenticated requests has been reached]]>", "SP.API"))
      #expect(
        try client.request("POST", "/rest/events/submission", token: token, body: submission([event("a")])).status
          == 503)
      for other in others { #expect(try other.readAnswer().body.contains("<errorid>128</errorid>")) }
      #expect(server.totals.maxInFlight == 11)
      #expect(server.totals.violations == ["over-the-gate": 2])
      #expect(server.totals.eventsApplied == 0)
    }
  }

  @Test func addsLatencyWithoutHoldingOthersUp() throws {
    try withSandbox(.fixture { $0.server.faults.latencyMilliseconds = 300 }) { server, _, token throws in
      let clock = ContinuousClock()
      let elapsed = try clock.measure {
        let clients = try (0..<8).map { _ in try RawClient(port: server.port) }
        for client in clients {
          try client.sendRequest("POST", "/rest/events/submission", token: token, body: submission([event("a")]))
        }
        for client in clients { #expect(try client.readAnswer().status == 201) }
      }
      #expect(elapsed >= .milliseconds(300))
      // One after the other they would take 2,400.
      #expect(elapsed < .milliseconds(2000))
      #expect(server.totals.busyNanoseconds >= 8 * 300_000_000)
    }
  }

  @Test func givesTheSameBytesForTheSameSeedAndRequests() throws {
    let transcripts = try [UInt64(1), 1, 2].map { seed in
      let options = EngageSandboxOptions.fixture {
        $0.server.seed = seed
        $0.switches.spelling = .random
      }
      return try withSandbox(options) { server, client, token in
        let answers = try (0..<20).map { try client.xml(add([("customer_id", "c-\($0)")]), token: token) }
        return [token] + answers + [try client.xml(select([("customer_id", "c-1")]), token: token)]
      }
    }
    #expect(transcripts[0] == transcripts[1])
    #expect(transcripts[0] != transcripts[2])
  }

  @Test func keepsItsStateInAFileOfItsOwner() throws {
    var template = Array("/tmp/engage-sandbox-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    let path = folder + "/state.json"
    defer {
      unlink(path)
      rmdir(folder)
    }
    let options = EngageSandboxOptions.fixture { $0.server.stateFile = path }
    let token = try withSandbox(options) { _, client, token in
      _ = try client.xml(add([("customer_id", "caf\u{E9}")]), token: token)
      let row = ["Audit Record Id", "Old Recipient Id", "New Recipient Id"].map { "<COLUMN name=\"\($0)\">1</COLUMN>" }
        .joined()
      _ = try client.xml(
        "<InsertUpdateRelationalTable><TABLE_ID>50002</TABLE_ID><ROWS><ROW>\(row)<COLUMN name=\"Create Date\">01/31/2026</COLUMN>"
          + "</ROW></ROWS></InsertUpdateRelationalTable>", token: token)
      return token
    }
    var information = stat()
    #expect(stat(path, &information) == 0)
    #expect(information.st_mode & 0o777 == 0o600)
    try withServer(options) { server, client throws in
      #expect(server.recipients(of: "50001").map(\.values) == [["customer_id": "caf\u{E9}"]])
      #expect(server.rows(of: "50002").count == 1)
      #expect(
        try client.xml(select([("customer_id", "caf\u{E9}")]), token: token).contains("<RecipientId>900000000101<"))
      #expect(try client.xml(add([("customer_id", "d")]), token: token).contains("<RecipientId>900000000102<"))
    }
    let file = try #require(fopen(path, "w"))
    fputs("{}", file)
    fclose(file)
    #expect(throws: CommandError.invalidState(path)) { try SandboxServer.start(options) }
  }

  @Test func aStateThatIsNoFileIsRefusedAndStays() throws {
    let folder = try TemporaryFolder()
    mkfifo(folder.path + "/pipe", 0o600)
    symlink("pipe", folder.path + "/link")
    symlink("/dev/full", folder.path + "/device")
    for (name, kind) in [("pipe", FileStatus.Kind.pipe), ("link", .pipe), ("device", .device), ("", .folder)] {
      let path = "\(folder.path)/\(name)"
      let message = "\(path): error: this is \(kind.rawValue), not a sandbox state file; name another file"
      #expect(throws: CommandError(.cannotWrite, message)) {
        try SandboxServer.start(.fixture { $0.server.stateFile = path })
      }
    }
    // One that comes while the server runs is not replaced either.
    let path = folder.path + "/state"
    #expect(throws: CommandError.cannot("write the file", path, SystemError(EEXIST))) {
      _ = try withSandbox(.fixture { $0.server.stateFile = path }) { _, client, token in
        mkfifo(path, 0o600)
        _ = try client.xml(add([("customer_id", "c-1")]), token: token)
      }
    }
    #expect(try FileStatus.at(path)?.kind == .pipe)
    #expect(try FileStatus.at(folder.path + "/pipe")?.kind == .pipe)
    #expect(try folder.names() == ["device", "link", "pipe", "state"])
  }

  /// Numbers of which the next one overflows ended the sandbox with a trap.
  @Test func extremeNumbersOfItsStateAreRefused() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/state.json"
    let options = EngageSandboxOptions.fixture { $0.server.stateFile = path }
    func use(_ server: SandboxServer, _ client: RawClient) throws {
      let token = try client.accessToken()
      for body in [
        "<Login><USERNAME>u</USERNAME><PASSWORD>p</PASSWORD></Login>", add([("customer_id", "c-1")]),
        "<ExportList><LIST_ID>50001</LIST_ID><EXPORT_TYPE>ALL</EXPORT_TYPE><EXPORT_FORMAT>CSV</EXPORT_FORMAT></ExportList>",
        "<CreateContactList><DATABASE_ID>50001</DATABASE_ID><CONTACT_LIST_NAME>L</CONTACT_LIST_NAME><VISIBILITY>1</VISIBILITY>"
          + "</CreateContactList>",
        select([("customer_id", "c-1")]), "<GetJobStatus><JOB_ID>80001</JOB_ID></GetJobStatus>",
        "<GetListMetaData><LIST_ID>50001</LIST_ID></GetListMetaData>",
      ] { _ = try client.xml(body, token: token) }
      _ = try client.request("POST", "/rest/events/submission", token: token, body: submission([event("a")]))
      _ = try client.request("GET", "/sandbox/state")
    }
    try withServer(options) { server, client throws in try use(server, client) }
    let saved = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    // Those of lists are compared with others, and nothing else.
    let numbers = saved.matches(of: /([:\[,])([0-9]+)(?=[,}\]])/).map { match in
      (isCounted: match.output.1 == ":", range: match.output.2.startIndex..<match.output.2.endIndex)
    }
    #expect(numbers.count > 40)
    for number in numbers {
      for value in ["9223372036854775807", "-9223372036854775808", "-1", "4611686018427387905", "1e400", "1.5"] {
        var changed = saved
        changed.replaceSubrange(number.range, with: value)
        try Data(changed.utf8).write(to: URL(filePath: path))
        do {
          try withServer(options) { server, client throws in try use(server, client) }
          #expect(!number.isCounted, "\(value) for \(saved[..<number.range.lowerBound].suffix(30))")
        } catch let error as CommandError {
          #expect(error == .invalidState(path))
        }
      }
    }
  }

  @Test func makesWhatIsMissingForADemonstration() throws {
    var options = EngageSandboxOptions()
    options.organization.createsWhatIsMissing = true
    try withSandbox(options) { server, client, token throws in
      #expect(try client.xml(select([("customer_id", "c-1")]), token: token).contains("<errorid>108</errorid>"))
      #expect(try client.xml(add([("customer_id", "c-1")]), token: token).contains("TRUE"))
      #expect(try client.xml(select([("other", "c-1")]), token: token).contains("<errorid>128</errorid>"))
      #expect(server.recipients(of: "50001").map(\.values) == [["customer_id": "c-1"]])
    }
  }

  @Test func startsWithSeededRecipients() throws {
    let seed = """
      {"lists": [{"id": "50001", "columns": ["customer_id", {"name": "Merged Date", "type": 17}]}],
       "tables": [{"id": "50002", "columns": [{"name": "k", "required": true}], "keyColumns": ["k"]}],
       "recipients": [{"values": {"customer_id": "c-1"}}, {"id": 900000000500, "values": {"customer_id": "c-2"}}]}
      """
    var options = EngageSandboxOptions()
    options.organization = try OrganizationSeed(json: Array(seed.utf8), of: "seed")
    try withSandbox(options) { server, client, token throws in
      #expect(server.recipients(of: "50001").map(\.id) == [900_000_000_101, 900_000_000_500])
      #expect(try client.xml(add([("customer_id", "c-3")]), token: token).contains("<RecipientId>900000000501<"))
    }
  }

  @Test func readsAFaultFileWithSwitchesAndOrganization() throws {
    let text = """
      {"seed": 3, "rules": [{"action": "close"}],
       "switches": {"expiredToken": "empty", "clientId": "a", "secret": "b", "refreshToken": "c", "concurrencyLimit": 4,
                    "strictEvents": true, "badEvents": {"attribute": "x", "value": "y", "answer": "list"}},
       "organization": {"lists": [{"id": "7", "columns": ["c"], "keyColumns": ["c"]}], "recipients": [{"values": {"c": "1"}}]}}
      """
    var options = EngageSandboxOptions()
    try options.read(faultFile: Array(text.utf8))
    var switches = SandboxSwitches()
    switches.expiredToken = .empty
    switches.credentials = SandboxCredentials(clientID: "a", secret: "b", refreshToken: "c")
    switches.concurrencyLimit = 4
    switches.strictEvents = true
    switches.badEvents = BadEvents(attribute: "x", value: "y", answer: .list)
    #expect(options.switches == switches)
    #expect(options.server.seed == 3)
    #expect(options.server.faults.rules == [FaultRule(action: .close)])
    #expect(options.organization.lists.map(\.keyColumns) == [["c"]])
    #expect(options.organization.recipients.map(\.values) == [["c": "1"]])
    let refused = "{\"switches\":{\"strictEvent\":true},\n\"organization\":{\"lists\":[{}]}}"
    let error = #expect(throws: FileError.self) { try options.read(faultFile: Array(refused.utf8)) }
    #expect(
      error?.faults.map(\.description) == [
        "f:1: error: unknown key 'switches.strictEvent'; did you mean 'switches.strictEvents'?",
        "f:2: error: 'organization.lists[0]' has no 'id'",
      ])
  }

  @Test func readsTheExampleOfTheDocumentation() throws {
    let example = try Checkout.text("docs/sandbox.md").split(separator: "```json\n")[1].split(separator: "\n```")[0]
    var options = EngageSandboxOptions()
    try options.read(faultFile: Array(example.utf8))
    #expect(options.server.faults.rules.count == 3)
    #expect(options.organization.recipients.map(\.id) == [900_000_000_202])
  }

  @Test func namesTheFileThatIsWrong() throws {
    var template = Array("/tmp/engage-sandbox-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    let path = folder + "/faults.json"
    defer {
      unlink(path)
      rmdir(folder)
    }
    #expect {
      try EngageSandboxOptions.read(path)
    } throws: { error in
      "\(error)" == "\(path): error: cannot open the file: No such file or directory"
    }
    let file = try #require(fopen(path, "w"))
    fputs("{\"rules\": [{\"action\": 1}]}", file)
    fclose(file)
    #expect {
      try EngageSandboxOptions.read(path)
    } throws: { error in
      "\(error)" == "\(path):1: error: 'rules[0].action' is an integer, but must be a string"
    }
  }

  @Test func embedsWhatAJobNames() throws {
    let seed = "{\"recipients\": [{\"id\": 900000000202, \"values\": {\"customer_id\": \"c-1\"}}]}"
    var options = EngageSandboxOptions.embedded(
      list: "50001", columns: [OrganizationSeed.Column("Mobile User Id")], auditTable: "50002",
      auditColumns: [OrganizationSeed.Column("Audit Record Id"), OrganizationSeed.Column("Create Date", .timestamp)])
    options.organization.merge(try OrganizationSeed(json: Array(seed.utf8), of: "seed"))
    try withSandbox(options) { server, client, token throws in
      #expect(try client.xml(select([("customer_id", "c-1")]), token: token).contains("<RecipientId>900000000202<"))
      _ = try client.xml(
        "<InsertUpdateRelationalTable><TABLE_ID>50002</TABLE_ID><ROWS><ROW><COLUMN name=\"Audit Record Id\">k</COLUMN>"
          + "</ROW></ROWS></InsertUpdateRelationalTable>", token: token)
      #expect(server.rows(of: "50002") == [["Audit Record Id": "k"]])
    }
  }

  @Test func showsItsStateAndLedgerAsJSON() throws {
    try withSandbox { _, client, token throws in
      _ = try client.xml(add([("customer_id", "c-1")]), token: token)
      let ledger = try client.request("GET", "/sandbox/ledger?since=1").body
      #expect(ledger.hasPrefix("[{\"answered\":true,\"applied\":true,\"bodyBytes\":"))
      #expect(ledger.contains("\"operations\":[\"AddRecipient\"],\"path\":\"/XMLAPI\",\"sequence\":2,\"status\":200}"))
      let state = try client.request("GET", "/sandbox/state").body
      #expect(
        state.contains(
          "\"recipients\":[{\"id\":\"900000000101\",\"optedOut\":false,\"values\":{\"customer_id\":\"c-1\"}}]"))
      #expect(try client.request("POST", "/sandbox/clock?advance=3600").body == "{\"clock\":\"2026-01-31T11:00:00Z\"}")
      #expect(try client.request("POST", "/sandbox/expire-tokens").status == 204)
      #expect(try client.request("GET", "/rest/events/errors", token: token).status == 401)
    }
  }

  @Test func forgetsOldRequestsButNotTheirSums() throws {
    try withSandbox(.fixture { $0.server.ledgerLimit = 4 }) { server, client, token throws in
      for _ in 0..<10 { _ = try client.request("GET", "/rest/events/errors", token: token) }
      #expect(server.ledger.map(\.sequence) == [9, 10, 11])
      #expect(server.ledger.allSatisfy { $0.answered && $0.nthOnConnection == $0.sequence })
      #expect(server.totals.requests == 11)
    }
  }

  @Test func noticesASecretInAnAddress() throws {
    try withServer { server, client throws in
      _ = try client.request("POST", "/oauth/token?client_secret=x")
      #expect(server.totals.violations == ["secret-in-url": 1])
    }
  }

  @Test func answersTheDateOfItsClock() throws {
    try withServer { server, client throws in
      #expect(try client.token().headers["date"] == "Sat, 31 Jan 2026 10:00:00 GMT")
      server.advanceClock(by: Milliseconds(86_400_000))
      #expect(try client.token().headers["date"] == "Sun, 01 Feb 2026 10:00:00 GMT")
    }
  }

  @Test func asksForABodyThatWaitsToBeAsked() throws {
    try withSandbox { _, client, token throws in
      let body = submission([event("a")])
      try client.send(
        Array(
          "POST /rest/events/submission HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\nExpect: 100-continue\r\n"
            .utf8)
          + Array("Content-Length: \(body.utf8.count)\r\n\r\n".utf8))
      #expect(try client.readAnswer().status == 100)
      try client.send(Array(body.utf8))
      #expect(try client.readAnswer().status == 201)
    }
  }

  /// A page of another site, and a name that somebody bent to the loopback, ask without success.
  @Test(
    arguments: [
      ("localhost", nil, 200), ("LOCALHOST:80", nil, 200), ("[::1]:8080", nil, 200),
      ("127.0.0.1", "http://localhost:3000", 200),
      ("evil.example", nil, 421), ("localhost.evil.example", nil, 421), ("127.0.0.1.evil.example:80", nil, 421),
      ("localhost", "https://evil.example", 421), ("localhost", "null", 421),
    ] as [(String, String?, Int)])
  func onlyItsOwnNamesAreAnswered(host: String, origin: String?, status: Int) throws {
    try withServer { server, _ in
      let client = try RawClient(port: server.port)
      let origin = origin.map { "Origin: \($0)\r\n" } ?? ""
      try client.send(Array("GET /sandbox/ledger HTTP/1.1\r\nHost: \(host)\r\n\(origin)\r\n".utf8))
      #expect(try client.readAnswer().status == status)
    }
  }
}
