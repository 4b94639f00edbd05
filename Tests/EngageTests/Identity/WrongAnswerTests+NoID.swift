import BatchFoundation
import BatchReport
import BatchSandbox
import BatchStore
import EngageRules
import Testing

@testable import Engage

/// Answers that name a recipient by what no recipient's id is (reference decisions 36).
extension WrongAnswerTests {
  private static let noIDs = [#"a"b"#, String(repeating: "9", count: 5000), "9223372036854775808", "0", "-5", "1.5"]

  private func namingNobody(_ id: String, _ occurrence: FaultRule.Occurrence, at point: FaultPoint) -> FaultPlan {
    let result = "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>\(id)</RecipientId></RESULT>"
    return FaultPlan(rules: [
      FaultRule(
        endpoint: .xmlapi, operation: "AddRecipient", occurrence: occurrence, point: point,
        action: .status(
          200, headers: ["Content-Type": "text/xml"], body: "<Envelope><Body>\(result)</Body></Envelope>"))
    ])
  }

  /// The device's events went out with whatever stood there, for good.
  @Test(arguments: noIDs, [FaultPoint.body, .applied])
  func anAdditionWithoutAnIdIsLookedUp(id: String, point: FaultPoint) throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture(history: false))
      server.setFaults(namingNobody(id, .nth([1]), at: point))
      try note("d-1", in: bench)
      let figures = try bench.reconciler.reconcile().figures
      #expect((figures.refused, figures.conflicts) == (0, 0))
      #expect(bench.recipients.count == 1)
      #expect(try bench.store.identities.identity(of: "d-1")?.recipientId == bench.recipients.keys.first)
      let calls = server.ledger.filter { !$0.operations.isEmpty }
      let addition = try #require(calls.firstIndex { $0.operations == ["AddRecipient"] })
      #expect(calls[addition].connection != calls[addition + 1].connection)
    }
  }

  @Test func additionsWithoutAnIdAreARefusalUntilOneHasIt() throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture(history: false))
      server.setFaults(namingNobody(Self.noIDs[0], .every(1), at: .body))
      try note("d-1", in: bench)
      #expect(try bench.reconciler.reconcile().figures.refused == 1)
      #expect(try bench.store.identities.identity(of: "d-1")?.recipientId == "")
      #expect(
        try bench.store.merges.openPlans().map(\.reason)
          == ["the service's response does not match the request"])
      server.setFaults(FaultPlan())
      #expect(try bench.reconciler.reconcile().figures.created == 1)
      #expect(try bench.store.identities.identity(of: "d-1")?.recipientId == bench.recipients.keys.first)
    }
  }

  @Test(arguments: noIDs)
  func aRecordWithoutAnIdAnswersNothing(id: String) throws {
    let column = ColumnValue("customer_id", "c-3")
    let image = RecipientImage(id: id, columns: [column])
    for question in [RecipientQuestion.recipient(id), .columns([column])] {
      #expect(try question.verdict(on: image, isText: { _ in true }) == .another)
    }
  }
}
