import BatchFoundation
import BatchSandbox
import Glibc
import Testing

/// `engage-batch identity`: what an operator sees of merges and does about them.
@Suite("Operators and identities") struct IdentityOperatorTests {
  private static let job = #"""
    {"name": "operator", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
     "store": "store.sqlite",
     "settings": {"General": {"databaseListId": "100001"}, "Upload": {"concurrency": 1}, "Recipient": {"knownToKnown": "hold"},
                  "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"},
                  "Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"}}}
    """#

  /// A merge of an anonymous recipient, and two known customers on one device.
  private static let records = #"""
    {"deviceId":"phone-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","recipientId":"900000000201","mobileUserId":"U-1","ids":{"customer_id":"c-1"}}
    {"deviceId":"phone-2","timestamp":"2026-01-15T08:00:01Z","type":"identify","recipientId":"900000000203","mobileUserId":"U-2","ids":{"customer_id":"c-2"}}

    """#

  /// What all listings have: the names of their cells.
  private static let header = "id\tstate\tscenario\trecipients\tdevice\treason"
  private static let before = [
    "900000000201: Mobile User Id=U-1", "900000000202: EMAIL=ada@example.test customer_id=c-1",
    "900000000203: Mobile User Id=U-2 customer_id=c-other", "900000000204: Mobile User Id=W-2 customer_id=c-2",
  ]
  private static let merged = [
    "900000000201: Merged Date=02/01/2026 00:00:00 Merged Recipient Id=900000000202",
    "900000000202: EMAIL=ada@example.test Mobile User Id=U-1 customer_id=c-1",
  ]

  private let workspace: Workspace
  private let service: Service

  /// - Parameter hook: of the sandbox.
  private init(hook: (@Sendable (SandboxRequest, FaultPoint) -> FaultAction?)?) throws {
    workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.records)
    var options = EngageSandboxOptions()
    options.server.hook = hook
    options.organization.recipients = [
      .init(id: 900_000_000_201, values: ["Mobile User Id": "U-1"]),
      .init(id: 900_000_000_202, values: ["customer_id": "c-1", "EMAIL": "ada@example.test"]),
      .init(id: 900_000_000_203, values: ["customer_id": "c-other", "Mobile User Id": "U-2"]),
      .init(id: 900_000_000_204, values: ["customer_id": "c-2", "Mobile User Id": "W-2"]),
    ]
    service = try Service(options)
  }

  init() throws { try self.init(hook: nil) }

  /// Runs a command about the store, and with a configuration and credentials if it needs the service.
  private func identity(_ words: String...) throws -> Finished {
    let command = ["identity"] + words + ["--store", "store.sqlite"]
    if ["list", "show", "abandon"].contains(words[0]) { return try workspace.run(command) }
    return try workspace.run(command + ["--job", "job.json"], environment: service.environment)
  }

  private func run() throws -> Finished {
    try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
  }

  private var recipients: [String] {
    service.server.recipients(of: "100001").filter { 900_000_000_201...900_000_000_204 ~= $0.id }.map { recipient in
      "\(recipient.id): "
        + recipient.values.map { "\($0.key.string)=\($0.value.string)" }.sortedByBytes.joined(separator: " ")
    }
  }

  @Test("Listing and showing hides values and devices unless they are asked for")
  func shows() throws {
    let run = try run()
    #expect(
      try Summary(run.output).text("identity")
        == #"{"checks":2,"created":0,"updated":0,"merged":1,"conflicts":1,"auditRows":1,"newOwners":0}"#)
    #expect(run.messages.contains("1 identity plan needs a decision"))
    let list = try identity("list", "--show-personal-data")
    #expect(
      list.lines == [
        Self.header, "1\tdone\tmove-mobile-user-id\t900000000201 -> 900000000202\tphone-1\t",
        "2\theld\tnone\t900000000203 -> 900000000204\tphone-2\t"
          + "(two known customers on one device (Recipient.knownToKnown is 'hold'))",
      ])
    #expect(try identity("list", "--open", "--show-personal-data").lines == [Self.header, list.lines[2]])
    let images = [
      "  searched customer_id: 'c-1'",
      "  MARK_LOSER 900000000201 [done]", "    Merged Recipient Id: '' -> '900000000202'",
      "    Merged Date: '' -> '02/01/2026 00:00:00'", "  MOVE_ID_TO_WINNER 900000000202 [done]",
      "    Mobile User Id: '' -> 'U-1'", "  CLEAR_ID_ON_LOSER 900000000201 [done]", "    Mobile User Id: 'U-1' -> ''",
      "  VERIFY [done]", "  AUDIT 50002 [done]",
      "    Audit Record Id: '' -> '7968e477-778e-577c-919d-271dd65a7f78'",
      "    Old Recipient Id: '' -> '900000000201'", "    New Recipient Id: '' -> '900000000202'",
      "    Create Date: '' -> '02/01/2026 00:00:00'", "  PUBLISH_MAPPING [done]",
      "    Recipient Id: '900000000201' -> '900000000202'", "    Primary User Id: 'U-1' -> 'U-1'",
    ]
    #expect(try identity("show", "1", "--show-personal-data").lines.dropFirst(2).dropLast().map { $0 } == images)
    // What is empty stays so.
    let hidden = images.map {
      $0.replacing(/'[^' ][^']*'/, with: "'<redacted>'").replacing(/[ ]9\d{11} \[/, with: " # [")
    }
    let shown = try identity("show", "1").lines.dropFirst(2).dropLast()
    #expect(shown.map { $0.replacing(/[ ][0-9a-f]{16} \[/, with: " # [") } == hidden)
    #expect(try identity("show", "2", "--show-personal-data").lines[2] == "  searched customer_id: 'c-2'")
    for output in [try identity("list"), try identity("show", "1"), try identity("list", "--format", "json")] {
      #expect(output.code == 0)
      #expect(["phone-1", "phone-2", "U-1", "ada@"].filter { output.output.contains($0) } == [])
    }
    #expect(try identity("show", "9").code == 64)
    // What 'why' says to look at can be run as it is printed.
    let why = try workspace.run("why", "--device", "phone-1", "--store", "store.sqlite").output
    let command = try #require(why.firstRange(of: "details: engage-batch ")).upperBound
    let words = why[command...].prefix { $0 != "\n" }.split(separator: " ").map(String.init)
    #expect(words.prefix(2) == ["identity", "show"] && words.contains("--store"))
    #expect(try workspace.run(words).lines == identity("show", "1").lines)
  }

  /// Found by a check from outside: the first device whose calls kept failing ended the work for all.
  @Test("A device whose calls keep failing waits and is named, and the others go on")
  func waits() throws {
    service.server.setFaults(
      FaultPlan(rules: [
        FaultRule(endpoint: .xmlapi, operation: "UpdateRecipient", point: .body, action: .garbage(status: 502))
      ]))
    let first = try run()
    #expect(first.code == 69, "\(first.messages)")
    #expect(
      first.messages.contains(
        /Identity: device [0-9a-f]{16} \(record at .*\/in\.ndjson:1\) is left for the next run: .*502/),
      "\(first.messages)")
    #expect(!first.messages.contains("phone-1"))
    #expect(try Summary(first.output)["identity.checks"] == 2)
    #expect(try Summary(first.output)["identity.conflicts"] == 1)
    service.server.setFaults(FaultPlan(rules: []))
    let second = try run()
    #expect(second.code == 0, "\(second.messages)")
    #expect(try Summary(second.output)["identity.merged"] == 1)
    #expect(Array(recipients.prefix(2)) == Self.merged)
  }

  @Test("An earlier merge is not taken back before a later one on the same recipient, and the later one is named")
  func undoesInOrder() throws {
    try workspace.write(
      "in.ndjson",
      #"""
      {"deviceId":"phone-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","recipientId":"900000000201","mobileUserId":"U-1","ids":{"customer_id":"c-1"}}
      {"deviceId":"phone-1","timestamp":"2026-01-15T08:00:01Z","type":"identify","ids":{"customer_id":"c-2"}}

      """#)
    let run = try workspace.run(
      "run", "job.json", "--set", "Recipient.knownToKnown=merge", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let undo = try identity("undo", "1")
    #expect(undo.code == 64)
    #expect(undo.messages == "error: plan 2 was carried out after plan 1; undo the later one first\n")
    #expect(try identity("undo", "2").code == 0)
    #expect(try identity("undo", "1").code == 0)
    #expect(recipients == Self.before)
  }

  @Test("The export has every device with its recipient, and the recipients that were merged")
  func exports() throws {
    _ = try run()
    let export = try workspace.run("identity", "export", "--store", "store.sqlite", "--show-personal-data")
    #expect(
      export.output == """
        device\tmobileUserId\trecipient\tmergedInto
        phone-1\tU-1\t900000000201\t900000000202
        phone-1\tU-1\t900000000202\t
        phone-2\tU-2\t900000000203\t

        """)
    // The job names the store that its runs keep.
    #expect(
      try workspace.run("identity", "export", "--job", "job.json", "--show-personal-data").output == export.output)
    #expect(try workspace.run("identity", "export").code == 64)
    let hashed = try workspace.run("identity", "export", "--store", "store.sqlite", "--format", "json")
    #expect(hashed.code == 0 && hashed.output.contains("mergedInto") && !hashed.output.contains("phone-1"))
  }

  @Test("A held check is decided anew, taken back, and not merged again")
  func decides() throws {
    _ = try run()
    #expect(try identity("resume", "2").code == 65)
    let merge = try workspace.run(
      "identity", "resume", "--store", "store.sqlite", "--job", "job.json", "--set", "Recipient.knownToKnown=merge",
      environment: service.environment)
    #expect(merge.output == "checks 1, created 0, updated 0, merged 1, conflicts 0, audit rows 1\n")
    #expect(service.server.rows(of: "50002").count == 2)
    let undo = try identity("undo", "1", "--keep-audit-history")
    #expect(undo.code == 0)
    let undone =
      /1  undone  move-mobile-user-id  [0-9a-f]{16} -> [0-9a-f]{16}  device [0-9a-f]{16}  \(undone by an operator\)\n/
    #expect(undo.output.wholeMatch(of: undone) != nil, "\(undo.output)")
    #expect(Array(recipients[..<2]) == Array(Self.before[..<2]))
    #expect(
      service.server.rows(of: "50002").map { "\($0["Old Recipient Id"] ?? "") \($0["New Recipient Id"] ?? "")" }
        == ["900000000201 900000000202", "900000000203 900000000204", "900000000202 900000000201"])
    for words in ["undo", "abandon", "resume"] {
      let again = try identity(words, "1")
      #expect(again.code == 64)
      #expect(again.messages == "error: plan 1 is already 'undone'\n")
    }
    // It ended with 66, unlike everything else that a store does not have.
    for words in ["show", "undo", "abandon", "resume"] {
      let absent = try identity(words, "99")
      #expect(absent.code == 64)
      #expect(absent.messages == "error: the store has no plan 99; 'identity list' lists the plans\n")
    }
    // The same device meets the same customer again.
    try workspace.write(
      "in.ndjson", Self.records.split(separator: "\n")[0].replacing("T08:00:00Z", with: "T09:00:00Z") + "\n")
    let next = try run()
    #expect(
      try Summary(next.output).text("identity")
        == #"{"checks":1,"created":0,"updated":0,"merged":0,"conflicts":0,"auditRows":0,"newOwners":0}"#)
    #expect(next.messages.contains("1  check without a change, by policy (Recipient.sharedDevice, undone merges)"))
    #expect(!next.messages.contains("identity list --open --store"), "\(next.messages)")
    #expect(Array(recipients[..<2]) == Array(Self.before[..<2]))
    #expect(try identity("list").lines.last?.contains("this merge was undone and is not repeated") == true)
  }

  /// Half of a merge was taken back before the service refused a call that named no list.
  @Test("Without the configuration that names the list nothing is taken back", arguments: ["undo", "resume"])
  func namesNoList(words: String) throws {
    _ = try run()
    let before = (recipients, service.server.rows(of: "50002"))
    let refused = try workspace.run(
      "identity", words, "1", "--store", "store.sqlite", environment: service.environment)
    #expect(refused.code == 78)
    #expect(
      refused.messages
        == "error: General.databaseListId is not set, so the list of recipients is unknown; nothing was changed. "
        + "Name the job of the store (--job), or its configuration (--file)\n")
    #expect(recipients == before.0)
    #expect(service.server.rows(of: "50002") == before.1)
    #expect(try identity("list").output.contains("1\tdone\tmove-mobile-user-id\t"))
  }

  @Test("An abandoned check leaves the service as it is and counts as made")
  func abandons() throws {
    _ = try run()
    let abandon = try identity("abandon", "2")
    #expect(abandon.code == 0)
    let dropped = /2  dropped  none  [0-9a-f]{16} -> [0-9a-f]{16}  device [0-9a-f]{16}  \(abandoned by an operator\)\n/
    #expect(abandon.output.wholeMatch(of: dropped) != nil, "\(abandon.output)")
    #expect(recipients == Self.merged + Self.before[2...])
    #expect(try identity("list", "--open").lines == [Self.header])
    let next = try run()
    #expect(try Summary(next.output)["identity.checks"] == 0)
    #expect(recipients == Self.merged + Self.before[2...])
  }

  @Test("A merge that a kill interrupted is finished, or taken back", arguments: ["resume", "undo"])
  func afterAKill(words: String) throws {
    let process = Guarded(pid_t(0))
    let killed = try IdentityOperatorTests { request, point in
      let process = process.withLock { $0 }
      guard process != 0, point == .applied, request.operations == ["UpdateRecipient"] else { return nil }
      kill(process, SIGKILL)
      return .close
    }
    let running = try killed.workspace.start(["run", "job.json"], environment: killed.service.environment)
    process.withLock { $0 = running.process }
    #expect(running.finish().code == 128 + SIGKILL)
    process.withLock { $0 = 0 }
    let open = try killed.identity("list", "--open", "--show-personal-data")
    #expect(
      open.lines.last?.hasPrefix("1\topen\tmove-mobile-user-id\t900000000201 -> ") == true,
      "\(open.code) \(open.messages)")
    let shown = try killed.identity("show", "1", "--show-personal-data").lines
    #expect(shown.contains("  MARK_LOSER 900000000201 [started]"))
    #expect(shown.contains("  MOVE_ID_TO_WINNER 900000000202 [not started]"))
    let end = try killed.identity(words, "1")
    #expect(end.code == 0, "\(end.messages)")
    #expect(killed.recipients == (words == "resume" ? Self.merged : Array(Self.before[..<2])) + Self.before[2...])
    #expect(killed.service.server.rows(of: "50002").count == (words == "resume" ? 1 : 0))
  }

  @Test("A plan that a sandbox run left is finished in that sandbox, by the command for it")
  func resumesInTheSandbox() throws {
    try workspace.write(
      "recipients.json",
      #"{"recipients": [{"id": 900000000203, "values": {"customer_id": "c-other", "Mobile User Id": "U-2"}}, "#
        + #"{"id": 900000000204, "values": {"customer_id": "c-2", "Mobile User Id": "W-2"}}]}"#)
    try workspace.write("in.ndjson", Self.records.split(separator: "\n")[1] + "\n")
    let seed = ["--set", "Sandbox.recipients=recipients.json"]
    let run = try workspace.run(["run", "job.json", "--sandbox"] + seed)
    #expect(run.code == 0, "\(run.messages)")
    let list = try workspace.run("identity", "list", "--open", "--store", "store.sandbox.sqlite")
    #expect(list.output.contains("held"), "\(list.output) \(list.messages)")
    let resume = try workspace.run(
      [
        "identity", "resume", "--sandbox", "--store", "store.sandbox.sqlite", "--job", "job.json", "--set",
        "Recipient.knownToKnown=merge",
      ] + seed)
    #expect(resume.code == 0, "\(resume.messages)")
    #expect(resume.output == "checks 1, created 0, updated 0, merged 1, conflicts 0, audit rows 1\n")
    #expect(
      try workspace.run("identity", "list", "--open", "--store", "store.sandbox.sqlite").lines == [Self.header])
    let real = try identity("resume")
    #expect(real.code == 66, "\(real.messages)")
    #expect(service.server.totals.requests == 0)
  }

  @Test("The older helper writes the user's id to both recipients, once")
  func links() throws {
    func link(_ anonymous: String, _ primary: String, _ more: String...) throws -> Finished {
      try workspace.run(
        ["identity", "link", "--anonymous", anonymous, "--primary", primary, "--job", "job.json"] + more,
        environment: service.environment)
    }
    let column = ["--merge-column", "Merged Recipient Id"]
    for expected in ["anonymous updated, primary updated\n", "anonymous unchanged, primary unchanged\n"] {
      let link = try link("900000000201", "c-1", "--primary-column", "customer_id", column[0], column[1])
      #expect(link.output == expected, "\(link.messages)")
    }
    let linked = [
      "900000000201: Merged Recipient Id=c-1 Mobile User Id=U-1",
      "900000000202: EMAIL=ada@example.test Merged Recipient Id=c-1 customer_id=c-1",
    ]
    #expect(recipients == linked + Self.before[2...])
    let email = try link("900000000201", "ada@example.test", column[0], "Mobile User Id", "--format", "json")
    #expect(email.output == "{\n  \"changedAnonymous\": true,\n  \"changedPrimary\": true\n}\n")
    for (anonymous, primary, code, words) in [
      ("900000000999", "c-1", Int32(65), "no recipient has the id given with --anonymous; nothing was written"),
      ("900000000201", "c-9", 65, "no recipient has the primary user id; nothing was written"),
      ("900000000202", "c-1", 65, "both ids belong to the same recipient; nothing was written"),
      ("", "c-1", 64, "Ids and column names cannot be empty."),
      ("900000000201", "", 64, "Ids and column names cannot be empty."),
    ] {
      let refused = try link(anonymous, primary, "--primary-column", "customer_id", column[0], column[1])
      #expect(refused.code == code)
      #expect(refused.messages.contains(words), "\(refused.messages)")
    }
    let missing = try link("900000000201", "c-1", column[0], "None")
    #expect(missing.code == 78)
    #expect(missing.messages.contains("list 100001 has no column 'None'"))
  }

  /// SQLite said that a table is missing.
  @Test("A store of a game is named as such", arguments: ["list", "export", "renew 900000000101", "abandon 1"])
  func gamesStore(words: String) throws {
    let workspace = try Workspace()
    #expect(
      try workspace.run("run", "jobs/game.json", "--no-upload", "--set", "DeltaDNA.collectURL=http://127.0.0.1:1").code
        == 0)
    let finished = try workspace.run(
      ["identity"] + words.split(separator: " ").map(String.init) + ["--store", "var/game.sqlite"])
    #expect(finished.code == 78)
    #expect(
      finished.messages
        == "var/game.sqlite: error: the store is for 'deltadna', which has no identities; name a store for 'engage'\n")
  }

  @Test("history has the end of what an operator did, whatever it was")
  func ends() throws {
    #expect(try run().code == 0)
    for (words, code) in [
      (["undo", "1"], 0), (["undo", "1"], 64), (["resume", "2"], 65), (["abandon", "3"], 0), (["resume"], 0),
    ] as [([String], Int32)] {
      let finished = try words.count == 1 ? identity(words[0]) : identity(words[0], words[1])
      #expect(finished.code == code, "\(words): \(finished)")
    }
    let rows =
      try JSONNode.parse(
        Array(workspace.run("history", "--store", "store.sqlite", "--format", "json").output.utf8)
      ).array ?? []
    #expect(rows.map { $0["job"]?.string } == ["operator", "identity", "identity", "identity", "identity", "identity"])
    #expect(rows.map { $0["ending"]?.integer } == [0, 0, 64, 65, 0, 0])
    #expect(rows.allSatisfy { $0["seconds"]?.string == nil })
  }

  @Test("A store that is missing is not made", arguments: ["list", "resume", "undo", "abandon"])
  func missingStore(words: String) throws {
    let refused = words == "list" || words == "resume" ? try identity(words) : try identity(words, "1")
    #expect(refused.code == 66)
    #expect(refused.messages.contains("store.sqlite: error: no such store"), "\(refused.messages)")
    #expect(!workspace.exists("store.sqlite"))
  }
}
