import BatchFoundation
import BatchReport
import BatchSandbox
import BatchStore
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// A service, or something in front of it, that answers about somebody else (reference decisions 36).
@Suite(.serialized) struct WrongAnswerTests {
  static let stranger: Int64 = 900_000_000_303
  static let list: [Int64: [String: String]] = [
    900_000_000_101: ["Mobile User Id": userA],
    900_000_000_202: ["customer_id": "c-1"],
    stranger: ["customer_id": "other", "Mobile User Id": userB],
  ]

  func rule(
    _ operation: String, says text: String? = nil, _ occurrence: FaultRule.Occurrence = .every(1),
    at point: FaultPoint = .body
  ) -> FaultRule {
    FaultRule(
      endpoint: .xmlapi, operation: operation, text: text, occurrence: occurrence, point: point,
      action: .stranger(recipient: "\(Self.stranger)"))
  }

  func isUntouched(_ bench: SandboxBench) -> Bool {
    bench.recipients["\(Self.stranger)"] == Self.list[Self.stranger]
  }

  @Test func aWrongAnswerIsAskedOnceMoreOnAFreshConnection() throws {
    try withSandbox(.identities(Self.list)) { server in
      server.setFaults(FaultPlan(rules: [rule("SelectRecipientData", says: "c-1", .nth([1]))]))
      let bench = try SandboxBench(server, settings: .fixture())
      try bench.add([Bench().check()])
      #expect(try bench.reconciler.reconcile().figures.merged == 1)
      #expect(bench.recipients[winner]?["Mobile User Id"] == userA)
      #expect(isUntouched(bench))
      let connections = server.ledger.filter { $0.operations == ["SelectRecipientData"] }.map(\.connection)
      #expect(connections[0] != connections[1], "\(connections)")
    }
  }

  @Test func aLookUpThatIsAnsweredWithSomebodyElseIsHeld() throws {
    try withSandbox(.identities(Self.list)) { server in
      server.setFaults(FaultPlan(rules: [rule("SelectRecipientData", says: "c-1")]))
      let bench = try SandboxBench(server, settings: .fixture(audit: true))
      let other = try Bench().check("d-2", at: 1, recipient: winner, user: "", [("loyalty_id", "l-1")])
      try bench.add([Bench().check(), other])
      let before = bench.recipients
      let result = try bench.reconciler.reconcile()
      #expect(result.failure == nil)
      #expect(bench.recipients[loser] == before[loser])
      #expect(isUntouched(bench))
      #expect(bench.rows.isEmpty)
      let plan = try #require(try bench.store.merges.openPlans().first)
      #expect(plan.device == "d-1")
      #expect(plan.reason == "the service's response does not match the request")
      #expect(bench.recipients[winner]?["loyalty_id"] == "l-1", "others continue")
      #expect(server.ledger.count { $0.fault != nil } == 2)
    }
  }

  @Test(arguments: [FaultPoint.body, .applied])
  func anUpdateThatNamesSomebodyElseChangesNobodyElse(point: FaultPoint) throws {
    try withSandbox(.identities(Self.list)) { server in
      server.setFaults(FaultPlan(rules: [rule("UpdateRecipient", at: point)]))
      let bench = try SandboxBench(server, settings: .fixture())
      try bench.add([Bench().check()])
      _ = try bench.reconciler.reconcile()
      #expect(isUntouched(bench))
      #expect(try !bench.store.merges.openPlans().isEmpty)
      server.setFaults(FaultPlan())
      let later = try SandboxBench(server, store: bench.store, settings: .fixture())
      _ = try later.reconciler.reconcile()
      _ = try later.reconciler.resume()
      #expect(bench.recipients[winner] == ["customer_id": "c-1", "Mobile User Id": userA])
      #expect(isUntouched(bench))
    }
  }

  /// What a device waits for whose recipient was added a moment ago, or by the run before.
  enum Wish: CaseIterable { case merge, ids, place, optOut }

  func add(_ wish: Wish, to bench: SandboxBench) throws {
    var batch = LocalBatch()
    switch wish {
    case .merge: batch.rows = IdentityRows(checks: [try Bench().check("d-1", recipient: "", user: "")])
    case .ids:
      batch.rows = IdentityRows(checks: [try Bench().check("d-1", recipient: "", user: "", [("customer_id", "c-9")])])
    case .place:
      batch.rows = IdentityRows(locations: [
        LastKnownLocation(device: "d-1", recipientId: "", address: "1 Main St", at: now)
      ])
    case .optOut:
      batch.rows = IdentityRows(checks: [
        IdentityCheck(
          device: "d-1", timestamp: now, emission: 5, instruction: .optOut, ids: [], mobileUserId: "", anonymousId: "",
          recipientId: "")
      ])
    }
    try bench.store.commit(batch, run: bench.run)
  }

  func note(_ device: String, in bench: SandboxBench) throws {
    try bench.store.identities.note(
      [DeviceSetup(device: device, firstSeen: now, mobileUserId: "", recipientId: "")])
  }

  /// A recipient that somebody named is not there: one answer does not settle that, for a check, a merge under way, an instruction or a place.
  @Test(arguments: Wish.allCases, 1...4)
  func aRecipientIsGoneWhenAFreshConnectionSaysSoToo(wish: Wish, read: Int) throws {
    try withSandbox(.identities(Self.list)) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try note("d-1", in: bench)
      _ = try bench.reconciler.reconcile()
      let own = try #require(try bench.store.identities.identity(of: "d-1")?.recipientId)
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(
            endpoint: .xmlapi, operation: "SelectRecipientData", text: own, occurrence: .nth([read]),
            action: .fault(id: 128, text: nil, errorClass: "SP.ListManager"))
        ]))
      try add(wish, to: bench)
      let result = try bench.reconciler.reconcile()
      let figures = result.figures
      #expect((figures.conflicts, figures.refused, result.reassigned) == (0, 0, 0))
      #expect(figures.merged == (wish == .merge ? 1 : 0))
      #expect(figures.updated == (wish == .merge ? 0 : 1))
      #expect(try bench.store.merges.openPlans().isEmpty)
    }
  }

  /// Each answer comes once more while the next request of its connection waits for its own.
  @Test(arguments: [0, 1, 4])
  func aLateRepetitionGivesNobodyAnothersRecipient(milliseconds: Int64) throws {
    let count = 40
    var list: [Int64: [String: String]] = [:]
    for number in 0..<count { list[900_000_001_000 + Int64(number)] = ["customer_id": "c-\(number)"] }
    try withSandbox(.identities(list)) { server in
      server.setFaults(
        FaultPlan(
          latencyMilliseconds: 1,
          rules: [
            FaultRule(
              endpoint: .xmlapi, operation: "SelectRecipientData", occurrence: .every(3), point: .response,
              action: .twice(milliseconds: milliseconds))
          ]))
      let bench = try SandboxBench(server, settings: .fixture { $0.concurrency = 4 })
      try bench.add(
        try (0..<count).map { number in
          try Bench().check("d-\(number)", at: Int64(number), recipient: "", user: "", [("customer_id", "c-\(number)")])
        })
      #expect(try bench.reconciler.reconcile().failure == nil)
      _ = try bench.reconciler.resume()
      for number in 0..<count {
        let recipient = "\(900_000_001_000 + number)"
        #expect(bench.recipients[recipient]?["customer_id"] == "c-\(number)")
        #expect(bench.recipients[recipient]?["Merged Recipient Id"] == nil)
        let found = try #require(try bench.store.identities.identity(of: "d-\(number)")?.recipientId)
        // A late "nobody has these values" names nobody, so no client can tell whose it was: such a device gets a recipient of its own.
        let isAnothers = found != recipient && list.keys.contains { "\($0)" == found }
        #expect(!isAnothers, "device \(number) has \(found), the recipient of another")
      }
    }
  }

  @Test func forgetDeletesNobodyElse() throws {
    try withSandbox(.identities(Self.list)) { server in
      server.setFaults(FaultPlan(rules: [rule("SelectRecipientData")]))
      let bench = try SandboxBench(server, settings: .fixture())
      let erasure = ServiceErasure(
        remote: bench.database, settings: try .fixture(), retryPolicy: bench.reconciler.retryPolicy)
      #expect(throws: RemoteFailure.wrongAnswer) {
        try erasure.erase([PersonID(.mobileUserID, userA)], ServiceTraces())
      }
      #expect(bench.recipients.count == 3)
    }
  }

  /// The service writes its address as EMAIL and as Email, whichever of both a check asks for.
  @Test(arguments: ["EMAIL", "Email"])
  func anAddressIsFoundUnderBothItsNames(name: String) throws {
    try withSandbox(.identities(Self.list)) { server in
      let bench = try SandboxBench(server, settings: .fixture())
      try bench.add([Bench().check([(name, "Ada@Example.test")])])
      let result = try bench.reconciler.reconcile()
      #expect((result.figures.updated, result.figures.conflicts) == (1, 0))
      #expect(bench.recipients[loser]?["EMAIL"] == "Ada@Example.test")
      try bench.add([Bench().check("d-2", at: 1, recipient: winner, user: "", [(name, "Ada@Example.test")])])
      #expect(try bench.reconciler.reconcile().figures.conflicts == 0)
      #expect(try bench.store.identities.identity(of: "d-2")?.recipientId == loser)
    }
  }

  /// The answer to an update that comes once more is no record whose columns are all empty: the id that is to be cleared is still there.
  @Test func aRepeatedAnswerToAChangeIsNoRecord() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    bench.service.change { $0.key = ["Mobile User Id"] }
    try bench.add(bench.check())
    // Look-up, record of the device's recipient, and the mark on it.
    bench.service.restart([3: .repeated])
    let figures = try bench.reconcile().figures
    #expect((figures.merged, figures.refused) == (1, 0))
    #expect(bench.service.recipients[winner]?["Mobile User Id"] == userA)
    #expect(bench.service.recipients[loser]?["Mobile User Id"] == nil)
    #expect(bench.service.callsOnWrong == 0)
  }

  // MARK: What is compared

  private static let column = ColumnValue("customer_id", "c-3")

  private func verdict(
    _ asked: [(String, String)], _ answered: [(String, String)], isWhole: Bool = false, other: Set<String> = []
  ) throws -> RecipientQuestion.Verdict {
    let columns = { (pairs: [(String, String)]) in pairs.map { ColumnValue($0.0, $0.1) } }
    return try RecipientQuestion.columns(columns(asked)).verdict(
      on: RecipientImage(id: "1", columns: columns(answered)), isWhole: isWhole, isText: { !other.contains($0) })
  }

  @Test func textIsComparedWithoutBlanksAndCase() throws {
    #expect(try verdict([("customer_id", "c-3")], [("customer_id", " C-3\n")]) == .answered)
    #expect(try verdict([("customer_id", "c-3")], [("customer_id", "c-4")]) == .another)
    #expect(try verdict([("customer_id", "É")], [("customer_id", "é")]) == .another)
    #expect(try verdict([("Email", "a@b")], [("EMAIL", "A@B")]) == .answered)
    #expect(try verdict([("EMAIL", "a@b")], [("EMAIL", ""), ("Email", "a@b")]) == .answered)
  }

  @Test func whatIsEmptyAbsentOrOfAnotherTypeNeitherProvesNorRefutes() throws {
    let asked = [("customer_id", "c-3"), ("points", "1")]
    #expect(try verdict(asked, []) == .open)
    #expect(try verdict(asked, [("customer_id", "")]) == .open)
    #expect(try verdict(asked, [("points", "1.0")], other: ["points"]) == .open)
    #expect(try verdict(asked, [("customer_id", "c-3"), ("points", "1.0")], other: ["points"]) == .answered)
    #expect(try verdict(asked, [("customer_id", "")], isWhole: true) == .another)
    let itself = RecipientQuestion.recipient("1")
    #expect(try itself.verdict(on: RecipientImage(id: "1", columns: []), isText: { _ in true }) == .another)
  }
}
