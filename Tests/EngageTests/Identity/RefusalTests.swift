import BatchFoundation
import BatchReport
import BatchSandbox
import BatchStore
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// What the service refuses for good has a name, and each run tries it again (reference decisions 37).
@Suite(.serialized) struct RefusalTests {
  private static let list: [Int64: [String: String]] = [
    900_000_000_101: ["Mobile User Id": userA], 900_000_000_202: ["customer_id": "c-1"],
  ]

  private func fault(_ id: Int, of operation: String, says text: String? = nil) -> FaultPlan {
    FaultPlan(rules: [
      FaultRule(
        endpoint: .xmlapi, operation: operation, text: text, action: .fault(id: id, text: nil, errorClass: "SP.API"))
    ])
  }

  private func note(_ devices: [String], in store: EventStore) throws {
    try store.identities.note(
      devices.enumerated().map {
        DeviceSetup(device: $1, firstSeen: now + Milliseconds(Int64($0)), mobileUserId: "", recipientId: "")
      })
  }

  @Test func aSetUpThatIsRefusedIsNamedAndStopsNobodyElse() throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try note(["d-1", "d-2", "d-3"], in: bench.store)
      server.setFaults(fault(1007, of: "AddRecipient", says: AutomaticMobileUserId.id(of: "d-2")))
      for _ in 0..<2 {
        let figures = try bench.reconciler.reconcile().figures
        #expect((figures.refused, figures.conflicts) == (1, 0))
        let plans = try bench.store.merges.openPlans()
        #expect(plans.map(\.id) == [1], "the plan keeps its number")
        #expect(plans.map(\.state) == [.refused])
        #expect(plans.map(\.scenario) == [.setUp])
        #expect(plans.map(\.device) == ["d-2"])
        #expect(
          plans[0].reason.hasPrefix("the service refused the request: column does not exist (error 1007"),
          "\(plans[0].reason)")
        #expect(try bench.store.identities.awaiting().map(\.device) == ["d-2"])
        #expect(bench.recipients.count == 2)
      }
      server.setFaults(FaultPlan())
      let cured = try bench.reconciler.reconcile().figures
      #expect((cured.refused, cured.created) == (0, 1))
      #expect(try bench.store.merges.openPlans().isEmpty)
      #expect(try bench.store.identities.awaiting().map(\.device).isEmpty)
      #expect(bench.recipients.count == 3)
    }
  }

  @Test func aRefusedSetUpIsMadeByResumeOrGivenUp() throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try note(["d-1", "d-2"], in: bench.store)
      server.setFaults(fault(100, of: "AddRecipient"))
      #expect(try bench.reconciler.reconcile().figures.refused == 2)
      let plans = try bench.store.merges.openPlans()
      #expect(try bench.reconciler.resume(plans[0].id).figures.refused == 1)
      server.setFaults(FaultPlan())
      let resumed = try bench.reconciler.resume(plans[0].id).figures
      #expect((resumed.created, resumed.refused) == (1, 0))
      try IdentityReconciler.abandon(plans[1].id, in: bench.store, now: now)
      #expect(try bench.store.identities.awaiting().map(\.device) == [])
      #expect(try bench.reconciler.reconcile().figures.created == 0)
      #expect(try bench.store.merges.openPlans().isEmpty)
    }
  }

  /// UpdateRecipient with each fault that is final: the merge is taken back, and made once the service takes it.
  @Test(arguments: [100, 106, 108, 122, 123, 128, 140, 150, 326, 1007])
  func anUpdateThatIsRefusedLeavesItsCheckToTheNextRun(id: Int) throws {
    try withSandbox(.identities(Self.list)) { server in
      let bench = try SandboxBench(server, settings: .fixture(audit: true))
      try bench.add([Bench().check()])
      let before = bench.recipients
      server.setFaults(fault(id, of: "UpdateRecipient"))
      for _ in 0..<2 {
        let result = try bench.reconciler.reconcile()
        #expect(result.failure == nil)
        #expect((result.figures.refused, result.figures.conflicts) == (1, 0))
        let plan = try #require(try bench.store.merges.openPlans().first)
        #expect(plan.state == .refused)
        #expect(plan.reason.hasPrefix("MARK_LOSER: "), "\(plan.reason)")
        #expect(try bench.store.merges.openPlans().count == 1)
        #expect(bench.recipients == before)
        #expect(bench.rows.isEmpty)
      }
      server.setFaults(FaultPlan())
      #expect(try bench.reconciler.reconcile().figures.merged == 1)
      #expect(bench.rows.count == 1)
      #expect(try bench.store.merges.openPlans().isEmpty)
    }
  }

  @Test func aLookUpThatIsRefusedLeavesItsCheckToTheNextRun() throws {
    try withSandbox(.identities(Self.list)) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try bench.add([Bench().check()])
      server.setFaults(fault(150, of: "SelectRecipientData", says: "c-1"))
      #expect(try bench.reconciler.reconcile().figures.refused == 1)
      #expect(try bench.store.merges.openPlans().map(\.checkId) == [1])
      server.setFaults(FaultPlan())
      #expect(try bench.reconciler.reconcile().figures.merged == 1)
    }
  }

  @Test func aMergeWhoseAuditRowIsRefusedIsTakenBackAndMadeWhenTheRowIsTaken() throws {
    let bench = try Bench(
      [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]], settings: .fixture(audit: true))
    try bench.add(bench.check())
    let before = bench.service.recipients
    bench.service.change { $0.refusedRows = true }
    let figures = try bench.reconcile().figures
    #expect((figures.refused, figures.merged) == (1, 0))
    #expect(bench.service.recipients == before)
    let plan = try #require(try bench.store.merges.openPlans().first)
    #expect((plan.state, plan.reason) == (.refused, "AUDIT: There is no column"))
    bench.service.change { $0.refusedRows = false }
    #expect(try bench.reconcile().figures.merged == 1)
    #expect(bench.service.rows.count == 1)
  }

  /// Nothing is known of what an answer about somebody else did, so the plan keeps its recipients until a run can read them.
  ///
  /// A recipient of a device that records no id gets the one made for it before any check, so that the merge has none to move.
  @Test(arguments: [("", AutomaticMobileUserId.id(of: "d-2")), (userB, userA)])
  func anUpdateThatIsAnsweredWronglyKeepsItsRecipients(recorded: String, kept: String) throws {
    try withSandbox(.identities(Self.list)) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try bench.add([
        Bench().check(), Bench().check("d-2", at: 1, recipient: winner, user: recorded, [("loyalty_id", "l")]),
      ])
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(
            endpoint: .xmlapi, operation: "UpdateRecipient", text: loser, point: .applied,
            action: .stranger(recipient: winner))
        ]))
      let result = try bench.reconciler.reconcile()
      // What waits for the plan's recipients is no conflict of its own.
      #expect((result.figures.refused, result.figures.conflicts) == (1, 0))
      #expect(result.postponed == [PostponedDevice(device: "d-2", check: 2, failure: nil)])
      let plan = try #require(try bench.store.merges.openPlans().first)
      #expect(plan.state == .refused && plan.isUnderWay)
      #expect((plan.loser, plan.winner, plan.device) == (loser, winner, "d-1"))
      server.setFaults(FaultPlan())
      let next = try bench.reconciler.reconcile()
      #expect((next.figures.merged, next.figures.refused) == (1, 0))
      #expect(bench.recipients[winner] == ["customer_id": "c-1", "loyalty_id": "l", "Mobile User Id": kept])
      #expect(try bench.store.merges.openPlans().isEmpty)
    }
  }

  /// A list with a unique key takes no recipient that has nothing but a mobile user id: found before the first call that would be refused.
  @Test(arguments: ["customer_id", "EMAIL"])
  func aListWithAnotherUniqueKeyIsRefusedBeforeTheFirstCall(key: String) throws {
    var options = EngageSandboxOptions.identities([:])
    options.organization.lists[0].keyColumns = [key]
    try withSandbox(options) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try note(["d-1"], in: bench.store)
      #expect {
        try bench.reconciler.reconcile()
      } throws: { error in
        "\(error)".contains("list 50001 has the unique key '\(key)'")
      }
      #expect(server.totals.operations == ["GetListMetaData": 1])
    }
  }

  @Test func aTableWithoutAKeyIsRefusedBeforeTheFirstMerge() throws {
    var options = EngageSandboxOptions.identities(Self.list)
    options.organization.tables[0].keyColumns = []
    try withSandbox(options) { server in
      let bench = try SandboxBench(server, settings: .fixture(audit: true))
      try bench.add([Bench().check()])
      #expect {
        try bench.reconciler.reconcile()
      } throws: { error in
        "\(error)".contains("table 50002 has no key")
      }
    }
  }
}
