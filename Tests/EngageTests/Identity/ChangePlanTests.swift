import BatchFoundation
import BatchReport
import BatchStore
import EngageRules
import RecipientModel
import Testing

@testable import Engage

@Suite struct ChangePlanTests {
  private func bench() throws -> Bench {
    let bench = try Bench(
      [
        loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"],
        "900000000303": ["customer_id": "c-2", "Mobile User Id": userB],
      ], settings: .fixture(audit: true))
    try bench.store.identities.note([DeviceSetup(device: "d-2", firstSeen: now, mobileUserId: "", recipientId: "")])
    try bench.add(
      bench.check(), bench.check(at: 1, emission: 9, [("customer_id", "c-1"), ("loyalty_id", "y-1")]),
      bench.check("d-2", at: 2, recipient: "", user: "", [("customer_id", "c-2")]))
    return bench
  }

  @Test func namesEveryFieldAndWritesNothing() throws {
    let bench = try bench()
    let before = bench.service.recipients
    let changePlan = try bench.reconciler.changePlan(inputs: "digest")
    #expect(!bench.service.calls.contains { $0.isWrite })
    #expect(bench.service.recipients == before)
    #expect(try bench.store.merges.plans().isEmpty)
    #expect(try bench.store.identities.pendingCheckCount() == 3)
    let first = changePlan.changes.filter { $0.device == "d-1" && $0.rule == "MOVE_ID_TO_WINNER" }
    #expect(
      first == [
        IdentityChangePlan.Change(
          device: "d-1", scenario: "move-mobile-user-id", rule: "MOVE_ID_TO_WINNER", target: winner,
          column: "Mobile User Id", current: "", new: userA)
      ])
    // The second check of the device meets what the first would leave.
    #expect(
      changePlan.changes.filter { $0.rule == "SET_IDS" }.map { [$0.target, $0.column, $0.current, $0.new] } == [
        [winner, "customer_id", "c-1", "c-1"], [winner, "loyalty_id", "", "y-1"],
      ])
    // A recipient that does not exist yet has a name of its own.
    #expect(
      changePlan.changes.contains { $0.rule == "MARK_LOSER" && $0.target.hasPrefix("new:") && $0.new == "900000000303" }
    )
  }

  @Test func isCarriedOutToTheLetter() throws {
    let bench = try bench()
    let changePlan = try bench.reconciler.changePlan(inputs: "digest")
    var later = bench.reconciler
    later.now = now + Milliseconds(86_400_000)
    let result = try later.reconcile(changePlan, inputs: "digest")
    #expect(result.figures.merged == 2)
    #expect(result.figures.conflicts == 0)
    #expect(bench.service.recipients[loser] == ["Merged Recipient Id": winner, "Merged Date": nowText])
    #expect(bench.service.rows.count == 2)
    #expect(try bench.store.identities.pendingCheckCount() == 0)
  }

  @Test func includesLastKnownLocations() throws {
    let bench = try bench()
    bench.service.change { $0.recipients[winner]?["Last Location Address"] = "2 Main St" }
    var batch = LocalBatch()
    batch.rows = IdentityRows(locations: [
      LastKnownLocation(device: "d-1", recipientId: loser, address: "1 Main St", at: now)
    ])
    try bench.store.commit(batch, run: bench.run)
    let changePlan = try bench.reconciler.changePlan(inputs: "digest")
    // The device has moved to the winner by then.
    #expect(
      changePlan.changes.filter { $0.scenario == "location" }.map {
        [$0.device, $0.target, $0.column, $0.current, $0.new]
      }
        == [
          ["d-1", winner, "Last Location Address", "2 Main St", "1 Main St"],
          ["d-1", winner, "Last Location Address Time", "", now.rfc3339],
        ])
    #expect(try bench.store.identities.pendingLocations().count == 1)
    #expect(try bench.reconciler.reconcile(changePlan, inputs: "digest").locations == 1)
    #expect(bench.service.recipients[winner]?["Last Location Address"] == "1 Main St")
    #expect(try bench.store.identities.pendingLocations().isEmpty)
  }

  @Test func leavesALocationThatWasNotProposed() throws {
    let bench = try bench()
    let changePlan = try bench.reconciler.changePlan(inputs: "digest")
    var reconciler = bench.reconciler
    reconciler.plannedChanges = PlannedChanges(changePlan)
    var batch = LocalBatch()
    batch.rows = IdentityRows(locations: [
      LastKnownLocation(device: "d-1", recipientId: loser, address: "1 Main St", at: now)
    ])
    try bench.store.commit(batch, run: bench.run)
    #expect(try reconciler.reconcile().locations == 0)
    #expect(try bench.store.identities.pendingLocations().count == 1)
  }

  @Test func isRefusedWhenTheServiceOrTheInputsChanged() throws {
    let bench = try bench()
    let changePlan = try bench.reconciler.changePlan(inputs: "digest")
    #expect(throws: IdentityChangePlan.otherInputs) {
      try bench.reconciler.reconcile(changePlan, inputs: "another")
    }
    bench.service.change { $0.recipients[winner]?["Mobile User Id"] = "new" }
    let before = bench.service.recipients
    #expect(throws: CommandError.self) { try bench.reconciler.reconcile(changePlan, inputs: "digest") }
    #expect(bench.service.recipients == before)
    #expect(try bench.store.merges.plans().isEmpty)
  }

  @Test func whatChangesAfterTheComparisonIsHeld() throws {
    let bench = try bench()
    let changePlan = try bench.reconciler.changePlan(inputs: "digest")
    bench.service.restart()
    _ = try bench.reconciler.changePlan(inputs: "digest")
    let reads = bench.service.calls.count
    bench.service.restart()
    // The first read after the comparison already sees another winner.
    bench.service.change { state in
      state.before[reads + 1] = { $0.recipients[winner]?["Mobile User Id"] = "somebody's" }
    }
    let result = try bench.reconciler.reconcile(changePlan, inputs: "digest")
    #expect(result.figures.conflicts == 1)
    #expect(bench.service.recipients[loser] == ["Mobile User Id": userA])
    #expect(try bench.store.merges.openPlans().map(\.state) == [.held])
  }
}
