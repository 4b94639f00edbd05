import BatchSandbox
import Glibc
import LoopbackServer
import Testing

/// Exit codes that a service is the reason for (reference command-line 4), and how the next run continues from there.
@Suite("Exit codes of services") struct ServiceExitCodeTests {
  /// Settings with which a run gives up soon.
  static let hasty = ["--set", "Networking.retryDelay=0s", "--set", "Networking.maxRetryDelay=0s"]

  /// A second run, against a service that works, sends what is left, each event once.
  private func continues(_ workspace: Workspace, _ service: Service, posted: Int = 37) throws {
    let moved = try workspace.run(
      "store", "rebind", "--store", "var/nightly.sqlite", "--job", "jobs/nightly.json", environment: service.environment
    )
    #expect(moved.code == 0, "\(moved.messages)")
    let next = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-"] + Self.hasty, environment: service.environment)
    #expect(next.code == 0, "\(next.messages)")
    let summary = try Summary(next.output)
    #expect(summary["records.accepted"] == 0)
    #expect(summary["upload.eventsPosted"] == posted)
    #expect(summary["store.SUCCESSFULLY_POSTED"] == 37)
    #expect(service.server.totals.eventsApplied == posted)
    #expect(service.server.totals.violations == [:])
  }

  @Test("69: nobody answers; everything stays queued")
  func unreachable() throws {
    let workspace = try Workspace()
    var environment = try Service().environment
    environment["ENGAGE_BASE_URL"] = "http://127.0.0.1:1"
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-"] + Self.hasty, environment: environment)
    #expect(finished.code == 69)
    #expect(finished.messages.contains("exit code 69"))
    let told = "Identity: not sent: the token service could not be reached: no connection (libcurl 7); trying again\n"
    #expect(finished.messages.ranges(of: told).count == 1, "\(finished.messages)")
    // Nobody has a recipient yet (reference decisions 62).
    #expect(try Summary(finished.output).text("store") == #"{"HOLD":37}"#)
    try continues(workspace, try Service())
  }

  @Test("69: the service keeps failing")
  func failing() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(endpoint: .events, action: .status(503, headers: [:], body: ""))]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--set", "Networking.maxNumRetries=1000"] + Self.hasty,
      environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    try continues(workspace, try Service())
  }

  @Test("69: an account that has used up its access tokens is told so, with what to ask for")
  func tokenLimit() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .token, action: .status(400, headers: [:], body: #"{"error":"Token Limits Exceeded"}"#))
    ]
    let limited = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--set", "Upload.patienceAtStart=0s"] + Self.hasty, environment: limited.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    #expect(limited.server.totals.requests > 0)
    #expect(
      finished.messages.contains("the account has used up this hour's access tokens"),
      "\(finished.messages)")
    #expect(finished.messages.contains("ask the provider to raise the limit"), "\(finished.messages)")
    try continues(workspace, try Service())
  }

  @Test("76: what is there does not speak TLS")
  func withoutTLS() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      connection.close()
    }
    var environment = try Service().environment
    environment["ENGAGE_BASE_URL"] = "https://127.0.0.1:\(server.port)"
    let finished = try workspace.run(["run", "jobs/nightly.json"] + Self.hasty, environment: environment)
    #expect(finished.code == 76, "\(finished.messages)")
    #expect(finished.messages.contains("exit code 76"))
    try continues(workspace, try Service())
  }

  @Test("76: answers are lost and the events are held; none is sent twice, none is lost")
  func held() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .events, occurrence: .nth([2, 4]), point: .applied, action: .close)
    ]
    let service = try Service(options)
    let hold = ["--set", "Upload.onUnknown=hold", "--set", "Upload.maxEventsPerRequest=5"]
    let first = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-"] + hold + Self.hasty, environment: service.environment)
    #expect(first.code == 76, "\(first.messages)")
    let summary = try Summary(first.output)
    #expect(summary["upload.eventsUnknown"] == 10)
    #expect(summary["store.UNKNOWN"] == 10)
    #expect(summary["store.SUCCESSFULLY_POSTED"] == 27)
    let second = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-"] + hold + Self.hasty, environment: service.environment)
    #expect(second.code == 76)
    #expect(try Summary(second.output)["upload.requests"] == 0)
    #expect(service.server.totals.eventsApplied == 37)
    #expect(Set(service.events).count == 37)
  }

  @Test("0: answers are lost and the events are sent again, as the summary says")
  func resent() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(endpoint: .events, occurrence: .nth([2]), point: .applied, action: .close)]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-", "--set", "Upload.maxEventsPerRequest=5"] + Self.hasty,
      environment: service.environment)
    #expect(finished.code == 0)
    let summary = try Summary(finished.output)
    #expect(summary["upload.eventsPosted"] == 37)
    #expect(summary["upload.retries"] == 1)
    #expect(service.server.totals.eventsApplied == 42)
    #expect(Set(service.events).count == 37)
  }

  @Test("77: the credentials are refused, with one call and without any event")
  func refused() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.switches.credentials = SandboxCredentials(clientID: "other", secret: "other", refreshToken: "other")
    let service = try Service(options)
    let finished = try workspace.run("run", "jobs/nightly.json", environment: service.environment)
    #expect(finished.code == 77, "\(finished.messages)")
    #expect(finished.messages.contains("exit code 77"))
    #expect(service.server.totals.submissions == 0)
    #expect(service.server.totals.tokenCalls == 1)
    try continues(workspace, try Service())
  }

  @Test(
    "130 and 143: a signal ends the run in order; the next one goes on", arguments: [(Int32(2), Int32(130)), (15, 143)])
  func signals(signal: Int32, code: Int32) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.latencyMilliseconds = 60
    let slow = try Service(options)
    let running = try workspace.start(
      ["run", "jobs/nightly.json", "--set", "Upload.maxEventsPerRequest=1", "--set", "Upload.concurrency=1"],
      environment: slow.environment)
    running.waitFor("Delivery: sending")
    running.signal(signal)
    let finished = running.finish()
    #expect(finished.code == code, "\(finished.messages)")
    let sent = slow.server.totals.eventsApplied
    #expect(sent < 37)
    try continues(workspace, try Service(), posted: 37 - sent)
  }

  @Test(
    "143: neither a call for identities that takes long nor a pause that the service asked for delays the end",
    arguments: [
      FaultAction.stall(seconds: nil), .status(503, headers: ["Retry-After": "600"], body: ""),
    ])
  func signalDuringIdentity(action: FaultAction) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(operation: "SelectRecipientData", action: action)]
    let slow = try Service(options)
    let running = try workspace.start(["run", "jobs/nightly.json"], environment: slow.environment)
    running.waitFor("Identity: reconciling")
    for _ in 0..<500 where slow.server.totals.faults == 0 { usleep(10_000) }
    #expect(slow.server.totals.faults > 0)
    let clock = ContinuousClock()
    let start = clock.now
    running.signal(15)
    let finished = running.finish()
    #expect(start.duration(to: clock.now) < .seconds(20))
    #expect(finished.code == 143, "\(finished.messages)")
    #expect(slow.server.totals.submissions == 0)
    try continues(workspace, try Service())
  }

  @Test("75: another run holds the store, and is not disturbed")
  func storeIsHeld() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.latencyMilliseconds = 100
    let slow = try Service(options)
    let first = try workspace.start(["run", "jobs/nightly.json", "--summary", "-"], environment: slow.environment)
    first.waitFor("Identity: reconciling")
    for command in [["run", "jobs/nightly.json", "--no-upload"], ["post", "jobs/nightly.json"]] {
      let second = try workspace.run(
        command + ["--set", #"Report.alarmCommand=["sh", "-c", "cat >> told"]"#], environment: slow.environment)
      #expect(second.code == 75)
      // The other one tells how it ends.
      #expect(!workspace.exists("jobs/told"))
      #expect(second.messages.contains("nightly.sqlite: error: another run holds the store: process "))
      #expect(second.messages.contains(", 'run jobs/nightly.json'; try again later"), "\(second.messages)")
    }
    let finished = first.finish()
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(try Summary(finished.output)["upload.eventsPosted"] == 37)
  }
}
