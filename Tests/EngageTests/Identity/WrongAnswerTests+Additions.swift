import BatchFoundation
import BatchReport
import BatchSandbox
import BatchStore
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// Additions that are answered with somebody else's recipient.
extension WrongAnswerTests {
  /// AddRecipient answers with an id that is another user's: the look-up by the mobile user id decides.
  @Test(arguments: [true, false])
  func anAdditionThatNamesSomebodyElseIsLookedUp(once: Bool) throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture(history: false))
      try bench.store.identities.note([DeviceSetup(device: "d-1", firstSeen: now, mobileUserId: "", recipientId: "")])
      _ = try bench.reconciler.reconcile()
      let first = try #require(try bench.store.identities.identity(of: "d-1")?.recipientId)
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(
            endpoint: .xmlapi, operation: "AddRecipient", occurrence: once ? .nth([1]) : .every(1), point: .body,
            action: .stranger(recipient: first))
        ]))
      try bench.store.identities.note(
        [DeviceSetup(device: "d-2", firstSeen: now + Milliseconds(1), mobileUserId: "", recipientId: "")])
      _ = try bench.reconciler.reconcile()
      let second = try #require(try bench.store.identities.identity(of: "d-2")?.recipientId)
      #expect(second == (once ? "900000000102" : ""))
    }
  }

  @Test func afterAnAdditionThatNamesSomebodyElseTheConnectionIsClosed() throws {
    let bench = try Bench(settings: .fixture(history: false))
    try bench.store.identities.note(
      (0..<2).map {
        DeviceSetup(device: "d-\($0)", firstSeen: now + Milliseconds($0), mobileUserId: "", recipientId: "")
      })
    bench.service.change { $0.namedByAdditions = "900000000900" }
    bench.service.restart([2: .stranger])
    #expect(try bench.reconcile().figures.refused == 0)
    #expect(try bench.identity("d-1")?.recipientId == "900000000901")
    #expect(bench.service.callsOnWrong == 0)
  }

  /// A device was added with the recipient, and moved to another: the store knows whose it was.
  @Test func anAdditionThatNamesWhomAnotherDeviceMovedAwayFromIsLookedUp() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    try bench.add(bench.check())
    #expect(try bench.reconcile().figures.merged == 1)
    try bench.store.identities.note([DeviceSetup(device: "d-2", firstSeen: now, mobileUserId: "", recipientId: "")])
    bench.service.change { $0.namedByAdditions = loser }
    // The look-up, and the addition.
    bench.service.restart([2: .stranger])
    let figures = try bench.reconcile().figures
    #expect((figures.created, figures.refused) == (0, 0))
    #expect(try bench.identity("d-2")?.recipientId == "900000000900")
    #expect(bench.service.callsOnWrong == 0)
  }

  /// Two devices have one mobile user id, and a merge of the first has taken it from their recipient and not yet given it to the winner.
  @Test func anAddedRecipientWhoseMobileUserIdIsOnItsWayIsNoStranger() throws {
    let bench = try Bench([winner: ["customer_id": "c-1"]])
    bench.service.change {
      $0.key = ["Mobile User Id"]
      $0.fails = { $0.operation == "UpdateRecipient" && $0.target == winner }
    }
    try bench.store.identities.note(
      ["d-1", "d-2"].map { DeviceSetup(device: $0, firstSeen: now, mobileUserId: userA, recipientId: "") })
    try bench.add(
      bench.check(recipient: ""), bench.check("d-2", at: 1, recipient: "", [("loyalty_id", "l-1")]))
    let first = try bench.reconcile().figures
    // Both record one id, so one recipient is added for both.
    #expect((first.created, first.merged, first.refused) == (1, 0, 0))
    #expect(Set(bench.service.recipients.keys) == [winner, "900000000900"])
    #expect(bench.service.recipients["900000000900"]?["Mobile User Id"] == nil)
    #expect(try bench.identity("d-2")?.recipientId == "900000000900")
    #expect(try bench.store.merges.openPlans().map(\.device) == ["d-1"])
    bench.service.change { $0.fails = nil }
    let figures = try bench.reconcile().figures
    #expect((figures.merged, figures.updated, figures.refused) == (1, 1, 0))
    #expect(try bench.identity("d-2")?.recipientId == winner)
    #expect(bench.service.recipients[winner] == ["customer_id": "c-1", "loyalty_id": "l-1", "Mobile User Id": userA])
  }

  /// The store does not know whom the answer names, so only the recipient itself tells, when it is read.
  @Test(arguments: Wish.allCases, [true, false])
  func anAdditionThatNamesAStrangerIsFoundOutBeforeAnythingIsWritten(wish: Wish, later: Bool) throws {
    try findsOut(Self.list, wish, later)
  }

  /// A customer whom the list has from elsewhere.
  @Test(arguments: Wish.allCases, [true, false])
  func anAdditionThatNamesAStrangerWithoutAMobileUserIdIsFoundOutToo(wish: Wish, later: Bool) throws {
    var list = Self.list
    list[Self.stranger] = ["customer_id": "other"]
    try findsOut(list, wish, later)
  }

  private func findsOut(_ list: [Int64: [String: String]], _ wish: Wish, _ later: Bool) throws {
    try withSandbox(.identities(list)) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      server.setFaults(FaultPlan(rules: [rule("AddRecipient", at: .applied)]))
      try note("d-1", in: bench)
      if later {
        #expect(try bench.reconciler.reconcile().figures.created == 1)
        server.setFaults(FaultPlan())
      }
      try add(wish, to: bench)
      let figures = try bench.reconciler.reconcile().figures
      #expect((figures.refused, figures.conflicts) == (0, 0))
      #expect(bench.recipients["\(Self.stranger)"] == list[Self.stranger])
      let own = try #require(
        bench.recipients.first { $0.value["Mobile User Id"] == AutomaticMobileUserId.id(of: "d-1") })
      let identity = try #require(try bench.store.identities.identity(of: "d-1"))
      #expect(identity.recipientId == own.key)
      server.setFaults(FaultPlan())
      #expect(try bench.database.read(own.key)?.isOptedOut == (wish == .optOut))
      #expect(try bench.database.read("\(Self.stranger)")?.isOptedOut == false)
      switch wish {
      case .merge: #expect(own.key == winner)
      case .ids: #expect(own.value["customer_id"] == "c-9")
      case .place: #expect(own.value["Last Location Address"] == "1 Main St")
      case .optOut: break
      }
      #expect(try bench.store.merges.openPlans().isEmpty)
    }
  }

  /// Nothing was added, and the answer names a stranger: the device has no recipient until a run adds one.
  @Test func anAdditionThatOnlyNamesAStrangerIsRefused() throws {
    try withSandbox(.identities(Self.list)) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      server.setFaults(FaultPlan(rules: [rule("AddRecipient")]))
      try note("d-1", in: bench)
      try add(.merge, to: bench)
      for _ in 0..<2 {
        #expect(try bench.reconciler.reconcile().figures.refused == 1)
        #expect(try bench.store.identities.identity(of: "d-1")?.recipientId == "")
        #expect(try bench.store.identities.awaiting().map(\.device) == ["d-1"])
        #expect(
          try bench.store.merges.openPlans().map(\.reason)
            == ["the service's response does not match the request"])
        #expect(bench.recipients == Dictionary(uniqueKeysWithValues: Self.list.map { ("\($0)", $1) }))
      }
      server.setFaults(FaultPlan())
      #expect(try bench.reconciler.reconcile().figures.merged == 1)
      #expect(bench.recipients[winner]?["Mobile User Id"] == AutomaticMobileUserId.id(of: "d-1"))
      #expect(isUntouched(bench))
    }
  }

  /// "Not a member" answers a look-up: the connection is closed, and a look-up finds the recipient that was added.
  @Test(arguments: [FaultPoint.body, .applied])
  func aNotFoundToAnAdditionIsLookedUp(point: FaultPoint) throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(
            endpoint: .xmlapi, operation: "AddRecipient", occurrence: .nth([1]), point: point,
            action: .fault(id: 128, text: nil, errorClass: "SP.ListManager"))
        ]))
      try note("d-1", in: bench)
      #expect(try bench.reconciler.reconcile().figures.refused == 0)
      #expect(bench.recipients.count == 1)
      #expect(try bench.store.identities.identity(of: "d-1")?.recipientId == bench.recipients.keys.first)
      let calls = server.ledger.filter { !$0.operations.isEmpty }
      let addition = try #require(calls.firstIndex { $0.operations == ["AddRecipient"] })
      #expect(calls[addition].connection != calls[addition + 1].connection)
    }
  }

  @Test func aNotFoundToEachAdditionIsARefusal() throws {
    try withSandbox(.identities([:])) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(
            endpoint: .xmlapi, operation: "AddRecipient",
            action: .fault(id: 128, text: nil, errorClass: "SP.ListManager"))
        ]))
      try note("d-1", in: bench)
      #expect(try bench.reconciler.reconcile().figures.refused == 1)
      #expect(server.ledger.count { $0.operations == ["AddRecipient"] } == 2)
    }
  }
}
