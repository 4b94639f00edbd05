import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import RecipientModel
import Testing

@testable import Engage

@Suite struct ScenarioTests {
  @Test func setsIdsOnTheRecipientOfTheDevice() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    try bench.add(bench.check())
    let result = try bench.reconcile()
    #expect(bench.service.recipients == [loser: ["Mobile User Id": userA, "customer_id": "c-1"]])
    #expect(result.figures.checks == 1)
    #expect(result.figures.updated == 1)
    #expect(try bench.store.identities.pendingCheckCount() == 0)
    #expect(
      bench.service.calls.map(\.operation) == [
        "SelectRecipientData", "SelectRecipientData", "UpdateRecipient", "SelectRecipientData",
      ])
    // Nothing is left to do, and nothing is asked.
    bench.service.restart()
    #expect(try bench.reconcile() == IdentityResult())
    #expect(bench.service.calls.isEmpty)
  }

  @Test func movesTheMobileUserIdAndPublishesTheWinner() throws {
    let bench = try Bench(
      [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]],
      settings: .fixture(audit: true))
    try bench.add(bench.check())
    let result = try bench.reconcile()
    #expect(
      bench.service.recipients == [
        loser: ["Merged Recipient Id": winner, "Merged Date": nowText],
        winner: ["customer_id": "c-1", "Mobile User Id": userA],
      ])
    #expect(
      bench.service.rows == [
        "55654e1d-cded-53ff-8a40-19c77da6f5f2": [
          "Old Recipient Id": loser, "New Recipient Id": winner, "Create Date": nowText,
        ]
      ])
    #expect(result.figures.merged == 1)
    #expect(result.figures.auditRows == 1)
    #expect(try bench.identity() == DeviceIdentity(recipientId: winner, mobileUserId: userA))
    let identities = bench.store.identities
    #expect(
      try identities.who { try $0.identity(of: "d-1", userA, recorded: loser, at: 5) }
        == DeviceIdentity(recipientId: loser, mobileUserId: userA))
    #expect(
      try identities.who { try $0.identity(of: "d-1", userA, recorded: loser, at: 6) }
        == DeviceIdentity(recipientId: winner, mobileUserId: userA))
  }

  @Test func laterChecksStartFromTheWinnerThoughRecordsStillNameTheLoser() throws {
    let bench = try Bench([
      loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Mobile User Id": userB],
    ])
    try bench.add(bench.check(), bench.check(at: 1, emission: 9, [("loyalty_id", "y-1")]))
    try bench.reconcile()
    #expect(bench.service.recipients[winner]?["loyalty_id"] == "y-1")
    #expect(
      bench.service.recipients[loser] == [
        "Mobile User Id": userA, "Merged Recipient Id": winner, "Merged Date": nowText,
      ])
    #expect(try bench.identity() == DeviceIdentity(recipientId: winner, mobileUserId: userB))
  }

  @Test func clearsAUniqueMobileUserIdBeforeItMoves() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    bench.service.change { $0.key = ["Mobile User Id"] }
    try bench.add(bench.check())
    #expect(try bench.reconcile().figures.merged == 1)
    #expect(bench.service.recipients[winner] == ["customer_id": "c-1", "Mobile User Id": userA])
    #expect(
      try bench.store.merges.plans()[0].steps.map(\.name) == [
        .markLoser, .clearIdOnLoser, .moveIdToWinner, .verify, .publishMapping,
      ])
  }

  @Test func followsTheChainOfEarlierMerges() throws {
    let bench = try Bench([
      loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Merged Recipient Id": "900000000303"],
      "900000000303": ["Mobile User Id": "C3"],
    ])
    try bench.add(bench.check())
    #expect(try bench.reconcile().figures.merged == 1)
    #expect(bench.service.recipients[loser]?["Merged Recipient Id"] == "900000000303")
    #expect(try bench.identity() == DeviceIdentity(recipientId: "900000000303", mobileUserId: "C3"))
  }

  @Test func refusesChainsThatAreCyclesOrTooLong() throws {
    for (chain, reason) in [
      (["900000000303": "900000000202"], "the chain of earlier merges is circular"),
      (
        ["900000000303": "900000000304", "900000000304": "900000000305", "900000000305": ""],
        "the chain of earlier merges is longer than Recipient.maxMergeChain"
      ),
      ([:], "the chain of earlier merges ends at a recipient that is gone"),
    ] {
      var recipients = [
        loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Merged Recipient Id": "900000000303"],
      ]
      for (id, next) in chain { recipients[id] = ["Merged Recipient Id": next] }
      let bench = try Bench(recipients, settings: .fixture { $0.recipient.longestMergeChain = 2 })
      try bench.add(bench.check())
      let before = bench.service.recipients
      #expect(try bench.reconcile().figures.conflicts == 1)
      #expect(bench.service.recipients == before)
      let plan = try #require(try bench.store.merges.plans().first)
      #expect(plan.state == .held)
      #expect(plan.reason == reason)
      #expect(try bench.store.identities.devicesWithoutIdentity() == ["d-1"])
    }
  }

  @Test func aRecipientThatWasMergedEarlierIsFollowedFromTheDevicesSideToo() throws {
    let bench = try Bench([
      loser: ["Mobile User Id": userA, "Merged Recipient Id": "900000000303"],
      "900000000303": ["Mobile User Id": userB],
    ])
    try bench.add(bench.check())
    #expect(try bench.reconcile().figures.updated == 1)
    #expect(bench.service.recipients["900000000303"] == ["Mobile User Id": userB, "customer_id": "c-1"])
    #expect(try bench.identity()?.recipientId == "900000000303")
  }

  @Test(arguments: KnownToKnownPolicy.allCases)
  func twoKnownCustomersFollowThePolicy(rule: KnownToKnownPolicy) throws {
    let recipients = [
      loser: ["Mobile User Id": userA, "customer_id": "c-0"],
      winner: ["customer_id": "c-1", "Mobile User Id": userB],
    ]
    let bench = try Bench(recipients, settings: .fixture { $0.recipient.knownToKnown = rule })
    try bench.add(bench.check())
    let result = try bench.reconcile()
    let figures = result.figures
    switch rule {
    case .reassign:
      #expect(bench.service.recipients == recipients)
      #expect(result.reassigned == 1)
      #expect(try bench.identity() == DeviceIdentity(recipientId: winner, mobileUserId: userB))
      // Logging back makes no cycle.
      try bench.add(bench.check(at: 1, emission: 9, [("customer_id", "c-0")]))
      try bench.reconcile()
      #expect(bench.service.recipients == recipients)
      #expect(try bench.identity()?.recipientId == loser)
    case .merge:
      #expect(figures.merged == 1)
      #expect(bench.service.recipients[loser]?["Merged Recipient Id"] == winner)
    case .hold:
      #expect(bench.service.recipients == recipients)
      #expect(figures.conflicts == 1)
      #expect(try bench.store.merges.openPlans().map(\.state) == [.held])
    }
  }

  @Test(arguments: SharedDevicePolicy.allCases)
  func aSharedDeviceFollowsThePolicy(rule: SharedDevicePolicy) throws {
    let bench = try Bench(
      [loser: ["Mobile User Id": userA, "customer_id": "c-0"]], settings: .fixture { $0.recipient.sharedDevice = rule })
    try bench.add(bench.check())
    try bench.reconcile()
    #expect(bench.service.recipients[loser]?["customer_id"] == (rule == .keep ? "c-0" : "c-1"))
    #expect(try bench.store.identities.pendingCheckCount() == 0)
  }

  @Test func textIsComparedByItsBytes() throws {
    // U+00E9 and e with U+0301 are the same Character and different ids.
    let bench = try Bench([loser: ["Mobile User Id": userA, "customer_id": "caf\u{E9}"]])
    try bench.add(bench.check([("customer_id", "cafe\u{301}")]))
    try bench.reconcile()
    #expect(bench.service.recipients[loser]?["customer_id"]?.utf8.elementsEqual("caf\u{E9}".utf8) == true)
    #expect(try bench.store.merges.plans()[0].state == .dropped)
  }

  @Test func badIdsStopTheirCheckOnly() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    let long = String(repeating: "x", count: 4096)
    try bench.add(
      bench.check([("customer_id", "\u{1}")]), bench.check(at: 1, [("customer_id", "")]),
      bench.check(at: 2, [("customer_id", "<&]]>\(long)"), ("loyalty_id", "")]))
    let result = try bench.reconcile()
    #expect(result.figures.checks == 3)
    #expect(bench.service.recipients[loser]?["customer_id"] == "<&]]>\(long)")
    #expect(try bench.store.identities.pendingCheckCount() == 0)
  }

  @Test func aConflictStopsOnePlanAndNotTheRun() throws {
    let bench = try Bench([
      loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"], "900000000303": ["Mobile User Id": "C3"],
    ])
    // Somebody else marks the loser between two steps: before its read for CLEAR_ID_ON_LOSER.
    bench.service.change { state in
      state.before[5] = { $0.recipients[loser]?["Mobile User Id"] = "somebody else's" }
    }
    try bench.add(
      bench.check(), bench.check(at: 1, emission: 9, [("loyalty_id", "y")]),
      bench.check("d-2", at: 2, recipient: "900000000303", user: "C3", [("customer_id", "c-2")]))
    let result = try bench.reconcile()
    #expect(result.figures.conflicts == 1)
    #expect(result.figures.updated == 1)
    #expect(bench.service.recipients["900000000303"]?["customer_id"] == "c-2")
    #expect(try bench.store.merges.openPlans().map(\.state) == [.conflict])
    #expect(try bench.store.identities.pendingCheckCount() == 2)
    // The next run leaves it alone; an operator who has repaired the recipient resumes it.
    bench.service.restart()
    bench.service.change { $0.before = [:] }
    #expect(try bench.reconcile().figures.checks == 0)
    bench.service.change { $0.recipients[loser]?["Mobile User Id"] = userA }
    #expect(try bench.reconciler.resume().figures.merged == 1)
    #expect(try bench.reconcile().figures.updated == 1)
    #expect(bench.service.recipients[winner]?["loyalty_id"] == "y")
  }

  @Test func anAcknowledgedWriteThatWasNotMadeIsMadeAgain() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    bench.service.change { $0.silentlyIgnored = 1 }
    try bench.add(bench.check())
    #expect(try bench.reconcile().figures.merged == 1)
    #expect(bench.service.recipients[loser] == ["Merged Recipient Id": winner, "Merged Date": nowText])
  }

  @Test func columnsThatDoNotHoldWhatWasWrittenAreNamed() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA]])
    bench.service.change { $0.silentlyIgnored = .max }
    try bench.add(bench.check())
    #expect(try bench.reconcile().figures.conflicts == 1)
    #expect(
      try bench.store.merges.plans().map(\.reason)
        == ["VERIFY: the service did not keep the values written to 'customer_id'"])
  }

  @Test func aRefusedAuditRowTakesTheMergeBack() throws {
    let before = [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]]
    let bench = try Bench(before, settings: .fixture(audit: true))
    bench.service.change { $0.refusedRows = true }
    try bench.add(bench.check())
    let result = try bench.reconcile()
    #expect(result.figures.merged == 0)
    #expect((result.figures.refused, result.figures.conflicts) == (1, 0))
    #expect(bench.service.recipients == before)
    #expect(try bench.store.merges.plans().map(\.state) == [.refused])
    // The check stays, so that it is made when the table is in order.
    #expect(try bench.store.identities.pendingCheckCount() == 1)
  }

  @Test func undoGoesBackAndTheMergeIsNotRepeated() throws {
    let before = [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]]
    let bench = try Bench(before, settings: .fixture(audit: true))
    try bench.add(bench.check())
    try bench.reconcile()
    let plan = try #require(try bench.store.merges.plans().first)
    #expect(try bench.reconciler.undo(plan.id).figures.conflicts == 0)
    #expect(bench.service.recipients == before)
    #expect(bench.service.rows == [:])
    #expect(try bench.identity() == DeviceIdentity(recipientId: loser, mobileUserId: userA))
    try bench.add(bench.check(at: 1, emission: 9))
    #expect(try bench.reconcile().figures.decidedByPolicy == 1)
    #expect(bench.service.recipients == before)
    #expect(throws: CommandError.ended(plan.id, .undone)) { try bench.reconciler.undo(plan.id) }
  }

  /// What an operator wants was told by the plan's reason, which a conflict on the way back overwrites.
  @Test func anUndoThatAConflictStoppedIsStillTheOperatorsWhenItIsResumed() throws {
    let before = [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]]
    let bench = try Bench(before)
    try bench.add(bench.check())
    try bench.reconcile()
    bench.service.change { $0.recipients[loser]?["Merged Recipient Id"] = "somebody else's" }
    #expect(try bench.reconciler.undo(1).figures.conflicts == 1)
    #expect(try bench.store.merges.openPlans().map(\.state) == [.conflict])
    bench.service.change { $0.recipients[loser]?["Merged Recipient Id"] = winner }
    _ = try bench.reconciler.resume()
    #expect(try bench.store.merges.plans().map(\.state) == [.undone])
    #expect(try bench.store.merges.plans().map(\.undoCause) == [.operator])
    #expect(bench.service.recipients == before)
    try bench.add(bench.check(at: 1, emission: 9))
    #expect(try bench.reconcile().figures.decidedByPolicy == 1)
    #expect(bench.service.recipients == before)
  }

  @Test func anEarlierMergeCannotBeUndoneBeforeALaterOne() throws {
    let third = "900000000303"
    let bench = try Bench([
      loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"],
      third: ["loyalty_id": "y-1", "Mobile User Id": userB],
    ])
    try bench.add(bench.check(), bench.check(at: 1, emission: 9, [("loyalty_id", "y-1")]))
    #expect(try bench.reconcile().figures.merged == 2)
    let mark = bench.service.recipients
    #expect(throws: CommandError.later(1, 2)) { try bench.reconciler.undo(1) }
    #expect(bench.service.recipients == mark)
    _ = try bench.reconciler.undo(2)
    _ = try bench.reconciler.undo(1)
    #expect(bench.service.recipients[loser] == ["Mobile User Id": userA])
  }
}
