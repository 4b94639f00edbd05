import BatchFoundation
import BatchReport
import BatchStore
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// Last known places are changes of a recipient like others: counted, kept with what was there before, and taken back (reference
/// decisions 43).
@Suite struct PlaceTests {
  private func place(_ address: String, at time: Int64, in bench: Bench, of device: String = "d-1") throws {
    var batch = LocalBatch()
    batch.rows = IdentityRows(locations: [
      LastKnownLocation(device: device, recipientId: loser, address: address, at: now + Milliseconds(time))
    ])
    try bench.store.commit(batch, run: bench.run)
  }

  private func address(_ bench: Bench) -> String? { bench.service.recipients[loser]?["Last Location Address"] }

  @Test func aPlaceIsCountedAndItsRecipientKeepsTheLastChange() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA, "Last Location Address": "Elsewhere"]])
    for (night, name) in ["Oslo", "Bergen"].enumerated() {
      try place(name, at: Int64(night), in: bench)
      let result = try bench.reconcile()
      #expect((result.figures.updated, result.locations, result.figures.auditRows) == (1, 1, 0))
      let plans = try bench.store.merges.plans().filter { $0.scenario == .location }
      #expect(plans.count == 1)
      #expect(plans[0].state == .done)
      #expect(plans[0].steps[0].changes[0].before == (night == 0 ? "Elsewhere" : "Oslo"))
      #expect(plans[0].steps[0].changes[0].after == name)
    }
    #expect(try bench.store.merges.openPlans().isEmpty)
    #expect(try bench.store.identities.devicesWithoutIdentity().isEmpty)
  }

  @Test func aPlaceIsTakenBackUnlessSomebodyElseWroteSince() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA, "Last Location Address": "Elsewhere"]])
    try place("Oslo", at: 0, in: bench)
    _ = try bench.reconcile()
    let plan = try #require(try bench.store.merges.plans().last)
    bench.service.change { $0.recipients[loser]?["Last Location Address"] = "Tromso" }
    #expect(try bench.reconciler.undo(plan.id).figures.conflicts == 1)
    #expect(address(bench) == "Tromso")
    bench.service.change { $0.recipients[loser]?["Last Location Address"] = "Oslo" }
    #expect(try bench.reconciler.resume(plan.id).figures.conflicts == 0)
    #expect(address(bench) == "Elsewhere")
    #expect(try bench.store.merges.plan(plan.id)?.state == .undone)
  }

  @Test(arguments: Injection.allCases)
  func aPlaceIsWrittenOnceWhateverFails(injection: Injection) throws {
    for call in 1...5 {
      let bench = try Bench([loser: ["Mobile User Id": userA]])
      try place("Oslo", at: 0, in: bench)
      bench.service.restart([call: injection])
      var reconciler = bench.reconciler
      reconciler.interruption = Killer(bench.service).interruption
      do { _ = try reconciler.reconcile() } catch is Killed {}
      bench.service.restart()
      _ = try bench.reconcile()
      #expect(address(bench) == "Oslo", "\(injection) at \(call)")
      #expect(try bench.store.identities.pendingLocations().isEmpty)
      let plan = try #require(try bench.store.merges.plans().last { $0.scenario == .location })
      _ = try bench.reconciler.undo(plan.id)
      #expect((address(bench) ?? "").isEmpty, "\(injection) at \(call)")
    }
  }

  @Test func aMergeIsUndoneWhereAPlaceWasWrittenSince() throws {
    let bench = try Bench([loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]])
    try bench.add(bench.check())
    _ = try bench.reconcile()
    try place("Oslo", at: 0, in: bench)
    _ = try bench.reconcile()
    let merge = try #require(try bench.store.merges.plans().first { $0.scenario.isMerge })
    #expect(try bench.reconciler.undo(merge.id).figures.conflicts == 0)
    #expect(try bench.store.merges.plan(merge.id)?.state == .undone)
  }
}
