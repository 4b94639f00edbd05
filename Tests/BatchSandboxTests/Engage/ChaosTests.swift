import BatchSandbox
import Testing

/// Faults of every kind at once, from several connections: the sandbox's own account must still be right.
@Suite struct ChaosTests {
  private static let plan = FaultPlan(
    seed: 11,
    rules: [
      FaultRule(occurrence: .probability(0.05), point: .accept, action: .close),
      FaultRule(endpoint: .events, occurrence: .probability(0.05), point: .headers, action: .reset),
      FaultRule(endpoint: .events, occurrence: .probability(0.05), point: .halfBody, action: .close),
      FaultRule(endpoint: .events, occurrence: .probability(0.05), point: .body, action: .stall(seconds: 0.01)),
      FaultRule(
        endpoint: .events, occurrence: .probability(0.1), point: .body, action: .status(503, headers: [:], body: "")),
      FaultRule(endpoint: .events, occurrence: .probability(0.05), point: .body, action: .delay(milliseconds: 3)),
      FaultRule(endpoint: .events, occurrence: .probability(0.1), point: .applied, action: .close),
      FaultRule(endpoint: .events, occurrence: .probability(0.05), point: .applied, action: .truncate(bytes: 5)),
      FaultRule(endpoint: .events, occurrence: .probability(0.1), point: .response, action: .reset),
    ])

  /// What one client knows of its requests, by the name of the event each carried.
  private struct Outcomes: Sendable {
    var acknowledged: [String] = []
    var unknown: [String] = []
  }

  private static func send(_ worker: Int, port: Int, token: String) -> Outcomes {
    var outcomes = Outcomes()
    var client: RawClient?
    for number in 0..<80 {
      let name = "\(worker)-\(number)"
      do {
        let open = try client ?? RawClient(port: port)
        client = open
        let answer = try open.request(
          "POST", "/rest/events/submission", token: token, body: submission([event(name)]))
        if answer.status == 201, answer.isComplete {
          outcomes.acknowledged.append(name)
        } else {
          outcomes.unknown.append(name)
        }
        if !answer.isComplete || answer.headers["connection"] == "close" { client = nil }
      } catch {
        outcomes.unknown.append(name)
        client = nil
      }
    }
    return outcomes
  }

  @Test func keepsTheTrueAccount() async throws {
    let server = try SandboxServer.start(
      .fixture {
        $0.events = .attribute("Event Name")
        $0.server.ledgerLimit = .max
      })
    let token = try RawClient(port: server.port).accessToken()
    server.setFaults(Self.plan)
    let outcomes = await withTaskGroup(of: Outcomes.self) { group in
      for worker in 0..<4 { group.addTask { Self.send(worker, port: server.port, token: token) } }
      return await group.reduce(into: Outcomes()) { all, one in
        all.acknowledged += one.acknowledged
        all.unknown += one.unknown
      }
    }
    let applied = server.appliedEvents
    let ledger = server.ledger.filter { $0.endpoint == .events }
    #expect(outcomes.acknowledged.count + outcomes.unknown.count == 320)
    #expect(outcomes.acknowledged.allSatisfy { applied[$0] == 1 })
    #expect(applied.values.allSatisfy { $0 == 1 })
    #expect(applied.count > outcomes.acknowledged.count, "no answer was lost after its request was applied")
    #expect(ledger.count { $0.applied } == applied.count)
    #expect(ledger.allSatisfy { !$0.applied || $0.events == 1 })
    #expect(server.totals.eventsApplied == applied.count)
    #expect(server.totals.violations.isEmpty)
    #expect(server.faultsFired.allSatisfy { $0 > 0 })
    try server.stop()
  }
}
