import BatchSandbox
import Testing

/// Which recipient events carry, and which events `--events-out` has (reference decisions 30, reference decisions 32).
@Suite("Identity of events") struct IdentityOfEventsTests {
  /// What the service has after one run that nothing stood in the way of.
  private func undisturbed() throws -> [String] {
    let service = try Service()
    let run = try Workspace().run(["run", "jobs/nightly.json"], environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    return service.events
  }

  @Test(
    "Decision 30: events of runs that could not reach the service go out with the recipients that a first run would have found",
    arguments: ["nobody", "token", "503"])
  func afterFailures(fault: String) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    let failing = FaultAction.status(503, headers: [:], body: "")
    switch fault {
    case "token": options.server.faults.rules = [FaultRule(endpoint: .token, action: failing)]
    case "503":
      options.server.faults.rules = [
        FaultRule(endpoint: .events, action: failing), FaultRule(endpoint: .xmlapi, action: failing),
      ]
    default: break
    }
    let broken = try Service(options)
    var environment = broken.environment
    if fault == "nobody" { environment["ENGAGE_BASE_URL"] = "http://127.0.0.1:1" }
    // A service that is down from the start is waited for half a minute.
    let impatient = ["--set", "Upload.patience=0s", "--set", "Upload.patienceAtStart=0s"]
    for _ in 0..<2 {
      let run = try workspace.run(
        ["run", "jobs/nightly.json"] + ServiceExitCodeTests.hasty + impatient, environment: environment)
      #expect(run.code == 69, "\(run.messages)")
    }
    let service = try Service()
    let moved = try workspace.run(
      "store", "rebind", "--store", "var/nightly.sqlite", "--job", "jobs/nightly.json", environment: service.environment
    )
    #expect(moved.code == 0, "\(moved.messages)")
    let run = try workspace.run(["run", "jobs/nightly.json"], environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(service.events == (try undisturbed()))
  }

  private static let export = """
    {"deviceId":"d-1","timestamp":"2026-01-15T08:00:00Z","type":"launch","device":{"name":"P"}}
    {"deviceId":"d-1","timestamp":"2026-01-15T08:10:00Z","type":"background"}
    {"deviceId":"d-1","timestamp":"2026-01-15T08:20:00Z","type":"identify","ids":{"customer_id":"c-1001"}}
    {"deviceId":"d-1","timestamp":"2026-01-15T09:00:00Z","type":"namedEvent","name":"E"}

    """

  private static let job = #"""
    {"name": "ends", "identity": true, "settings": {"General": {"databaseListId": "100001"}},
     "inputs": {"events": ["in/*.ndjson"]}, "asOf": "2026-01-16T00:00:00Z", "store": "store.sqlite"}
    """#

  private func recipients(_ events: [String]) -> [String: String] {
    var found: [String: String] = [:]
    for event in events {
      let code = event.dropFirst(#"{"eventTypeCode":""#.count).prefix { $0 != "\"" }
      guard let mark = event.firstRange(of: #""Recipient Id","value":""#) else { continue }
      found[String(code)] = String(event[mark.upperBound...].prefix { $0 != "\"" })
    }
    return found
  }

  @Test(
    "Decision 30: the end of a session has the recipient of its pause although a merge was decided before it was emitted"
  )
  func endOfASession() throws {
    let workspace = try Workspace()
    try workspace.write("in/a.ndjson", Self.export)
    try workspace.write("job.json", Self.job)
    let service = try Service()
    let run = try workspace.run(["run", "job.json", "--summary", "-"], environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output)["identity.merged"] == 1)
    let recipients = recipients(service.events)
    #expect(Set(recipients.keys) == ["12", "13", "14", "17"])
    #expect(recipients["14"] == recipients["13"])
    #expect(recipients["17"] != recipients["13"])
  }

  @Test("Decision 32: --events-out of a run that sends a backlog has what it posted too")
  func backlog() throws {
    let workspace = try Workspace()
    try workspace.write("in/a.ndjson", Self.export)
    try workspace.write("job.json", Self.job)
    let service = try Service()
    let stored = try workspace.run(
      "run", "job.json", "--no-upload", "--events-out", "stored.ndjson", environment: service.environment)
    #expect(stored.code == 0, "\(stored.messages)")
    #expect(try workspace.read("stored.ndjson").split(separator: "\n").count == 4)
    try workspace.write(
      "in/b.ndjson", #"{"deviceId":"d-1","timestamp":"2026-01-15T10:00:00Z","type":"namedEvent","name":"F"}"#)
    let dry = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-", environment: service.environment)
    #expect(dry.output.split(separator: "\n").count == 5)
    let run = try workspace.run(
      ["run", "job.json", "--events-out", "sent.ndjson"], environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let sent = try workspace.read("sent.ndjson").split(separator: "\n").map(String.init)
    #expect(sent.count == 5)
    #expect(sent.sortedByBytes == service.events)
    #expect(sent == sent.sorted { Self.time($0) < Self.time($1) })
  }

  private static func time(_ event: String) -> Substring {
    guard let mark = event.firstRange(of: #""eventTimestamp":""#) else { return "" }
    return event[mark.upperBound...].prefix(24)
  }
}
