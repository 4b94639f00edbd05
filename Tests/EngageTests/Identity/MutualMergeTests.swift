import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules
import Glibc
import RecipientModel
import Testing

@testable import Engage

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

  /// Found by a check from outside: 45 of 48 pairs ended as a cycle that neither store knew of.
  @Test(arguments: 1...4) func twoProgramsAtOnceLeaveNoCycleUnnoticed(seed: UInt64) throws {
    let pairs = 0..<12
    func id(_ pair: Int, _ side: Int) -> String { "\(900_000_001_000 + 2 * pair + side)" }
    let pauses = Guarded(SplitMix64(seed: seed))
    let people = pairs.flatMap { pair in
      (0..<2).map {
        (id(pair, $0), ["Mobile User Id": "user-\(pair)-\($0)", "customer_id": "c-\(pair)-\($0)"])
      }
    }
    let service = ModelService(
      Dictionary(uniqueKeysWithValues: people),
      delay: { _ in usleep(pauses.withLock { UInt32($0.next() % 2_000) }) })
    let benches = try (0..<2).map { side in
      let bench = try Bench(
        settings: .fixture(audit: true) {
          $0.concurrency = 3
          $0.recipient.knownToKnown = .merge
        }, service: service)
      for pair in pairs {
        try bench.add(
          bench.check(
            "d-\(pair)", at: Int64(pair), emission: Int64(pair + 5), recipient: id(pair, side),
            user: "user-\(pair)-\(side)",
            [("customer_id", "c-\(pair)-\(1 - side)")]))
      }
      return bench
    }
    try Threads.run(2) { side in
      let result = try benches[side].reconcile()
      #expect(result.failure == nil && result.figures.checks == pairs.count)
    }
    let plans = try benches.map { try $0.store.merges.plans() }
    for pair in pairs {
      let marks = (0..<2).map { service.recipients[id(pair, $0)]?["Merged Recipient Id"] ?? "" }
      let states = plans.flatMap { $0.filter { $0.device == "d-\(pair)" }.map(\.state) }
      #expect(marks.contains { !$0.isEmpty })
      #expect(states.count { $0 == .done && !marks.contains("") } <= 1, "\(states)")
      #expect(states.contains(.conflict) == !marks.contains(""), "\(states) \(marks)")
    }
    // Each merge that was made has its row, and no other has one.
    #expect(service.rows.count == plans.joined().count { $0.state == .done && $0.index(of: .audit) != nil })
  }
}
