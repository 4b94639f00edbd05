import BatchSandbox
import Glibc
import Testing

@Suite struct FaultTests {
  private static let path = "/rest/events/submission"

  private func fixture(_ rule: FaultRule) -> EngageSandboxOptions {
    .fixture { $0.server.faults = FaultPlan(rules: [rule]) }
  }

  /// Sends one event and tells how it ended.
  private func outcome(_ client: RawClient, _ token: String) -> String {
    do {
      let answer = try client.request("POST", Self.path, token: token, body: submission([event("a")]))
      return "\(answer.status)\(answer.isComplete ? "" : " cut")"
    } catch {
      return "\(error)"
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var point: FaultPoint
    var action: FaultAction
    var outcome: String
    var applied: Int

    init(_ point: FaultPoint, _ action: FaultAction, _ outcome: String, applied: Int) {
      self.point = point
      self.action = action
      self.outcome = outcome
      self.applied = applied
    }

    var testDescription: String { "\(action) at \(point)" }
  }

  @Test(arguments: [
    Case(.headers, .close, "closed", applied: 0), Case(.headers, .reset, "reset", applied: 0),
    Case(.headers, .status(503, headers: ["Retry-After": "3"], body: "busy"), "503", applied: 0),
    Case(.halfBody, .close, "closed", applied: 0), Case(.body, .close, "closed", applied: 0),
    Case(.body, .reset, "reset", applied: 0), Case(.body, .stall(seconds: 0.05), "closed", applied: 0),
    Case(.body, .status(429, headers: [:], body: ""), "429", applied: 0),
    Case(.body, .garbage(status: 502), "502", applied: 0),
    Case(.body, .empty, "200", applied: 0), Case(.body, .truncate(bytes: 10), "200 cut", applied: 0),
    Case(.body, .redirect(status: 307, location: "http://127.0.0.1:1/"), "307", applied: 0),
    Case(.body, .fault(id: 50, text: nil, errorClass: "SP.API"), "200", applied: 0),
    Case(.body, .expireToken, "401", applied: 0), Case(.body, .delay(milliseconds: 20), "201", applied: 1),
    Case(.body, .huge(bytes: 300_000), "200", applied: 0),
    Case(.applied, .close, "closed", applied: 1), Case(.applied, .reset, "reset", applied: 1),
    Case(.applied, .stall(seconds: 0.05), "closed", applied: 1), Case(.applied, .expireToken, "201", applied: 1),
    Case(.applied, .status(500, headers: [:], body: ""), "500", applied: 1),
    Case(.response, .close, "201 cut", applied: 1), Case(.response, .stall(seconds: 0.05), "201 cut", applied: 1),
    Case(.response, .delay(milliseconds: 20), "201", applied: 1),
  ])
  func plays(fault: Case) throws {
    try withSandbox(fixture(FaultRule(endpoint: .events, point: fault.point, action: fault.action))) {
      server, client, token throws in
      #expect(outcome(client, token) == fault.outcome)
      #expect(server.totals.eventsApplied == fault.applied)
      #expect(server.faultsFired == [1])
      #expect(server.ledger.last?.fault?.hasPrefix("\(fault.point):") == true)
      #expect(server.ledger.last?.applied == (fault.applied == 1))
    }
  }

  @Test func cutsAnXMLAnswerInHalf() throws {
    let rule = FaultRule(operation: "AddRecipient", point: .response, action: .close)
    try withSandbox(fixture(rule)) { server, client, token throws in
      let answer = try client.request(
        "POST", "/XMLAPI", token: token, type: "text/xml",
        body: "<Envelope><Body>\(add([("customer_id", "c-1")]))</Body></Envelope>")
      #expect(!answer.isComplete)
      #expect(answer.body.hasPrefix("<Envelope><Body><RESULT><SUCCESS>TRUE</SUCCESS>"))
      #expect(server.recipients(of: "50001").count == 1)
    }
  }

  @Test func carriesOutWhatAClientNoLongerWaitsFor() throws {
    let rule = FaultRule(endpoint: .events, point: .body, action: .delay(milliseconds: 100))
    try withServer(fixture(rule)) { server, client throws in
      let token = try client.accessToken()
      var other: RawClient? = try RawClient(port: server.port)
      try other?.sendRequest("POST", Self.path, token: token, body: submission([event("a")]))
      while server.ledger.last?.fault == nil { usleep(1000) }
      other = nil
      while server.totals.eventsApplied == 0 { usleep(1000) }
      _ = try client.request("GET", "/rest/events/errors", token: token)
      let entry = try #require(server.ledger.first { $0.endpoint == .events })
      #expect(entry.applied)
      #expect(!entry.answered)
      #expect(entry.status == nil)
      #expect(server.ledger.last?.inFlight == 1)
    }
  }

  @Test func answersEarlyWithoutTearingTheUploadDown() throws {
    let rule = FaultRule(endpoint: .events, point: .headers, action: .status(503, headers: [:], body: "busy"))
    try withSandbox(fixture(rule)) { server, client, token throws in
      let body = submission((0..<20_000).map { event("event number \($0)") })
      let answer = try client.request("POST", Self.path, token: token, body: body)
      #expect(answer.status == 503)
      #expect(answer.body == "busy")
      #expect(throws: RawClient.Failure.closed) { try client.readAnswer() }
      #expect(server.totals.eventsApplied == 0)
    }
  }

  @Test(arguments: [FaultAction.close, .reset, .stall(seconds: 0.05)])
  func refusesAConnection(action: FaultAction) throws {
    try withServer(fixture(FaultRule(occurrence: .nth([1]), point: .accept, action: action))) { server, client throws in
      #expect(throws: RawClient.Failure.self) { try client.token() }
      #expect(try RawClient(port: server.port).token().status == 200)
      #expect(server.totals.requests == 1)
      #expect(server.totals.connections == 2)
    }
  }

  @Test func hitsTheNthAndEveryNth() throws {
    for (occurrence, wanted) in [
      (FaultRule.Occurrence.nth([2, 5]), ["201", "503", "201", "201", "503", "201"]),
      (.every(3), ["201", "201", "503", "201", "201", "503"]),
    ] {
      let rule = FaultRule(
        endpoint: .events, occurrence: occurrence, action: .status(503, headers: [:], body: ""))
      try withSandbox(fixture(rule)) { _, client, token throws in
        #expect((0..<6).map { _ in outcome(client, token) } == wanted)
      }
    }
  }

  @Test func drawsTheSameForTheSameSeed() throws {
    let outcomes = try [UInt64(7), 7, 8].map { seed in
      let rule = FaultRule(
        endpoint: .events, occurrence: .probability(0.3), action: .status(503, headers: [:], body: ""))
      let options = EngageSandboxOptions.fixture { $0.server.faults = FaultPlan(seed: seed, rules: [rule]) }
      return try withSandbox(options) { _, client, token in (0..<200).map { _ in outcome(client, token) } }
    }
    #expect(outcomes[0] == outcomes[1])
    #expect(outcomes[0] != outcomes[2])
    #expect((40...80).contains(outcomes[0].count { $0 == "503" }))
  }

  @Test func asksTheHookFirst() throws {
    let options = EngageSandboxOptions.fixture {
      $0.server.hook = { request, point in
        point == .applied && request.operations == ["AddRecipient"] && request.body.count > 0 ? .close : nil
      }
    }
    try withSandbox(options) { server, client, token throws in
      #expect(throws: RawClient.Failure.closed) { try client.xml(add([("customer_id", "c-1")]), token: token) }
      #expect(server.recipients(of: "50001").count == 1)
      #expect(server.ledger.last?.fault == "applied:close")
      #expect(server.ledger.last?.answered == false)
    }
  }

  @Test func meetsOneColumnAlone() throws {
    try withSandbox(fixture(FaultRule(text: "customer_id", action: .status(502, headers: [:], body: "")))) {
      server, client, token throws in
      _ = try client.xml(add([("Mobile User Id", "m-1")]), token: token)
      #expect(server.recipients(of: "50001").count == 1)
      #expect(try client.xml(add([("customer_id", "c-1")]), token: token) == "")
      #expect(server.recipients(of: "50001").count == 1)
      #expect(server.ledger.last?.status == 502)
    }
  }

  @Test func readsAPlanFile() throws {
    let text = """
      {"seed": 9, "latencyMilliseconds": 20, "idleCloseMilliseconds": 0, "rules": [
        {"match": {"endpoint": "xmlapi", "operation": "UpdateRecipient"}, "nth": [1, 3], "point": "applied", "action": "close"},
        {"match": {"endpoint": "events"}, "probability": 0.1, "action": "status", "status": 503, "headers": {"Retry-After": "2"}},
        {"every": 4, "action": "fault", "id": 145, "text": "gone", "class": "SP.Admin"},
        {"point": "accept", "nth": 2, "action": "stall", "seconds": 1.5},
        {"action": "truncate"},
        {"span": [5, 40], "action": "close"},
        {"match": {"endpoint": "xmlapi", "text": "Mobile User Id"}, "action": "garbage"}
      ]}
      """
    #expect(
      try plan(text)
        == FaultPlan(
          seed: 9, latencyMilliseconds: 20, idleCloseMilliseconds: 0,
          rules: [
            FaultRule(
              endpoint: .xmlapi, operation: "UpdateRecipient", occurrence: .nth([1, 3]), point: .applied, action: .close
            ),
            FaultRule(
              endpoint: .events, occurrence: .probability(0.1),
              action: .status(503, headers: ["Retry-After": "2"], body: "")),
            FaultRule(occurrence: .every(4), action: .fault(id: 145, text: "gone", errorClass: "SP.Admin")),
            FaultRule(occurrence: .nth([2]), point: .accept, action: .stall(seconds: 1.5)),
            FaultRule(action: .truncate(bytes: 20)),
            FaultRule(occurrence: .span(5...40), action: .close),
            FaultRule(endpoint: .xmlapi, text: "Mobile User Id", action: .garbage(status: 502)),
          ]))
  }

  @Test(arguments: [
    (
      "{\"rules\":[{\"action\":\"close\",\"points\":\"body\"}]}",
      "f:1: error: unknown key 'rules[0].points'; did you mean 'rules[0].point'?"
    ),
    (
      "{\"rules\":[{\"action\":\"explode\"}]}",
      "f:1: error: 'rules[0].action' is 'explode', which is not a known action"
    ),
    ("{\"rules\":[{}]}", "f:1: error: 'rules[0]' has no 'action'"),
    (
      "{\"rules\":[{\"action\":\"close\",\"nth\":1,\"every\":2}]}",
      "f:1: error: 'rules[0]' can have only one of nth, every, span and probability"
    ),
    (
      "{\"rules\":[{\"action\":\"close\",\"probability\":2}]}",
      "f:1: error: 'rules[0].probability' is 2.0, but must be between 0.0 and 1.0"
    ),
    (
      "{\"rules\":[{\"action\":\"close\",\"span\":[4,2]}]}",
      "f:1: error: 'rules[0].span' must be an array of the first and the last number, in ascending order"
    ),
    (
      "{\"rules\":[{\"action\":\"close\",\"nth\":0}]}",
      "f:1: error: 'rules[0].nth' is an integer, but must be a positive integer or an array of positive integers"
    ),
    (
      "{\"rules\":[{\"action\":\"close\",\"point\":\"headers\",\"match\":{\"operation\":\"Login\"}}]}",
      "f:1: error: 'rules[0].match.operation' is not known before the point 'body'"
    ),
    (
      "{\"rules\":[{\"action\":\"empty\",\"point\":\"response\"}]}",
      "f:1: error: 'rules[0].action' is 'empty', which is not possible at the point 'response'"
    ),
    (
      "{\"rules\":[{\"action\":\"close\",\"match\":{\"endpoint\":\"mail\"}}]}",
      "f:1: error: 'rules[0].match.endpoint' is 'mail', but must be one of 'token', 'xmlapi', 'events', 'eventErrors', 'rest', 'files', 'sandbox', 'unknown'"
    ),
    ("[]", "f:1: error: the file is an array, but must be an object"),
  ])
  func refusesAPlan(text: String, message: String) {
    #expect {
      try plan(text)
    } throws: { error in
      "\(error)" == message
    }
  }

  private func plan(_ text: String) throws -> FaultPlan {
    var settings = SandboxSettings()
    try settings.read(faults: Array(text.utf8), of: "f", endpoints: SandboxEndpoint.engage) { _ in }
    return settings.faults
  }
}
