import BatchFoundation
import BatchSandbox
import BatchStore
import EngageIdentity
import EngageSandbox
import Testing

/// How long identities wait for a service that takes no call for now (reference guarantees 3), on simulated time.
@Suite struct PatienceTests {
  private static let patience = ServicePatience(
    longest: Milliseconds(600_000), atStart: Milliseconds(30_000),
    backoff: Backoff(first: Milliseconds(1000), longest: Milliseconds(60_000)))

  private func reconcile(
    _ rules: [FaultRule], budget: Int = .max, _ patience: ServicePatience = patience,
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
}
