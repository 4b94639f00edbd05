import BatchFoundation
import BatchSandbox
import FoundationEssentials
import LoopbackServer
import Testing

/// `verify`: whether everything of a store arrived at its service.
@Suite("Verification") struct VerifyTests {
  func verify(
    _ workspace: Workspace, _ arguments: String..., environment: [String: String] = [:]
  ) throws -> (code: Int32, answer: JSONNode) {
    let finished = try workspace.run(["verify"] + arguments + ["--format", "json"], environment: environment)
    #expect(finished.messages.isEmpty, "\(finished.messages)")
    return (finished.code, try JSONNode.parse(Array(finished.output.utf8)))
  }

  func counts(_ answer: JSONNode, _ subject: String) -> [String: Int64] {
    var counts: [String: Int64] = [:]
    for member in answer["counts"]?[subject]?.members ?? [] where member.value.integer != 0 {
      counts[member.key] = member.value.integer
    }
    return counts
  }

  func details(_ answer: JSONNode) -> [String] {
    (answer["findings"]?.array ?? []).compactMap { $0["detail"]?.string }
  }

  func repairs(_ answer: JSONNode) -> [String] {
    (answer["findings"]?.array ?? []).compactMap { $0["repair"]?.string }
  }

  @Test("0: events that were taken and not refused, recipients and merges that the service has")
  func whole() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    let (code, answer) = try verify(workspace, "jobs/nightly.json", environment: service.environment)
    #expect(code == 0)
    #expect(counts(answer, "events") == ["taken": 37])
    #expect(counts(answer, "recipients") == ["confirmed": 5])
    #expect(counts(answer, "merges") == ["confirmed": 2])
    #expect(answer["findings"]?.array?.isEmpty == true)
  }

  /// A user id alone is written to nobody, so the recipient keeps the id that it was made with; in one run that is the later one.
  @Test("0: a recipient that was made with an automatic id, before a later night named the user")
  func userAfterTheSetUp() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "job", "inputs": {"events": ["in/*.ndjson"]}, "window": {"from": "yesterday", "to": "today"}, "#
        + #""store": "var/job.sqlite", "identity": true, "settings": {"Recipient": {"enableAutoAnonymousTracking": true}}}"#
    )
    func night(_ day: Int, _ record: String) throws {
      try workspace.write(
        "in/\(day).ndjson", #"{"deviceId":"d","timestamp":"2026-01-\#(day)T10:00:00Z",\#(record)}"# + "\n")
      let run = try workspace.run("run", "job.json", "--sandbox", "--as-of", "2026-01-\(day + 1)T02:00:00Z")
      #expect(run.code == 0, "\(run.messages)")
    }
    try night(10, #""type":"namedEvent","name":"a""#)
    for user in ["ada", "grace"] {
      try night(user == "ada" ? 11 : 12, #""type":"setMobileUserId","mobileUserId":"\#(user)""#)
      try night(user == "ada" ? 13 : 14, #""type":"namedEvent","name":"a""#)
      let (code, answer) = try verify(workspace, "job.json", "--sandbox")
      #expect(code == 0, "\(details(answer))")
      // Another user is another person, with a recipient of their own (reference decisions 58).
      #expect(counts(answer, "recipients") == ["confirmed": user == "ada" ? 1 : 2])
    }
  }

  @Test("65: an event that was refused after it was taken, before any run has noted it")
  func refusedLater() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.switches.badEvents = BadEvents(attribute: "Event Name", value: "CART ADD", answer: .list)
    options.server.faults.rules = [
      FaultRule(endpoint: .eventErrors, occurrence: .nth([1]), action: .status(503, headers: [:], body: ""))
    ]
    let service = try Service(options)
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    for _ in 0..<2 {
      // Nothing is noted, so a second look finds the same.
      let (code, answer) = try verify(workspace, "jobs/nightly.json", environment: service.environment)
      #expect(code == 65)
      let refused = try #require(counts(answer, "events")["different"])
      #expect(refused > 0)
      #expect(counts(answer, "events") == ["taken": 37 - refused, "different": refused])
      #expect(details(answer).allSatisfy { $0.hasPrefix("accepted by the service, then rejected: ") })
    }
    #expect(try workspace.run("post", "jobs/nightly.json", environment: service.environment).code == 0)
    let (code, answer) = try verify(workspace, "jobs/nightly.json", environment: service.environment)
    #expect(code == 65)
    #expect(counts(answer, "events")["different"] == nil)
    #expect(details(answer)[0].contains("rejected by the service, or failed repeatedly (FAILED_POST"))
  }

  @Test("65: a recipient that is gone is named with the command after which the next run makes another")
  func lostRecipients() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    try workspace.remove("var/nightly.sandbox.json")
    let (code, answer) = try verify(workspace, "jobs/nightly.json", "--sandbox")
    #expect(code == 65)
    #expect(counts(answer, "recipients") == ["confirmed": 1, "missing": 3, "different": 1])
    #expect(counts(answer, "merges") == ["missing": 2])
    let missing = (answer["findings"]?.array ?? []).filter {
      $0["subject"]?.string == "recipients" && $0["verdict"]?.string == "missing"
    }
    for finding in missing {
      let command = try #require(finding["repair"]?.string?.components(separatedBy: "; ").first)
      #expect(command.contains("--store \(workspace.path)/var/nightly.sandbox.sqlite"))
      let renewed = try workspace.shell(command)
      #expect(renewed.output == "1 device gets another recipient in the next run\n", "\(renewed.messages)")
      #expect(try workspace.shell(command).code == 64)
    }
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    #expect(counts(try verify(workspace, "jobs/nightly.json", "--sandbox").answer, "recipients")["missing"] == nil)
  }

  @Test(
    "Many recipients are read from one export, and found as if each was looked up; without an export each is",
    arguments: [true, false])
  func export(isThere: Bool) throws {
    let workspace = try Workspace()
    let operations = Guarded<[String]>([])
    var options = EngageSandboxOptions()
    options.filesFolder = "\(workspace.path)/transfer"
    (options.switches.jobWaitSeconds, options.switches.jobRunSeconds) = (0, 0)
    options.server.hook = { request, point in
      guard point == .body, let operation = request.operations.first else { return nil }
      operations.withLock { $0.append(operation) }
      return operation == "ExportList" && !isThere ? .status(500, headers: [:], body: "") : nil
    }
    let service = try Service(options)
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    func look(_ more: String...) throws -> (code: Int32, answer: JSONNode, operations: [String]) {
      operations.withLock { $0 = [] }
      let finished = try workspace.run(
        ["verify", "jobs/nightly.json", "--format", "json", "--set", "Networking.retryDelay=0s"] + more,
        environment: service.environment)
      #expect(finished.messages.isEmpty, "\(finished.messages)")
      return (finished.code, try JSONNode.parse(Array(finished.output.utf8)), operations.withLock { $0 })
    }
    // Somebody takes a user away from a recipient meanwhile.
    let changed = try #require(
      service.server.recipients(of: "100001").first { recipient in
        recipient.values.contains { $0.key.string == "Mobile User Id" && !$0.value.string.isEmpty }
      })
    let update = [
      "xmlapi", "UpdateRecipient", "--param", "LIST_ID=100001", "--param", "RECIPIENT_ID=\(changed.id)", "--column",
      "Mobile User Id=somebody else",
    ]
    #expect(try workspace.run(update, environment: service.environment).code == 0)
    let select = "SelectRecipientData"
    let alone = try look()
    #expect(alone.code == 65 && counts(alone.answer, "recipients")["different"] == 1)
    #expect(alone.operations.contains(select) && !alone.operations.contains("ExportList"))
    let bulk = try look(
      "--set", "Recipient.bulkThreshold=1", "--set", "Recipient.transferFolder=\(workspace.path)/transfer")
    #expect(bulk.code == 65 && bulk.answer["findings"]?.text() == alone.answer["findings"]?.text())
    #expect(bulk.operations.contains("ExportList"))
    // Of those in an export one alone is looked up, which the export gives another user: it may cut the value (reference decisions 61).
    let (looked, all) = (bulk.operations.count { $0 == select }, alone.operations.count { $0 == select })
    #expect(looked == (isThere ? 1 : all))
  }

  @Test("65: what was not sent, with its reason and what ends it")
  func unsent() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    let text = try workspace.run("verify", "jobs/nightly.json", environment: service.environment)
    #expect(text.code == 65)
    #expect(
      text.lines.contains(
        "missing: 32 events: queued: not sent yet, or every attempt failed (NOT_POSTED, --no-upload, --max-quarantine, Networking)"
      ),
      "\(text.output)")
    #expect(text.lines.contains("  repair: the next run, or 'post'"))
  }

  @Test("69 and 77: a service that is not there, or that refuses the credentials")
  func unavailable() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .token, action: .status(401, headers: [:], body: #"{"error":"invalid_grant"}"#))
    ]
    let refusing = try Service(options)
    let rebound = try workspace.run(
      "store", "rebind", "--store", "var/nightly.sqlite", "--job", "jobs/nightly.json",
      environment: refusing.environment)
    #expect(rebound.code == 0, "\(rebound.messages)")
    let refused = try workspace.run("verify", "jobs/nightly.json", environment: refusing.environment)
    #expect(refused.code == 77, "\(refused.messages)")
    try refusing.server.stop()
    let gone = try workspace.run("verify", "jobs/nightly.json", environment: refusing.environment)
    #expect(gone.code == 69)
    #expect(gone.messages.contains("error: the service could not be queried: "), "\(gone.messages)")
    #expect(try workspace.run("verify", "jobs/none.json").code == 78)
  }

  // MARK: - Games

  @Test(
    "A sandbox knows every event of a game by its eventUUID; one that began anew knows none, and what was quarantined is missing until somebody settles it"
  )
  func game() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/game.json", "--sandbox").code == 0)
    let (code, answer) = try verify(workspace, "jobs/game.json", "--sandbox")
    #expect(code == 65)
    #expect(counts(answer, "events") == ["confirmed": 23, "missing": 1])
    #expect(details(answer) == ["1 event: quarantined by the checks, not sent (schema-invalid)"])
    let store = ["--store", "var/game.sandbox.sqlite"]
    let settled = try workspace.run(["quarantine", "resolve", "--reason", "schema-invalid"] + store)
    #expect(settled.code == 0, "\(settled.messages)")
    let whole = try verify(workspace, "jobs/game.json", "--sandbox")
    #expect(whole.code == 0 && counts(whole.answer, "events") == ["confirmed": 23])
    try workspace.remove("var/game.sandbox.json")
    let lost = try verify(workspace, "jobs/game.json", "--sandbox", "--limit", "2")
    #expect(lost.code == 65)
    #expect(counts(lost.answer, "events") == ["missing": 23])
    #expect(details(lost.answer) == ["the sandbox does not have this event", "the sandbox does not have this event"])
  }

  @Test("Collect itself tells nothing of events that it took: they are taken, and no more is claimed")
  func collect() throws {
    let workspace = try Workspace([])
    let server = try CollectServer()
    try workspace.write("in.ndjson", #"{"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"launch"}"# + "\n")
    try workspace.write(
      "job.json",
      """
      {"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "store": "g.sqlite",
       "asOf": "2026-01-16T00:00:00Z", "settings": {"DeltaDNA": {"collectURL": "\(server.address)"}}}
      """)
    let key = ["DELTADNA_ENVIRONMENT_KEY": "k"]
    #expect(try workspace.run("run", "job.json", environment: key).code == 0)
    let (code, answer) = try verify(workspace, "job.json", environment: key)
    #expect(code == 0)
    #expect(counts(answer, "events") == ["taken": 3])
    #expect(answer["basis"]?["events"]?.string?.hasPrefix("Collect does not report") == true)
  }

  // MARK: - Outbox

  @Test("Requests that became files are there with their bytes, or named")
  func outbox() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      (0..<5).map {
        #"{"deviceId":"d","timestamp":"2026-01-01T08:0\#($0):00Z","type":"goalCompleted","name":"g","mobileUserId":"u"}"#
      }.joined(separator: "\n"))
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["in.ndjson"]}, "outbox": "out", "asOf": "2026-01-02T00:00:00Z","#
        + #" "settings": {"Upload": {"maxEventsPerRequest": 2}}}"#)
    #expect(try workspace.run("run", "job.json").code == 0)
    let (code, answer) = try verify(workspace, "job.json")
    #expect(code == 0)
    #expect(counts(answer, "requests") == ["confirmed": 4])
    #expect(counts(answer, "events") == ["confirmed": 7])
    let files = try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/out").sorted()
    try workspace.remove("out/\(files[0])")
    try workspace.write("out/\(files[1])", "{}")
    let changed = try verify(workspace, "job.json")
    #expect(changed.code == 65)
    #expect(counts(changed.answer, "requests") == ["confirmed": 2, "missing": 1, "different": 1])
    // Which number it had is gone with the file.
    let gone = String(files[0].drop { $0 != "-" }.dropFirst())
    #expect(Set((changed.answer["findings"]?.array ?? []).compactMap { $0["name"]?.string }) == [gone, files[1]])
  }
}
