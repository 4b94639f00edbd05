import BatchFoundation
import BatchReport
import BatchSandbox
import BatchStore
import BatchWire
import Engage
import EngageRules
import Testing

/// How long identities wait for a service that temporarily takes no call (reference guarantees 3), on simulated time.
@Suite struct PatienceTests {
  private static let patience = Outage.Patience(
    longest: Milliseconds(600_000), atStart: Milliseconds(30_000),
    backoff: Backoff(first: Milliseconds(1000), longest: Milliseconds(60_000)))

  private func reconcile(
    _ rules: [FaultRule], budget: Int = .max, _ patience: Outage.Patience = patience,
    _ look: (SandboxBench, IdentityResult) throws -> Void
  ) throws {
    try withSandbox(.identities([900_000_000_101: ["Mobile User Id": userA]])) { server in
      server.setFaults(FaultPlan(rules: rules))
      let bench = try SandboxBench(server, settings: .fixture(), patience: patience)
      try bench.add([Bench().check()])
      var reconciler = bench.reconciler
      reconciler.retryPolicy.budget = budget
      try look(bench, try reconciler.reconcile())
    }
  }

  private func refusal(_ occurrence: FaultRule.Occurrence, wish: String? = nil) -> FaultRule {
    FaultRule(
      endpoint: .xmlapi, occurrence: occurrence, point: .body,
      action: .status(503, headers: wish.map { ["Retry-After": $0] } ?? [:], body: ""))
  }

  /// Calls used to be made eight times, for a minute and a half, whatever the settings said.
  @Test func aServiceThatIsOutFromTheStartIsWaitedForAsLongAsPatienceAtStart() throws {
    try reconcile([refusal(.every(1))]) { bench, result in
      #expect(result.failure == .unavailable("outcome unknown: status 503", again: nil))
      #expect(bench.time.milliseconds == 30_000)
      let pending = try bench.store.identities.pendingCheckCount()
      #expect(pending == 1)
    }
  }

  /// More refusals than a call has tries.
  @Test func anOutageOnTheWayIsWaitedOut() throws {
    try reconcile([refusal(.span(2...13), wish: "10")]) { bench, result in
      #expect(result.failure == nil)
      #expect(result.figures.updated == 1)
      #expect((120_000..<600_000).contains(bench.time.milliseconds))
    }
  }

  @Test func anOutageOnTheWayThatDoesNotEndIsWaitedForAsLongAsPatience() throws {
    try reconcile([refusal(.span(2...100_000))]) { bench, result in
      #expect(result.failure == .unavailable("outcome unknown: status 503", again: nil))
      #expect(bench.time.milliseconds == 600_000)
    }
  }

  /// It was waited for twice as long as patience.
  @Test func aServiceThatAsksForMoreThanPatienceIsNotWaitedFor() throws {
    try reconcile([refusal(.every(1), wish: "60")]) { bench, result in
      #expect(result.failure == .unavailable("outcome unknown: status 503", again: nil))
      #expect(bench.time.milliseconds == 0)
      #expect(bench.server.ledger.count { $0.endpoint == .xmlapi } == 1)
    }
  }

  @Test func anOutageIsAskedAboutOnceASecondWhereRepetitionsHaveNoPause() throws {
    var patience = Self.patience
    patience.backoff = .none
    try reconcile([refusal(.every(1))], budget: 100, patience) { bench, result in
      #expect(result.failure == .unavailable("outcome unknown: status 503", again: nil))
      #expect(bench.time.milliseconds == 30_000)
      #expect(bench.server.ledger.count { $0.endpoint == .xmlapi } == 31)
    }
  }

  @Test func repetitionsOfARunHaveABudget() throws {
    try reconcile([refusal(.every(1))], budget: 3) { bench, result in
      #expect(result.failure == .unavailable("outcome unknown: status 503", again: nil))
      #expect(bench.server.ledger.count { $0.endpoint == .xmlapi } == 4)
    }
  }

  // MARK: Kinds of calls (reference decisions 60)

  private func patient(_ longest: Int64) -> Outage.Patience {
    Outage.Patience(longest: Milliseconds(longest), atStart: Milliseconds(longest), backoff: .none)
  }

  private func persons(
    _ count: Int64, _ rules: [FaultRule], _ patience: Outage.Patience,
    _ look: (SandboxBench, IdentityResult) throws -> Void
  ) throws {
    let people = Dictionary(
      uniqueKeysWithValues: (1...count).map { (900_000_000_100 + $0, ["Mobile User Id": "M-\($0)"]) })
    try withSandbox(.identities(people)) { server in
      server.setFaults(FaultPlan(rules: rules))
      let bench = try SandboxBench(server, settings: .fixture { $0.concurrency = 4 }, patience: patience)
      let plain = try Bench()
      try bench.add(
        (1...count).map {
          plain.check(
            "d-\($0)", at: $0, emission: $0, recipient: "\(900_000_000_100 + $0)", user: "M-\($0)",
            [("customer_id", "c-\($0)")])
        })
      try look(bench, try bench.reconciler.reconcile())
    }
  }

  /// Reads that were answered set the wait for writes back: it took hours.
  @Test(arguments: ["429", "503", "gate"])
  func writesThatAreTurnedAwayEndWithinPatience(how: String) throws {
    let action: FaultAction =
      switch how {
      case "429": .status(429, headers: [:], body: "")
      case "503": .status(503, headers: ["Retry-After": "2"], body: "")
      default:
        .fault(
          id: 50, text: "The max number of concurrent authenticated requests has been reached", errorClass: "SP.API")
      }
    let rule = FaultRule(
      endpoint: .xmlapi, operation: "UpdateRecipient", occurrence: .every(1), point: .body, action: action)
    try persons(4, [rule], patient(5000)) { bench, result in
      guard case .unavailable(_, again: nil)? = result.failure else {
        Issue.record("\(String(describing: result.failure))")
        return
      }
      #expect(result.failure?.exit == .serviceUnavailable)
      // Each lane counts its own pauses on the simulated clock.
      #expect(bench.time.milliseconds <= 8 * 5000, "\(bench.time.milliseconds)")
    }
  }

  @Test func oneWhoIsTurnedAwayWaitsForTheNextRunAndNobodyElseDoes() throws {
    let rule = FaultRule(
      endpoint: .xmlapi, operation: "UpdateRecipient", text: "c-3", occurrence: .every(1), point: .body,
      action: .status(503, headers: ["Retry-After": "2"], body: ""))
    try persons(20, [rule], patient(20_000)) { bench, result in
      #expect(result.failure == .deferred("outcome unknown: status 503"))
      #expect(result.failure?.exit == .serviceUnavailable)
      #expect(result.postponed.map(\.device) == ["d-3"])
      #expect(result.figures.updated == 19)
      #expect(bench.time.milliseconds <= 20_000, "\(bench.time.milliseconds)")
      bench.server.setFaults(FaultPlan(rules: []))
      let again = try bench.reconciler.reconcile()
      #expect(again.failure == nil)
      #expect(again.figures.updated == 1)
    }
  }

  /// Others waited for their turn behind one whose addition the service never took, and for nothing else until patience was at its end.
  @Test func oneWhoseAdditionIsTurnedAwayHoldsUpNoOther() throws {
    try withSandbox(.identities([:])) { server in
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(
            endpoint: .xmlapi, operation: "AddRecipient", text: "M-3", occurrence: .every(1), point: .body,
            action: .status(429, headers: [:], body: ""))
        ]))
      let bench = try SandboxBench(server, settings: .fixture { $0.concurrency = 4 }, patience: patient(20_000))
      try bench.store.identities.note(
        (1...8).map {
          DeviceSetup(device: "d-\($0)", firstSeen: Instant(milliseconds: $0), mobileUserId: "M-\($0)", recipientId: "")
        })
      let result = try bench.reconciler.reconcile()
      #expect(result.postponed.map(\.device) == ["d-3"])
      #expect(result.figures.created == 7)
      guard case .deferred? = result.failure else {
        Issue.record("\(String(describing: result.failure))")
        return
      }
    }
  }
}
