import BatchFoundation
import BatchSandbox
import FoundationEssentials
import LoopbackServer
import TestSupport
import Testing

/// Runs against a service that refuses, fails and lies, and what they say about it.
@Suite("Hostile services") struct HostileServiceTests {
  static let chunks = ["--set", "Upload.maxEventsPerRequest=5"]

  private static func typed(_ sentence: String) -> String {
    (0..<60).map { number in
      let name = number == 23 ? sentence : "page \(number)"
      return
        #"{"deviceId":"D-\#(number % 6)","timestamp":\#(Recording.start + Int64(number) * 1000),"type":"custom","eventTypeCode":"17","params":{"Note":"\#(name)"},"mobileUserId":"M-\#(number % 6)"}"#
    }.joined(separator: "\n") + "\n"
  }

  @Test(
    "a sentence of the service that a user typed stops nobody, quoted in a refusal or in a success",
    arguments: ["The access token has expired!", "MAX NUMBER OF CONCURRENT friends"], [400, 201])
  func quotedSentence(sentence: String, status: Int) throws {
    let workspace = try Workspace([])
    try workspace.write("in/events.ndjson", Self.typed(sentence))
    try workspace.write(
      "job.json",
      """
      {"name": "typed", "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z", "store": "store.sqlite",
       "settings": {"Upload": {"maxEventsPerRequest": 4, "onUnknown": "hold"}}}
      """)
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .events, text: sentence, occurrence: .every(1), point: .body, action: .echo(status: status))
    ]
    let service = try Service(options)
    let finished = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(finished.code == 0, "\(finished.messages)")
    let summary = try Summary(finished.output)
    let failed = status == 400 ? 1 : 0
    #expect(summary["upload.eventsFailed"] == failed)
    #expect(summary["upload.eventsPosted"] == summary["events.total"] - failed)
    #expect(summary["upload.retries"] == 0)
    // Beside the chunks, the parts of the one that was refused.
    #expect(summary["upload.requests"] <= summary["events.total"] / 4 + 2 + 6 * failed)
    if status == 400 {
      #expect(finished.messages.contains("1 event could not be posted (1: status 400"), "\(finished.messages)")
    }
  }

  @Test("a web page in place of an answer, and a redirect, are called that, with what to do", arguments: [200, 302])
  func pageInPlaceOfAnAnswer(status: Int) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    let action: FaultAction =
      status == 302
      ? .redirect(status: 302, location: "https://login.example.test/secret?token=abc")
      : .status(200, headers: [:], body: "<!DOCTYPE html><html><body>Please log in</body></html>")
    options.server.faults.rules = [
      FaultRule(endpoint: .xmlapi, action: action), FaultRule(endpoint: .events, action: action),
    ]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json"] + ServiceExitCodeTests.hasty, environment: service.environment)
    #expect(finished.code == (status == 302 ? 76 : 69), "\(finished.messages)")
    #expect(
      finished.messages.contains(
        status == 302
          ? "redirect not followed (status 302): to login.example.test"
          : "the body is a web page, such as a login"),
      "\(finished.messages)")
    #expect(finished.messages.contains("doctor"), "\(finished.messages)")
    #expect(!finished.messages.contains("secret?token"))
  }

  @Test("60: one whose writes are turned away is named and waits; the others' identities and events go on")
  func oneWhoIsTurnedAway() throws {
    let workspace = try Workspace([])
    let lines = (0..<12).flatMap { number in
      let start = Recording.start + Int64(number) * 1000
      return [
        #"{"deviceId":"D-\#(number)","timestamp":\#(start),"type":"namedEvent","name":"n","mobileUserId":"M-\#(number)"}"#,
        #"{"deviceId":"D-\#(number)","timestamp":\#(start + 500),"type":"identify","ids":{"customer_id":"c-\#(number)-x"}}"#,
      ]
    }
    try workspace.write("in/events.ndjson", lines.joined(separator: "\n") + "\n")
    try workspace.write(
      "job.json",
      #"""
      {"name": "one", "identity": true, "inputs": {"events": ["in/*"]}, "asOf": "2026-02-01T00:00:00Z", "store": "store.sqlite",
       "settings": {"General": {"databaseListId": "100001"}, "Upload": {"patience": "20 seconds"}}}
      """#)
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(
        endpoint: .xmlapi, operation: "UpdateRecipient", text: "c-4-x", occurrence: .every(1), point: .body,
        action: .status(503, headers: [:], body: ""))
    ]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "job.json", "--summary", "-", "--set", "Networking.maxRetryDelay=1 second"],
      environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    let summary = try Summary(finished.output)
    #expect(summary["identity.updated"] == 11)
    #expect(summary["upload.eventsPosted"] == summary["events.total"])
    #expect(finished.messages.contains("is left for the next run: outcome unknown: status 503"), "\(finished.messages)")
    #expect(finished.messages.contains("events.ndjson:10)"), "\(finished.messages)")
  }

  @Test("a dozen temporary refusals are waited out, and every request is counted")
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

  @Test(
    "69: identities that a service does not take are asked for as often as chunks, and waited for as long",
    arguments: [500, 503])
  func identities(status: Int) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(endpoint: .xmlapi, action: .status(status, headers: [:], body: ""))]
    let service = try Service(options)
    let finished = try workspace.run(
      [
        "run", "jobs/nightly.json", "--summary", "-", "--set", "Networking.maxRetryDelay=1 second", "--set",
        "Networking.breakerFailures=6", "--set", "Upload.patienceAtStart=3 seconds",
      ], environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    #expect(
      finished.messages.contains("Identity: outcome unknown: status \(status); trying again"), "\(finished.messages)")
    let calls = service.server.ledger.count { $0.endpoint == .xmlapi }
    #expect(status == 500 ? calls == 3 : calls > 3)
  }

  /// The budget bounds the calls of those that are not about it, so that a setting without effect shows at once.
  @Test(
    "69: each setting of repetitions counts for calls about identities",
    arguments: [
      ("Networking.breakerFailures=6", 500, 1, 3), ("Networking.retryBudget=1", 500, 1, 2),
      ("Upload.patienceAtStart=0s", 503, 1, 1), ("Upload.patience=0s", 503, 2, 2),
    ])
  func retrySettings(setting: String, status: Int, from first: Int, calls: Int) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(
        endpoint: .xmlapi, occurrence: .span(first...100), action: .status(status, headers: [:], body: ""))
    ]
    let service = try Service(options)
    let finished = try workspace.run(
      [
        "run", "jobs/nightly.json", "--set", "Networking.retryBudget=4", "--set", "Networking.retryDelay=0s", "--set",
        setting,
      ], environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    #expect(service.server.ledger.count { $0.endpoint == .xmlapi } == calls)
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
    // Each of the four requests at once, before the client has learned, and a few more where the machine is slow.
    #expect((0...100).contains(summary["upload.eventsUnknown"]), "\(finished.messages)")
    #expect(summary["upload.retries"] == 0)
    #expect(Set(service.events).count == service.events.count)
    // A request in doubt may have met a closed door.
    let seen = service.server.ledger.count { $0.endpoint == .events }
    let requests = summary["upload.requests"]
    #expect((requests - summary["upload.eventsUnknown"] / 10 - 1...requests).contains(seen))
  }

  @Test("the reason of a stop is said on the terminal, in the report and in the summary, in the service's words")
  func reasons() throws {
    let cases: [(FaultRule, Int32, String)] = [
      (
        FaultRule(
          endpoint: .token,
          action: .status(400, headers: [:], body: #"{"error":"invalid_grant","error_description":"CANARY"}"#)), 77,
        "(status 400): invalid_grant"
      ),
      (
        FaultRule(
          endpoint: .events,
          action: .status(403, headers: [:], body: #"{"message":"no right to post for D-CANARY 4711"}"#)),
        77, "access is forbidden (status 403): "
      ),
      (
        FaultRule(
          endpoint: .xmlapi,
          action: .fault(id: 145, text: "Session has expired or is invalid, c-123", errorClass: "SP.Admin")),
        77, "(status 200): a new access token was refused too"
      ),
      (
        FaultRule(endpoint: .events, action: .status(404, headers: [:], body: "")), 78,
        "no such service at this address (status 404)"
      ),
      (
        FaultRule(endpoint: .xmlapi, action: .status(404, headers: [:], body: "")), 78,
        "no such service at this address (status 404)"
      ),
      (
        FaultRule(endpoint: .xmlapi, action: .redirect(status: 307, location: "/elsewhere")), 76,
        "redirect not followed (status 307)"
      ),
    ]
    for (rule, code, words) in cases {
      let workspace = try Workspace()
      var options = EngageSandboxOptions()
      options.server.faults.rules = [rule]
      let service = try Service(options)
      let finished = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
      #expect(finished.code == code, "\(finished.messages)")
      #expect(finished.messages.contains(words), "\(words): \(finished.messages)")
      let summary = try Summary(finished.output)
      #expect(summary.text("stopped").contains(words), "\(finished.output)")
      #expect(summary["upload.requests"] == service.server.ledger.count { $0.endpoint == .events }, "\(words)")
      // Where recipients cannot be asked for, nothing that depends on them is sent.
      if rule.endpoint == .xmlapi { #expect(summary["upload.requests"] == 0) }
      #expect(try workspace.report()?["failure"]?.string?.contains(words) == true)
      #expect(!(finished.messages + finished.output).contains("CANARY"))
    }
  }

  @Test(
    "what a service says of secrets and addresses is in no store, report or message",
    arguments: Sweep.cases([400, 403, 500], short: 2))
  func echo(status: Int) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .token, occurrence: .nth([1]), action: .echo(status: 503)),
      FaultRule(endpoint: .xmlapi, operation: "UpdateRecipient", action: .echo(status: 200)),
      FaultRule(endpoint: .events, action: .echo(status: status)),
    ]
    let service = try Service(options)
    var environment = service.environment
    environment["ENGAGE_SECRET"] = "s3cr&t-4711-of-us"
    environment["ENGAGE_REFRESH_TOKEN"] = "canary/refresh+token"
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-"] + Self.chunks + ServiceExitCodeTests.hasty,
      environment: environment)
    #expect(finished.code != 0, "\(finished.messages)")
    let store = try Data(contentsOf: URL(filePath: workspace.path + "/var/nightly.sqlite"))
    let kept = String(decoding: store, as: UTF8.self)
    #expect(kept.contains("Bearer <redacted>"))
    let folder = try #require(
      try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/var/reports").first)
    let report = try workspace.read("var/reports/\(folder)/report.json")
    for text in [kept, finished.messages, finished.output, report] {
      for secret in ["s3cr&t", "4711-of-us", "canary", "refresh+token"] { #expect(!text.contains(secret), "\(secret)") }
      let tokens = text.split(separator: "Bearer ").dropFirst()
      #expect(tokens.allSatisfy { $0.hasPrefix("<redacted>") || $0.hasPrefix("…") }, "\(tokens)")
    }
    #expect(!(finished.messages + finished.output + report).contains("@"))
  }

  @Test("requests, repetitions and what may be there twice are what the server counted")
  func countsAreExact() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    let answer = { (numbers: Set<Int>, point: FaultPoint, action: FaultAction) in
      FaultRule(endpoint: .events, occurrence: .nth(numbers), point: point, action: action)
    }
    options.server.faults.rules = [
      answer([2, 9], .applied, .close), answer([5], .applied, .reset), answer([4], .body, .close),
      answer([3, 7], .body, .status(503, headers: [:], body: "")),
      answer([6], .body, .status(429, headers: ["Retry-After": "0"], body: "")), answer([8], .body, .expireToken),
    ]
    let service = try Service(options)
    let finished = try workspace.run(
      [
        "run", "jobs/nightly.json", "--summary", "-", "--set", "Upload.concurrency=1", "--set",
        "Networking.maxNumRetries=20",
      ]
        + Self.chunks + ServiceExitCodeTests.hasty, environment: service.environment)
    #expect(finished.code == 0, "\(finished.messages)")
    let submissions = service.server.ledger.filter { $0.endpoint == .events }
    let summary = try Summary(finished.output)
    #expect(summary["upload.requests"] == submissions.count)
    #expect(summary["upload.chunks"] == Set(submissions.compactMap(\.bodyDigest)).count)
    #expect(summary["upload.retries"] == submissions.count - summary["upload.chunks"])
    // Four answers were lost; the service had taken three of the requests, and has their events twice.
    let report = try #require(try workspace.report())
    let repeated = Dictionary(grouping: service.events, by: { $0 }).values.count { $0.count > 1 }
    let disclosed = Int(report["upload"]?["possibleDuplicates"]?.integer ?? 0)
    #expect((repeated...repeated + 5).contains(disclosed), "\(repeated) are there twice, \(disclosed) may be")
    #expect(service.events.count - Set(service.events).count == 15)
    #expect(report["upload"]?["attempts"]?["unknown"]?.integer == 4)
  }

  @Test("a token limit and its Retry-After hold for all requests of a run")
  func tokenLimit() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(
        endpoint: .token, occurrence: .nth([1]),
        action: .status(400, headers: ["Retry-After": "2"], body: "Access token limits exceeded."))
    ]
    let service = try Service(options)
    let finished = try workspace.run(
      ["run", "jobs/nightly.json", "--summary", "-"] + Self.chunks, environment: service.environment)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(try Summary(finished.output)["upload.eventsPosted"] == 37)
    #expect(service.server.ledger.count { $0.endpoint == .token } == 2)
  }

  @Test("69: a service that rejects every event; everything stays queued", arguments: [400, 413])
  func refusingAll(status: Int) throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(endpoint: .events, action: .status(status, headers: [:], body: "no such tenant"))
    ]
    let service = try Service(options)
    let finished = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    #expect(finished.code == 69, "\(finished.messages)")
    #expect(finished.messages.contains("the service rejects every event"), "\(finished.messages)")
    #expect(finished.messages.contains("status \(status): no such tenant"), "\(finished.messages)")
    let summary = try Summary(finished.output)
    #expect(summary["upload.eventsFailed"] == 0)
    #expect(service.server.totals.submissions < 40)
  }
}
