import BatchFoundation
import BatchReport
import BatchSandbox
import BatchStore
import BatchWire
import EngageRules
import Testing

@testable import Engage

/// The same decisions over the wire: the real client, the real answers, real faults.
@Suite(.serialized) struct SandboxTests {
  private static let action: [(name: String, point: FaultPoint, action: FaultAction)] = [
    ("fault", .body, .fault(id: 50, text: nil, errorClass: "SP.API")),
    ("throttled", .body, .fault(id: 50, text: "max number of concurrent requests", errorClass: "")),
    ("lost request", .headers, .close), ("lost answer", .applied, .reset),
    ("cut answer", .applied, .truncate(bytes: 40)),
    ("empty answer", .applied, .empty), ("page of a proxy", .applied, .garbage(status: 502)),
    ("unavailable", .body, .status(503, headers: ["Retry-After": "1"], body: "")),
    ("expired token", .body, .expireToken),
  ]

  /// They contradict what is read: "the recipient is gone" was said of somebody who answered.
  @Test(arguments: [(123, "UpdateRecipient", "not yet synchronised"), (122, "AddRecipient", "the key is reserved")])
  func aFaultThatContradictsTheReadingHasTheWordsOfTheService(id: Int, operation: String, words: String) throws {
    try withSandbox(.identities([900_000_000_101: ["Mobile User Id": userA]])) { server in
      server.setFaults(
        FaultPlan(rules: [
          FaultRule(operation: operation, action: .fault(id: id, text: words, errorClass: "SP.Recipient"))
        ]))
      let bench = try SandboxBench(server, settings: .fixture(audit: true))
      try bench.add([id == 122 ? Bench().check(recipient: "", user: "") : Bench().check()])
      let result = try bench.reconciler.reconcile()
      #expect([result.figures.refused, result.figures.updated, result.figures.conflicts] == [1, 0, 0])
      let plan = try #require(try bench.store.merges.openPlans().first)
      #expect(plan.state == .refused)
      #expect(plan.reason.contains("(error \(id), ") && plan.reason.contains(": \(words)"), "\(plan.reason)")
    }
  }

  /// A part of one person's value was quoted, and each run ended with 77.
  @Test(arguments: ["UpdateRecipient", nil])
  func aSentenceThatRefusesOneCallAloneEndsNoRun(operation: String?) throws {
    try withSandbox(.identities([900_000_000_101: ["Mobile User Id": userA]])) { server in
      let fault = FaultAction.fault(id: 313, text: "no date: access token has expired in", errorClass: "SP.API")
      server.setFaults(FaultPlan(rules: [FaultRule(endpoint: .xmlapi, operation: operation, action: fault)]))
      let bench = try SandboxBench(server, settings: .fixture(audit: true))
      try bench.add([Bench().check()])
      let result = try bench.reconciler.reconcile()
      guard operation != nil else {
        guard case .stopped(.credentials, _) = result.failure else {
          Issue.record("\(String(describing: result.failure))")
          return
        }
        return
      }
      #expect(result.failure == nil)
      #expect([result.figures.refused, result.figures.updated, result.figures.conflicts] == [1, 0, 0])
      let plan = try #require(try bench.store.merges.openPlans().first)
      #expect(plan.reason.contains("the service refuses only this call: "), "\(plan.reason)")
    }
  }

  @Test func everyScenarioSurvivesEveryFaultAtEveryCall() throws {
    var runs = 0
    let kinds = SweepTests.Kind.allCases.filter { $0 != .s2KeyedByUser }
    for (turn, kind) in kinds.enumerated() {
      let this = SweepTests.Case(kind: kind, history: true, audit: true)
      let model = try SweepTests.Trial(Bench(), this, number: 1)
      var seed: [Int64: [String: String]] = [:]
      for (id, values) in model.before { seed[try #require(Int64(id))] = values }
      // Each fault meets one of the kinds, unless all are asked for.
      for (place, (name, point, action)) in Self.action.enumerated()
      where SweepTests.sweepsAll || place % kinds.count == turn {
        var number = 1
        while true {
          let fired = try withSandbox(.identities(seed)) { server in
            server.setFaults(
              FaultPlan(rules: [
                FaultRule(endpoint: .xmlapi, occurrence: .nth([number]), point: point, action: action)
              ]))
            let bench = try SandboxBench(server, settings: .fixture(audit: true))
            try bench.add([Bench().check(recipient: model.loser)])
            let result = try bench.reconciler.reconcile()
            #expect(result.failure == nil, "\(kind) \(name) \(number)")
            #expect(bench.recipients == model.after, "\(kind) \(name) \(number)")
            #expect(bench.rows.count == model.rows.count, "\(kind) \(name) \(number)")
            let plan = try #require(try bench.store.merges.plans().last)
            _ = try bench.reconciler.undo(plan.id)
            #expect(bench.recipients == model.before, "\(kind) \(name) \(number) undone")
            #expect(bench.rows.isEmpty, "\(kind) \(name) \(number) undone")
            runs += 1
            return server.faultsFired == [1]
          }
          if !fired { break }
          number += 1
        }
      }
    }
    print("sandbox sweep: \(runs) runs")
  }

  @Test func setUpsLeaveNoOrphansWhateverIsLost() throws {
    for (name, point, action) in Self.action {
      try withSandbox(.identities([:])) { server in
        // The operation is known once the body is read.
        let rule = FaultRule(
          endpoint: .xmlapi, operation: "AddRecipient", occurrence: .every(2), point: point == .headers ? .body : point,
          action: action)
        server.setFaults(FaultPlan(rules: [rule]))
        let bench = try SandboxBench(server, settings: .fixture())
        try bench.store.identities.note(
          (0..<10).map {
            DeviceSetup(device: "d-\($0)", firstSeen: now + Milliseconds($0), mobileUserId: "", recipientId: "")
          })
        let result = try bench.reconciler.reconcile()
        #expect(result.failure == nil)
        #expect(bench.recipients.count == 10, "\(name)")
        let ids = try (0..<10).map { try bench.store.identities.identity(of: "d-\($0)")?.recipientId }
        #expect(ids == (0..<10).map { "\(900_000_000_101 + $0)" }, "\(name)")
        #expect(try bench.store.identities.devicesWithoutIdentity().isEmpty)
      }
    }
  }

  /// The store is lost, or another one is filled from the same exports or from later ones.
  @Test func aListThatKnowsTheDevicesGetsNoSecondRecipients() throws {
    let known: Int64 = 900_000_000_090
    try withSandbox(.identities([known: ["customer_id": "c-1", "Mobile User Id": userB]])) { server in
      for round in 1...2 {
        let bench = try SandboxBench(server, settings: .fixture())
        try bench.store.identities.note(
          (0..<3).map {
            DeviceSetup(device: "d-\($0)", firstSeen: now + Milliseconds($0), mobileUserId: "", recipientId: "")
          })
        // The merge is in the first store only, and in the list.
        if round == 1 { try bench.add([Bench().check(recipient: "", user: "")]) }
        let result = try bench.reconciler.reconcile()
        #expect(result.failure == nil)
        #expect([result.figures.created, result.figures.merged] == (round == 1 ? [3, 1] : [0, 0]))
        #expect(
          bench.recipients.keys.sorted() == ["\(known)", "900000000101", "900000000102", "900000000103"])
        let recipients = try (0..<3).map { try bench.store.identities.identity(of: "d-\($0)")?.recipientId }
        #expect(recipients == ["900000000101", "\(known)", "900000000103"])
        #expect(server.totals.operations["AddRecipient"] == 3)
      }
    }
  }

  @Test func withoutMarksASetUpIsOneCall() throws {
    try withSandbox(.identities([:])) { server in
      for round in 1...2 {
        let bench = try SandboxBench(server, settings: .fixture(history: false))
        try bench.store.identities.note([DeviceSetup(device: "d-1", firstSeen: now, mobileUserId: "", recipientId: "")])
        #expect(try bench.reconciler.reconcile().failure == nil)
        #expect(bench.recipients.count == 1)
        #expect(server.totals.operations == ["GetListMetaData": round, "AddRecipient": round])
      }
    }
  }

  @Test func aProposalFindsWhatTheListKnows() throws {
    try withSandbox(.identities([:])) { server in
      var proposals: [IdentityChangePlan] = []
      for _ in 1...2 {
        let bench = try SandboxBench(server, settings: .fixture())
        try bench.store.identities.note([DeviceSetup(device: "d-1", firstSeen: now, mobileUserId: "", recipientId: "")])
        try bench.add([Bench().check(recipient: "", user: "")])
        let changePlan = try bench.reconciler.changePlan(inputs: "digest")
        proposals.append(changePlan)
        let result = try bench.reconciler.reconcile(changePlan, inputs: "digest")
        #expect(result.failure == nil)
        #expect(result.figures.conflicts == 0)
        #expect(bench.recipients.count == 1)
      }
      #expect(proposals.map { $0.changes.contains { $0.rule == "ADD_RECIPIENT" } } == [true, false])
      #expect(proposals[0].changes.first { $0.rule == "ADD_RECIPIENT" }?.device == "d-1", "whose recipient it is")
      #expect(proposals[1].changes.isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func aProposalFollowsTheMergesThatTheListKnows(marks: Bool) throws {
    let user = AutomaticMobileUserId.id(of: "d-1")
    let recipients: [Int64: [String: String]] = [
      900_000_000_080: ["Mobile User Id": user, "Merged Recipient Id": "900000000090"],
      900_000_000_090: ["customer_id": "c-1", "Mobile User Id": userB],
    ]
    try withSandbox(.identities(recipients)) { server in
      let bench = try SandboxBench(server, settings: .fixture(history: marks))
      try bench.store.identities.note([DeviceSetup(device: "d-1", firstSeen: now, mobileUserId: "", recipientId: "")])
      try bench.add([Bench().check(recipient: "", user: "", [("loyalty_id", "l-1")])])
      let changePlan = try bench.reconciler.changePlan(inputs: "digest")
      #expect(changePlan.changes.filter { $0.rule == "SET_IDS" }.map(\.target) == ["900000000090"])
      let result = try bench.reconciler.reconcile(changePlan, inputs: "digest")
      #expect(result.figures.conflicts == 0)
      #expect(result.figures.updated == 1)
      #expect(bench.recipients["900000000090"]?["loyalty_id"] == "l-1")
    }
  }

  /// Devices, known customers and their checks, of all scenarios in turn.
  private func mixture(_ count: Int) -> (recipients: [Int64: [String: String]], checks: [IdentityCheck]) {
    var recipients: [Int64: [String: String]] = [:]
    var checks: [IdentityCheck] = []
    for number in 0..<count {
      let own = Int64(900_000_100_000 + 2 * number)
      recipients[own] = ["Mobile User Id": "U-\(number)"]
      switch number % 5 {
      case 0: break
      case 1: recipients[own]?["customer_id"] = "c-\(number)"
      case 2: recipients[own] = ["customer_id": "c-\(number)"]
      case 3: recipients[own + 1] = ["customer_id": "c-\(number)"]
      default: recipients[own + 1] = ["customer_id": "c-\(number)", "Mobile User Id": "W-\(number)"]
      }
      checks.append(
        IdentityCheck(
          device: "d-\(number)", timestamp: now + Milliseconds(Int64(number)), emission: 1,
          ids: [ColumnValue("customer_id", "c-\(number)")], mobileUserId: "U-\(number)",
          anonymousId: "", recipientId: "\(own)"))
    }
    return (recipients, checks)
  }

  @Test func aFaultyRunOnManyThreadsEndsLikeACleanOne() throws {
    let (recipients, checks) = mixture(200)
    func end(_ faults: FaultPlan) throws -> ([String: [String: String]], Set<[String: String]>, RunSummary.Identity) {
      try withSandbox(.identities(recipients)) { server in
        server.setFaults(faults)
        var bench = try SandboxBench(server, settings: .fixture(audit: true) { $0.concurrency = 4 })
        bench.tries = 30
        try bench.add(checks)
        let result = try bench.reconciler.reconcile()
        #expect(result.failure == nil)
        #expect(try bench.store.identities.pendingCheckCount() == 0)
        return (bench.recipients, Set(bench.rows), result.figures)
      }
    }
    let clean = try end(FaultPlan())
    let share = FaultRule.Occurrence.probability(0.05)
    let faulty = try end(
      FaultPlan(
        seed: 7,
        rules: Self.action.filter { $0.name != "unavailable" && $0.name != "expired token" }.map {
          FaultRule(endpoint: .xmlapi, occurrence: share, point: $0.point, action: $0.action)
        }))
    #expect(clean.0 == faulty.0)
    #expect(clean.1 == faulty.1)
    #expect(clean.2 == faulty.2)
    #expect(clean.2.checks == 200)
    #expect(clean.2.merged == 80)
    #expect(clean.2.auditRows == 80)
    #expect(clean.2.updated == 80)
  }

  /// Prints calls per scenario, and how much of what latency and calls allow is reached: no bound, because the machine may be busy.
  /// `ENGAGE_BENCHMARK_CHECKS` sets the number.
  @Test func usesTheTimeThatLatencyLeaves() throws {
    let count = environment("ENGAGE_BENCHMARK_CHECKS").flatMap { Int($0) } ?? 100
    let (recipients, checks) = mixture(count)
    try withSandbox(.identities(recipients)) { server in
      let folder = "/tmp/engage-identity-\(uptimeMilliseconds())"
      let store = try EventStore.open(folder + ".sqlite", format: .engage)
      let bench = try SandboxBench(server, store: store, settings: .fixture(audit: true) { $0.concurrency = 4 })
      try bench.add(checks)
      server.setFaults(FaultPlan(latencyMilliseconds: 20))
      let before = server.totals
      let start = uptimeMilliseconds()
      let result = try bench.reconciler.reconcile()
      let elapsed = uptimeMilliseconds() - start
      #expect(result.figures.checks == count)
      let after = server.totals
      let calls = after.operations.values.reduce(0, +) - before.operations.values.reduce(0, +)
      let ideal = Int64(calls) * 20 / 4
      let share = Double(ideal) / Double(elapsed)
      print("benchmark: \(count) checks, \(calls) calls, \(elapsed) ms, ideal \(ideal) ms, ratio \(share)")
      for (name, number) in after.operations.sorted(by: { $0.key < $1.key }) { print("benchmark:   \(name) \(number)") }
    }
  }
}
