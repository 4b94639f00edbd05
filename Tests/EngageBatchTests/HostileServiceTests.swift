import BatchSandbox
import EngageSandbox
import LoopbackServer
import Testing

/// Runs against a service that refuses, fails and lies, and what they say about it.
@Suite("Hostile services") struct HostileServiceTests {
  static let chunks = ["--set", "Upload.maxEventsPerRequest=5"]

  @Test("a dozen refusals for now are waited out, and every request is counted")
  func aDozenRefusals() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .events, occurrence: .nth(Set(1...12)), action: .status(503, headers: [:], body: ""))
    ]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-", "--set", "Networking.maxRetryDelay=1 second"] + Self.chunks,
      environment: service.environment)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(
      finished.messages.contains("Delivery: the service failed (status 503); trying again"), "\(finished.messages)")
    let summary = try Summary(finished.output)
    #expect(summary["upload.eventsPosted"] == 37)
    #expect(summary["upload.retries"] == 12)
    #expect(summary["upload.requests"] == service.server.ledger.count { $0.endpoint == .events })
    #expect(service.server.totals.eventsApplied == 37)
  }

  @Test("69: a service that is out for longer than `Upload.patience`; everything stays queued")
  func patience() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(endpoint: .events, action: .status(503, headers: [:], body: ""))]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-", "--set", "Upload.patience=1 second"] + Self.chunks,
      environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    #expect(finished.messages.contains("status 503"))
    let summary = try Summary(finished.output)
    #expect(summary["upload.eventsPending"] == 37)
  }

  @Test("a service that closes idle connections without a word leaves next to nothing unknown", arguments: [0, 1])
  func idleConnections(closedAfter milliseconds: Int64) throws {
    let workspace = try Workspace([])
    var options = EngageSandboxOptions()
    options.server.faults.latencyMilliseconds = 1
    options.server.faults.idleCloseMilliseconds = milliseconds
    let service = try Service(options)
    let lines = (0..<6000).map { number in
      let time = Recording.start + Int64(number) * 1000
      return #"{"deviceId":"D-\#(number % 50)","timestamp":\#(time),"type":"namedEvent","name":"n","mobileUserId":"M"}"#
    }
    try workspace.write("in/events.ndjson", lines.joined(separator: "\n") + "\n")
    try workspace.write(
      "job.json",
      """
      {"name": "idle", "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z", "store": "store.sqlite",
       "settings": {"Upload": {"maxEventsPerRequest": 10, "onUnknown": "hold"}}}
      """)
    let finished = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    let summary = try Summary(finished.output)
    // No more than each of the four requests at once, before the client has learned.
    #expect((summary["upload.eventsUnknown"] ?? .max) <= 40, "\(finished.messages)")
    #expect(summary["upload.retries"] == 0)
    #expect(Set(service.events).count == service.events.count)
    #expect(summary["upload.requests"] == service.server.ledger.count { $0.endpoint == .events })
  }

  @Test("69: a service that refuses every event; everything stays queued", arguments: [400, 413])
  func refusingAll(status: Int) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .events, action: .status(status, headers: [:], body: "no such tenant"))
    ]
    let service = try Service(options)
    let finished = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    #expect(finished.messages.contains("the service refuses every event"), "\(finished.messages)")
    #expect(finished.messages.contains("status \(status): no such tenant"), "\(finished.messages)")
    let summary = try Summary(finished.output)
    #expect(summary["upload.eventsFailed"] == 0)
    #expect(service.server.totals.submissions < 40)
  }
}
