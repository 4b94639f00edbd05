import BatchFoundation
import BatchSandbox
import Glibc
import Testing

/// Every command of a run's to-do list, run as it is printed, does what the list says.
@Suite("To-do lists") struct ToDoTests {
  private static let job = #"""
    {"name": "to do", "identity": true, "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
     "store": "it's a store.sqlite", "reports": "reports",
     "settings": {"General": {"databaseListId": "100001"}, "Upload": {"concurrency": 1, "maxEventsPerRequest": 1},
                  "Recipient": {"knownToKnown": "hold"}, "Networking": {"retryDelay": "0s", "maxRetryDelay": "0s"}}}
    """#

  /// Two events, a line that is none, a merge, and two known customers on one device.
  private static let records = #"""
    {"deviceId":"phone-1","timestamp":"2026-01-15T07:00:00Z","type":"namedEvent","name":"first","recipientId":"900000000201","mobileUserId":"U-1"}
    {"deviceId":"phone-2","timestamp":"2026-01-15T07:00:01Z","type":"namedEvent","name":"second","recipientId":"900000000203","mobileUserId":"U-2"}
    no record
    {"deviceId":"phone-1","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"customer_id":"c-1"}}
    {"deviceId":"phone-2","timestamp":"2026-01-15T08:00:01Z","type":"identify","ids":{"customer_id":"c-2"}}

    """#

  private let workspace: Workspace
  private let service: Service
  /// Whether the service fails at the second event.
  private let failsAtSecond = Guarded(false)

  init() throws {
    workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("in.ndjson", Self.records)
    var options = EngageSandboxOptions()
    options.server.hook = { [failsAtSecond] request, point in
      let fails = failsAtSecond.withLock { $0 } && String(decoding: request.body, as: UTF8.self).contains("second")
      return fails && request.endpoint == .events && point == .body ? .status(500, headers: [:], body: "") : nil
    }
    options.organization.recipients = [
      .init(id: 900_000_000_201, values: ["Mobile User Id": "U-1"]),
      .init(id: 900_000_000_202, values: ["customer_id": "c-1"]),
      .init(id: 900_000_000_203, values: ["customer_id": "c-other", "Mobile User Id": "U-2"]),
      .init(id: 900_000_000_204, values: ["customer_id": "c-2", "Mobile User Id": "W-2"]),
    ]
    service = try Service(options)
  }

  /// Runs the job while the service does that, and lets it be well again.
  ///
  /// - Returns: the commands of the list by their verbs.
  private func commands(
    after code: Int32, _ rules: [FaultRule], _ settings: String...
  ) throws -> [String: String] {
    service.server.setFaults(FaultPlan(rules: rules))
    let run = try workspace.run(
      ["run", "job.json"] + settings.flatMap { ["--set", $0] }, environment: service.environment)
    #expect(run.code == code, "\(run.messages)")
    service.server.setFaults(FaultPlan(rules: []))
    return try Self.commands(run, workspace.reports(in: "reports").last)
  }

  /// The terminal and the report have the same.
  private static func commands(_ run: Finished, _ report: JSONNode?) throws -> [String: String] {
    let steps = report?["toDo"]?.array?.compactMap(\.string) ?? []
    for step in steps { #expect(run.messages.contains(step), "\(run.messages)") }
    var commands: [String: String] = [:]
    for step in steps {
      for match in step.matches(of: /(?:engage-batch (?:(?:run|post)|[a-z]+ [a-z]+)).*?(?=\. Once |$)/) {
        let words = match.output.split(separator: " ")
        let verb = ["run", "post"].contains(words[1]) ? String(words[1]) : "\(words[1]) \(words[2])"
        commands[verb] = String(match.output)
      }
    }
    return commands
  }

  private func shell(_ command: String?) throws -> Finished {
    try workspace.shell(command ?? "false", environment: service.environment)
  }

  @Test("What was quarantined, what is in doubt and what waits for a decision is listed")
  func lists() throws {
    let commands = try commands(
      after: 76, [FaultRule(endpoint: .events, occurrence: .nth([1]), point: .applied, action: .close)],
      "Upload.onUnknown=hold")
    #expect(Set(commands.keys) == ["quarantine list", "store events", "identity list"])
    let quarantined = try shell(commands["quarantine list"])
    #expect(quarantined.code == 0 && quarantined.output.contains("in.ndjson:3\n"), "\(quarantined)")
    let unknown = try shell(commands["store events"])
    #expect(unknown.code == 0 && unknown.output.contains("UNKNOWN"), "\(unknown)")
    let plans = try shell(commands["identity list"])
    #expect(plans.code == 0 && plans.lines.count == 2 && plans.output.contains("held"), "\(plans)")
  }

  @Test("A merge that was interrupted is finished")
  func resumes() throws {
    let commands = try commands(
      after: 69,
      [FaultRule(endpoint: .xmlapi, operation: "UpdateRecipient", point: .body, action: .garbage(status: 502))],
      "Recipient.knownToKnown=merge")
    #expect(Set(commands.keys) == ["quarantine list", "identity resume"])
    let resumed = try shell(commands["identity resume"])
    #expect(resumed.code == 0, "\(resumed)")
    let winner = service.server.recipients(of: "100001").first { $0.id == 900_000_000_202 }
    #expect(winner?.values.contains { $0.key.string == "Mobile User Id" && $0.value.string == "U-1" } == true)
  }

  @Test("Events that the service failed at are sent again")
  func requeues() throws {
    failsAtSecond.change { $0 = true }
    let commands = try commands(after: 0, [], "Networking.maxNumRetries=1")
    #expect(Set(commands.keys) == ["quarantine list", "store requeue", "identity list"])
    #expect(service.server.totals.eventsApplied == 5)
    failsAtSecond.change { $0 = false }
    let requeued = try shell(commands["store requeue"])
    #expect(requeued.code == 0, "\(requeued)")
    #expect(try workspace.run("post", "job.json", environment: service.environment).code == 0)
    #expect(service.server.totals.eventsApplied == 6)
  }

  @Test("Events that wait are posted")
  func posts() throws {
    let commands = try commands(
      after: 69, [FaultRule(endpoint: .events, action: .status(503, headers: [:], body: ""))],
      "Upload.patience=0 seconds", "Upload.maxEventsPerRequest=6")
    #expect(Set(commands.keys) == ["quarantine list", "identity list", "post"])
    let posted = try shell(commands["post"])
    #expect(posted.code == 0, "\(posted)")
    #expect(service.server.totals.eventsApplied == 6)
    #expect(service.server.totals.submissions == 1)
  }

  @Test("A run that was told to end goes on, and so does a delivery", arguments: ["run", "post"])
  func continues(verb: String) throws {
    if verb == "post" { #expect(try workspace.run("run", "job.json", "--no-upload").code == 0) }
    service.server.setFaults(
      FaultPlan(rules: [FaultRule(endpoint: .events, action: .delay(milliseconds: 1000))]))
    let running = try workspace.start([verb, "job.json"], environment: service.environment)
    for _ in 0..<2000 where !service.server.ledger.contains(where: { $0.endpoint == .events }) { usleep(10_000) }
    running.signal(SIGTERM)
    let ended = running.finish()
    #expect(ended.code == 143, "\(ended)")
    service.server.setFaults(FaultPlan(rules: []))
    let commands = try Self.commands(ended, workspace.reports(in: "reports").last)
    #expect(commands.keys.contains(verb))
    let continued = try shell(commands[verb])
    #expect(continued.code == 0, "\(continued)")
    #expect(service.server.totals.eventsApplied == 6)
  }

  @Test("What a schema did not know is listed, and taken in once it does")
  func replays() throws {
    try workspace.write(
      "in.ndjson",
      """
      {"deviceId":"d","timestamp":"2026-01-15T09:00:00Z","type":"consent","use":true,"export":true}
      {"deviceId":"d","timestamp":"2026-01-15T09:00:01Z","type":"launch","mobileUserId":"p"}
      {"deviceId":"d","timestamp":"2026-01-15T09:00:02Z","type":"gameEvent","name":"levelUp","params":{"level":4}}

      """)
    try workspace.write(
      "game.json",
      """
      {"name": "g", "destination": "deltadna", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z",
       "store": "game.sqlite", "reports": "reports", "settings": {"DeltaDNA": {"eventSchema": "schema.json"}}}
      """)
    let known = #"{"name": "newPlayer"}, {"name": "gameStarted"}, {"name": "clientDevice"}"#
    try workspace.write("schema.json", #"{"events": [\#(known)]}"#)
    let run = try workspace.run("run", "game.json", "--sandbox")
    #expect(run.code == 0, "\(run.messages)")
    let commands = try Self.commands(run, workspace.reports(in: "reports").last)
    #expect(Set(commands.keys) == ["quarantine list", "quarantine replay"])
    let listed = try shell(commands["quarantine list"])
    #expect(listed.code == 0 && listed.output.contains("schema-invalid"), "\(listed)")
    try workspace.write(
      "schema.json",
      #"{"events": [\#(known), {"name": "levelUp", "parameters": [{"name": "level", "type": "INTEGER"}]}]}"#)
    let replayed = try shell(commands["quarantine replay"])
    #expect(replayed.code == 0 && replayed.messages.contains("1 accepted"), "\(replayed)")
  }
}
