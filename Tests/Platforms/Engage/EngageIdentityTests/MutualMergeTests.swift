import BatchFoundation
import BatchStore
import EngageEvents
import RecipientModel
import Testing

@testable import EngageIdentity

/// Two programs merge the same people in opposite directions (reference decisions 63).
@Suite struct MutualMergeTests {
  private func bench(_ chain: [String: String]) throws -> Bench {
    var recipients = [
      loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Mobile User Id": userB],
    ]
    for (id, _) in chain where recipients[id] == nil { recipients[id] = ["Mobile User Id": id] }
    let bench = try Bench(recipients, settings: .fixture(audit: true))
    try bench.add(bench.check())
    // The other program marks them between this one's mark and its verification.
    bench.service.change { state in
      state.before[4] = { state in
        for (id, mark) in chain { state.recipients[id]?["Merged Recipient Id"] = mark }
      }
    }
    return bench
  }

  @Test(arguments: [[winner: loser], [winner: "900000000303", "900000000303": loser]])
  func theMarkOfTheWinnerIsComparedBeforeTheEnd(chain: [String: String]) throws {
    let bench = try bench(chain)
    #expect(try bench.reconcile().figures.conflicts == 1)
    #expect(try bench.store.merges.openPlans().map(\.state) == [.conflict])
    #expect(bench.service.rows.isEmpty)
    #expect(bench.service.recipients[loser]?["Merged Recipient Id"] == winner)
    #expect(bench.service.recipients[winner]?["Merged Recipient Id"] == chain[winner])
    #expect(try bench.identity()?.recipientId == loser)
    bench.service.restart()
    bench.service.change {
      $0.before = [:]
      $0.recipients[winner]?["Merged Recipient Id"] = ""
    }
    #expect(try bench.reconciler.resume().figures.merged == 1)
    #expect(bench.service.rows.count == 1)
  }

  @Test func aWinnerThatWentUpInAThirdOneIsNoCycle() throws {
    let bench = try bench([winner: "900000000303"])
    #expect(try bench.reconcile().figures.merged == 1)
    #expect(bench.service.rows.count == 1)
  }
}
