import BatchFoundation
import BatchSandbox
import Testing

/// Recipients, merges and what is not finished of them.
extension VerifyTests {
  private static let job =
    #"{"name": "j", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z","#
    + #" "store": "j.sqlite", "settings": {"General": {"databaseListId": "100001"}}}"#

  @Test(
    "Audit rows are found in an export of their table: one that is gone or another is named, and the repair repairs it")
  func auditRows() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.filesFolder = "\(workspace.path)/transfer"
    (options.switches.jobWaitSeconds, options.switches.jobRunSeconds) = (0, 0)
    let service = try Service(options)
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    #expect(
      counts(try verify(workspace, "jobs/nightly.json", environment: service.environment).answer, "auditRows")
        == ["taken": 2])
    func exported() throws -> (code: Int32, answer: JSONNode) {
      try verify(
        workspace, "jobs/nightly.json", "--set", "Recipient.transferFolder=\(workspace.path)/transfer",
        environment: service.environment)
    }
    #expect(counts(try exported().answer, "auditRows") == ["confirmed": 2])
    let keys = service.server.rows(of: "50002").compactMap { $0["Audit Record Id"]?.string }
    let table = ["--param", "TABLE_ID=50002"]
    let deleted = try workspace.run(
      ["xmlapi", "DeleteRelationalTableData"] + table + ["--column", "Audit Record Id=\(keys[0])"],
      environment: service.environment)
    #expect(deleted.code == 0, "\(deleted.messages)")
    let changed = try workspace.run(
      ["xmlapi", "InsertUpdateRelationalTable"] + table
        + ["--column", "Audit Record Id=\(keys[1])", "--column", "Old Recipient Id=1"],
      environment: service.environment)
    #expect(changed.code == 0, "\(changed.messages)")
    let (code, answer) = try exported()
    #expect(code == 65)
    #expect(counts(answer, "auditRows") == ["missing": 1, "different": 1])
    for finding in answer["findings"]?.array ?? [] {
      #expect(keys.contains(finding["name"]?.string ?? ""))
      let repaired = try workspace.shell(finding["repair"]?.string ?? "false", environment: service.environment)
      #expect(repaired.code == 0, "\(repaired.messages)")
    }
    let whole = try exported()
    #expect(whole.code == 0)
    #expect(counts(whole.answer, "auditRows") == ["confirmed": 2])
  }

  @Test(
    "Two recipients that are marked as merged into each other, or three in a circle, are named with the command for each of them",
    arguments: [2, 3])
  func mergedIntoEachOther(count: Int) throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      #"{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"identify","mobileUserId":"user-d","ids":{"customer_id":"c-web"}}"#
    )
    try workspace.write("job.json", Self.job)
    let service = try Service()
    func xmlapi(_ words: String...) throws {
      let done = try workspace.run(["xmlapi"] + words, environment: service.environment)
      #expect(done.code == 0, "\(done.messages)")
    }
    try xmlapi(
      "AddRecipient", "--param", "LIST_ID=100001", "--column", "customer_id=c-web", "--column", "Mobile User Id=web")
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
    let all = service.server.recipients(of: "100001")
    let loser = try #require(all.first { $0.values["Mobile User Id"]?.string == "user-d" }).id
    let winner = try #require(all.first { $0.values["customer_id"]?.string == "c-web" }).id
    var next = loser
    if count == 3 {
      try xmlapi(
        "AddRecipient", "--param", "LIST_ID=100001", "--column", "Mobile User Id=third", "--column",
        "Merged Recipient Id=\(loser)")
      next = try #require(
        service.server.recipients(of: "100001").first { $0.values["Mobile User Id"]?.string == "third" }
      ).id
    }
    try xmlapi(
      "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(winner)", "--column",
      "Merged Recipient Id=\(next)")
    let (code, answer) = try verify(workspace, "job.json", environment: service.environment)
    #expect(code == 65)
    let finding = try #require(
      answer["findings"]?.array?.first { $0["detail"]?.string?.contains("merged into each other") == true })
    let commands = (finding["repair"]?.string ?? "").split(separator: ": ", maxSplits: 1).last?.split(
      separator: "  or  ")
    let repair = try #require(commands?.first { $0.contains("RECIPIENT_ID=\(winner)") })
    #expect(commands?.count == count)
    #expect(try workspace.shell(String(repair), environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
  }

  @Test("A value that the service keeps in its own form is the one that a plan wrote, and another one is named")
  func keptInItsOwnForm() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      #"{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"identify","mobileUserId":"user-d","ids":{"points":"0070"}}"#
    )
    try workspace.write("job.json", Self.job)
    var options = EngageSandboxOptions()
    options.organization.lists = [
      OrganizationSeed.Table(
        id: "100001",
        columns: [
          .init("points", .number), .init("Mobile User Id"), .init("Merged Recipient Id"),
          .init("Merged Date", .timestamp),
        ])
    ]
    let service = try Service(options)
    let run = try workspace.run("run", "job.json", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let recipient = try #require(
      service.server.recipients(of: "100001").first { $0.values["points"]?.string == "0070" }
    ).id
    for (kept, code) in [("70.0", 0), ("7", 65)] as [(String, Int32)] {
      let written = try workspace.run(
        "xmlapi", "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(recipient)", "--column",
        "points=\(kept)", environment: service.environment)
      #expect(written.code == 0, "\(written.messages)")
      let (end, answer) = try verify(workspace, "job.json", environment: service.environment)
      #expect(end == code, "\(kept): \(answer)")
      #expect(counts(answer, "recipients") == (code == 0 ? ["confirmed": 1] : ["different": 1]))
    }
  }

  @Test("A recipient is compared with what plans wrote to it, and a device that only moved over says nothing about it")
  func reassignedAndOverwritten() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"user-d"}
      {"deviceId":"d","timestamp":"2026-01-15T08:01:00Z","type":"identify","ids":{"customer_id":"c-new"}}
      {"deviceId":"d","timestamp":"2026-01-15T08:02:00Z","type":"identify","ids":{"customer_id":"c-known"}}

      """)
    try workspace.write("job.json", Self.job)
    let service = try Service()
    func xmlapi(_ words: String...) throws {
      let done = try workspace.run(["xmlapi"] + words, environment: service.environment)
      #expect(done.code == 0, "\(done.messages)")
    }
    try xmlapi("AddRecipient", "--param", "LIST_ID=100001", "--column", "customer_id=c-known")
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
    let known = try #require(
      service.server.recipients(of: "100001").first { $0.values["customer_id"]?.string == "c-known" })
    #expect(known.values["Mobile User Id"]?.string.isEmpty ?? true, "the device moved over without a trace")
    // Another device writes its ids to its own recipient; somebody overwrites them.
    try workspace.write(
      "in.ndjson", #"{"deviceId":"e","timestamp":"2026-01-15T09:00:00Z","type":"identify","ids":{"customer_id":"c-e"}}"#
    )
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let written = try #require(
      service.server.recipients(of: "100001").first { $0.values["customer_id"]?.string == "c-e" })
    try xmlapi(
      "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(written.id)", "--column",
      "customer_id=someone")
    let (code, answer) = try verify(workspace, "job.json", environment: service.environment)
    #expect(code == 65)
    #expect(
      details(answer).count == 1
        && details(answer)[0].hasPrefix("column 'customer_id' does not have the value that plan "))
    // It may be another person's, so that nothing writes over it.
    let unknown =
      "the column has a value that the store does not expect; check in the service whether the recipient belongs to "
      + "another person"
    #expect(repairs(answer) == [unknown])
    try xmlapi(
      "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(known.id)", "--column",
      "customer_id=c-e")
    try xmlapi(
      "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(written.id)", "--column",
      "customer_id=")
    let taken = try verify(workspace, "job.json", environment: service.environment)
    #expect(repairs(taken.answer).contains { $0.hasPrefix("recipient \(known.id) has that value in 'customer_id'") })
    try xmlapi(
      "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(known.id)", "--column",
      "customer_id=c-known")
    let empty = try verify(workspace, "job.json", environment: service.environment)
    // A command with a hash would write the hash.
    #expect(
      repairs(empty.answer) == ["'verify --show-personal-data' shows the command that sets column 'customer_id' again"])
    let shown = try verify(workspace, "job.json", "--show-personal-data", environment: service.environment)
    let repaired = try workspace.shell(try #require(repairs(shown.answer).first), environment: service.environment)
    #expect(repaired.code == 0, "\(repaired.messages)")
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
    // The id by which the other recipient was found is gone.
    try xmlapi(
      "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(known.id)", "--column", "customer_id=")
    let lost = try verify(workspace, "job.json", "--show-personal-data", environment: service.environment)
    #expect(lost.code == 65)
    #expect(
      details(lost.answer).count == 1
        && details(lost.answer)[0].hasPrefix(
          "column 'customer_id' does not have the value by which plan 2 found the recipient (used by 1 device: "),
      "\(details(lost.answer))")
    #expect(
      try workspace.shell(try #require(repairs(lost.answer).first), environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
    // What is renewed waits until the next run.
    #expect(try workspace.run("identity", "renew", "\(written.id)", "--store", "j.sqlite").code == 0)
    let renewed = try verify(workspace, "job.json", environment: service.environment)
    #expect(renewed.code == 65 && details(renewed.answer) == ["1 device has no recipient yet"])
  }

  @Test("A recipient that its finder went up in meanwhile has other ids, and nothing is wrong")
  func foundByAChain() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson", #"{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"customer_id":"old"}}"#
    )
    try workspace.write("job.json", Self.job)
    let service = try Service()
    for columns in [["customer_id=new"], ["customer_id=old"]] {
      let winner = service.server.recipients(of: "100001").first { $0.values["customer_id"]?.string == "new" }
      let mark = winner.map { ["--column", "Merged Recipient Id=\($0.id)"] } ?? []
      let added = try workspace.run(
        ["xmlapi", "AddRecipient", "--param", "LIST_ID=100001"] + columns.flatMap { ["--column", $0] } + mark,
        environment: service.environment)
      #expect(added.code == 0, "\(added.messages)")
    }
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let (code, answer) = try verify(workspace, "job.json", environment: service.environment)
    #expect(code == 0, "\(details(answer))")
  }

  @Test("65: set-ups and checks that the service refuses are counted, with the command that lists them")
  func refused() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"customer_id":"c-d"}}
      {"deviceId":"e","timestamp":"2026-01-15T08:01:00Z","type":"launch","mobileUserId":"user-e"}

      """)
    try workspace.write("job.json", Self.job)
    var options = EngageSandboxOptions()
    let refusal = FaultAction.fault(id: 1007, text: nil, errorClass: "SP.API")
    options.server.faults.rules = [
      FaultRule(endpoint: .xmlapi, operation: "UpdateRecipient", action: refusal),
      FaultRule(endpoint: .xmlapi, operation: "AddRecipient", text: "user-e", action: refusal),
    ]
    let service = try Service(options)
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 76)
    let (code, answer) = try verify(workspace, "job.json", environment: service.environment)
    #expect(code == 65)
    #expect(counts(answer, "recipients") == ["confirmed": 1, "missing": 2])
    #expect(
      details(answer).suffix(2) == [
        "1 device has no recipient, because the service refuses the set-up",
        "id changes that the service refuses: 1",
      ])
    let list = "engage-batch identity list --open --store \(workspace.path)/j.sqlite"
    #expect(repairs(answer).suffix(2) == [list, list])
    service.server.setFaults(FaultPlan())
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
  }

  @Test("Who came in the place of a recipient that is gone has the ids that were written to that one, or is named")
  func renewed() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"user-d"}
      {"deviceId":"d","timestamp":"2026-01-15T08:01:00Z","type":"identify","ids":{"customer_id":"c-new"}}

      """)
    try workspace.write("job.json", Self.job)
    let service = try Service()
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
    let old = try #require(
      service.server.recipients(of: "100001").first { $0.values["customer_id"]?.string == "c-new" })
    // The store alone forgets it: the next run finds it again, and all is well.
    #expect(try workspace.run("identity", "renew", "\(old.id)", "--store", "j.sqlite").code == 0)
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
    let removed = try workspace.run(
      "xmlapi", "RemoveRecipient", "--param", "LIST_ID=100001", "--column", "Mobile User Id=user-d",
      environment: service.environment)
    #expect(removed.code == 0, "\(removed.messages)")
    #expect(try workspace.run("identity", "renew", "\(old.id)", "--store", "j.sqlite").code == 0)
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let (code, answer) = try verify(
      workspace, "job.json", "--show-personal-data", environment: service.environment)
    #expect(code == 65)
    let detail = try #require(details(answer).first)
    #expect(
      details(answer).count == 1
        && detail.hasPrefix(
          "column 'customer_id' does not have the value that plan 1 wrote to recipient \(old.id), which is gone"),
      "\(detail)")
    let repair = try #require(answer["findings"]?.array?.first?["repair"]?.string)
    #expect(try workspace.shell(repair, environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
  }

  /// It ended with 78 at the first such id, and nothing else was looked at.
  @Test("65: a recipient whose id the service cannot have given is named with its repair, and the others are looked up")
  func noID() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      #"""
      {"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"user-d","recipientId":"a\"b"}
      {"deviceId":"e","timestamp":"2026-01-15T08:01:00Z","type":"launch","mobileUserId":"user-e"}

      """#)
    try workspace.write("job.json", Self.job)
    let service = try Service()
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let (code, answer) = try verify(workspace, "job.json", environment: service.environment)
    #expect(code == 65)
    #expect(counts(answer, "recipients") == ["confirmed": 1, "missing": 1])
    let finding = try #require(answer["findings"]?.array?.first)
    #expect(finding["name"]?.string == #"a"b"#)
    #expect(
      finding["detail"]?.string?.hasPrefix("cannot be a recipient id of the service (used by 1 device: ") == true,
      "\(details(answer))")
    let repair = try #require(finding["repair"]?.string?.split(separator: "; then ").first.map(String.init))
    #expect(try workspace.shell(repair, environment: service.environment).code == 0)
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(try verify(workspace, "job.json", environment: service.environment).code == 0)
  }

  @Test("65: a recipient that the service does not answer about keeps no other from being looked up")
  func unanswered() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    service.server.setFaults(
      FaultPlan(rules: [
        FaultRule(
          endpoint: .xmlapi, operation: "SelectRecipientData", occurrence: .nth([1]),
          action: .fault(id: 124, text: "Invalid recipient", errorClass: "SP.Recipient"))
      ]))
    let (code, answer) = try verify(workspace, "jobs/nightly.json", environment: service.environment)
    #expect(code == 65)
    #expect(counts(answer, "recipients") == ["confirmed": 4, "unknown": 1])
    #expect(
      details(answer).count == 1
        && details(answer)[0].hasPrefix("could not be looked up at the service (used by 1 device: "),
      "\(details(answer))")
  }
}
