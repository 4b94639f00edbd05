import BatchFoundation
import BatchReport
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// Contact lists, programs and consent of recipients, under faults and kills (reference identity 5.7).
@Suite("Instructions for a recipient") struct InstructionTests {
  private static let instructions: [ContactInstruction] = [.contactList("60001"), .program("70001"), .optOut, .optIn]

  private func bench() throws -> Bench {
    var bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    bench.tries = 3
    return bench
  }

  private func instruction(_ instruction: ContactInstruction, at time: Int64 = 10, emission: Int64 = 7) -> IdentityCheck
  {
    IdentityCheck(
      device: "d-1", timestamp: now + Milliseconds(time), emission: emission, instruction: instruction, ids: [],
      mobileUserId: userA, anonymousId: "", recipientId: loser)
  }

  private func add(_ instruction: ContactInstruction, to bench: Bench) throws {
    if instruction == .optIn { bench.service.change { $0.optedOut = [loser] } }
    try bench.add(self.instruction(instruction))
  }

  private func isMade(_ instruction: ContactInstruction, _ service: ModelService, of recipient: String = loser) -> Bool
  {
    switch instruction {
    case .contactList(let id): service.contactLists[id] == [recipient]
    case .program(let id): service.programs[id] == [recipient: 1]
    case .optOut: service.optedOut == [recipient]
    case .optIn: service.optedOut.isEmpty
    }
  }

  @Test("Each is made once, and a later run makes nothing again", arguments: instructions)
  func once(instruction: ContactInstruction) throws {
    let bench = try bench()
    try add(instruction, to: bench)
    let result = try bench.reconcile()
    #expect(isMade(instruction, bench.service))
    #expect((result.figures.updated, result.figures.checks, result.figures.conflicts) == (1, 0, 0))
    #expect(try bench.store.merges.plans().map(\.state) == [.done])
    #expect(try bench.store.merges.plans()[0].scenario == instruction.step.scenario)
    bench.service.restart()
    #expect(try bench.reconcile().figures.updated == 0)
    #expect(bench.service.calls.filter(\.isWrite).isEmpty)
  }

  @Test("Somebody who is so already is not asked for")
  func unneeded() throws {
    let bench = try bench()
    try bench.add(instruction(.optIn))
    #expect(try bench.reconcile().figures.updated == 0)
    #expect(bench.service.calls.filter(\.isWrite).isEmpty)
    #expect(try bench.store.merges.plans().isEmpty)
    #expect(try bench.store.identities.pendingCheckCount() == 0)
  }

  @Test("It concerns the recipient of its moment: before a merge the one that goes up, afterwards the one that stays")
  func moment() throws {
    let bench = try bench()
    try bench.add(
      instruction(.contactList("1"), at: -10, emission: 3), bench.check(at: 0), instruction(.contactList("2"), at: 10),
      instruction(.optOut, at: 20, emission: 8))
    let result = try bench.reconcile()
    #expect((result.figures.merged, result.figures.updated) == (1, 3))
    #expect(bench.service.contactLists == ["1": [loser], "2": [winner]])
    #expect(bench.service.optedOut == [winner])
  }

  /// Every call is lost, answered with a fault or applied without an answer; every change of the store is a kill.
  @Test("After any fault or kill it is made exactly once, or a person is asked", arguments: instructions)
  func faults(instruction: ContactInstruction) throws {
    // That a network puts a recipient into a program twice, nobody can keep it from. What is refused for good has tests of its own.
    let all = if case .program = instruction { Injection.inVectors } else { Injection.allCases }
    let injections = all.filter { $0 != .refused }
    for injection in injections {
      for call in 1...6 {
        let bench = try bench()
        try add(instruction, to: bench)
        bench.service.restart([call: injection])
        do {
          var reconciler = bench.reconciler
          reconciler.interruption = Killer(bench.service).interruption
          _ = try reconciler.reconcile()
        } catch is Killed {}
        try settle(instruction, bench, "\(injection) at call \(call)")
      }
    }
    for point in [KillPoint.beforeJournal, .afterJournal] {
      for change in 1...6 {
        let bench = try bench()
        try add(instruction, to: bench)
        do {
          var reconciler = bench.reconciler
          reconciler.interruption = Killer(bench.service, at: change, point: point).interruption
          _ = try reconciler.reconcile()
        } catch is Killed {}
        try settle(instruction, bench, "killed at change \(change), \(point)")
      }
    }
  }

  private func settle(_ instruction: ContactInstruction, _ bench: Bench, _ what: String) throws {
    bench.service.restart()
    try bench.reconcile()
    let plan = try #require(bench.store.merges.plans().last)
    if case .program(let id) = instruction, plan.state == .conflict {
      // It was perhaps begun, and is not begun again unless somebody says so.
      #expect((bench.service.programs[id]?[loser] ?? 0) <= 1, "\(what)")
      #expect(
        plan.reason
          == "ADD_TO_PROGRAM: the outcome of the request is unknown; the recipient may already be in the program",
        "\(what)")
      bench.service.restart()
      #expect(try bench.reconcile().figures.updated == 0)
      #expect(bench.service.calls.filter(\.isWrite).isEmpty, "\(what)")
      bench.service.change { $0.programs = [:] }
      _ = try bench.reconciler.resume(plan.id)
    }
    #expect(isMade(instruction, bench.service), "\(what)")
    #expect(try bench.store.merges.plans().map(\.state) == [.done], "\(what)")
    #expect(try bench.store.identities.pendingCheckCount() == 0, "\(what)")
  }

  @Test("What the service refuses waits for a person; the device's other work goes on")
  func refused() throws {
    let bench = try bench()
    try bench.add(
      instruction(.program("0"), at: -10, emission: 3), bench.check(), instruction(.optOut, at: 20, emission: 8))
    let result = try bench.reconcile()
    #expect((result.figures.conflicts, result.figures.merged, result.figures.updated) == (1, 1, 1))
    #expect(bench.service.optedOut == [winner])
    #expect(try bench.store.identities.devicesWithoutIdentity() == [])
    let plan = try #require(bench.store.merges.openPlans().first)
    #expect(plan.reason.hasPrefix("ADD_TO_PROGRAM: "))
    // Not night after night.
    bench.service.restart()
    #expect(try bench.reconcile().figures.conflicts == 0)
    #expect(bench.service.calls.isEmpty)
    try IdentityReconciler.abandon(plan.id, in: bench.store, now: now)
    #expect(try bench.store.identities.pendingCheckCount() == 0)
  }

  @Test("An opt-out is taken back; lists and programs cannot be")
  func undo() throws {
    let bench = try bench()
    try bench.add(instruction(.optOut), instruction(.contactList("1"), at: 20), instruction(.program("2"), at: 30))
    try bench.reconcile()
    #expect(bench.service.optedOut == [loser])
    _ = try bench.reconciler.undo(1)
    #expect(bench.service.optedOut == [])
    #expect(try bench.store.merges.plan(1)?.state == .undone)
    for plan in [Int64(2), 3] {
      let scenario = try #require(bench.store.merges.plan(plan)?.scenario)
      #expect(throws: CommandError.irreversible(plan, scenario)) {
        try bench.reconciler.undo(plan)
      }
    }
    #expect(try bench.reconcile().figures.updated == 0)
    #expect(bench.service.optedOut == [])
  }

  @Test("A change plan proposes them and is carried out; nothing is asked before")
  func changePlan() throws {
    let bench = try bench()
    try bench.add(instruction(.optOut), instruction(.contactList("60001"), at: 20))
    let plan = try bench.reconciler.changePlan(inputs: "i")
    #expect(
      plan.changes.map { "\($0.rule) \($0.target) \($0.column): \($0.current) -> \($0.new)" } == [
        "OPT_OUT \(loser) OPT_OUT: false -> true", "ADD_TO_CONTACT_LIST \(loser) CONTACT_LIST_ID:  -> 60001",
      ])
    #expect(bench.service.calls.filter(\.isWrite).isEmpty)
    #expect(try bench.store.merges.plans().isEmpty)
    #expect(try bench.reconciler.reconcile(plan, inputs: "i").figures.updated == 2)
    #expect(isMade(.optOut, bench.service) && isMade(.contactList("60001"), bench.service))
  }
}
