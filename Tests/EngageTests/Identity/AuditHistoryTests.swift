import BatchFoundation
import BatchReport
import BatchStore
import EngageRules
import RecipientModel
import Testing

@testable import Engage

/// An undone merge that leaves its audit row and a second one (reference decisions 65).
@Suite struct AuditHistoryTests {
  private static let row = ["Old Recipient Id": loser, "New Recipient Id": winner, "Create Date": nowText]
  private static let counter = ["Old Recipient Id": winner, "New Recipient Id": loser, "Create Date": nowText]
  private static let before = [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1"]]

  private func merged() throws -> Bench {
    let bench = try Bench(Self.before, settings: .fixture(audit: true))
    try bench.add(bench.check())
    try bench.reconcile()
    #expect(Array(bench.service.rows.values) == [Self.row])
    return bench
  }

  private func rows(_ bench: Bench) -> [[String: String]] {
    bench.service.rows.values.sorted { $0["Old Recipient Id", default: ""] < $1["Old Recipient Id", default: ""] }
  }

  @Test func bothRowsStay() throws {
    let bench = try merged()
    #expect(try bench.reconciler.undo(1, keepsAuditHistory: true).figures.conflicts == 0)
    #expect(rows(bench) == [Self.row, Self.counter])
    #expect(bench.service.recipients == Self.before)
  }

  @Test func nothingIsWrittenWhereTheFirstComparisonFails() throws {
    let bench = try merged()
    bench.service.change { $0.recipients[loser]?["Mobile User Id"] = "somebody's" }
    #expect(try bench.reconciler.undo(1, keepsAuditHistory: true).figures.conflicts == 1)
    #expect(rows(bench) == [Self.row])
    #expect(try bench.store.merges.plans().map(\.state) == [.conflict])
  }

  @Test func theRowStaysWhereALaterStepStopsAndTheWayGoesOn() throws {
    let bench = try merged()
    bench.service.change { $0.recipients[winner]?["Mobile User Id"] = "somebody's" }
    #expect(try bench.reconciler.undo(1, keepsAuditHistory: true).figures.conflicts == 1)
    #expect(rows(bench) == [Self.row, Self.counter])
    #expect(try bench.store.merges.plans().map(\.state) == [.undoing])
    bench.service.change { $0.recipients[winner]?["Mobile User Id"] = userA }
    try bench.reconcile()
    #expect(try bench.store.merges.plans().map(\.state) == [.undone])
    #expect(rows(bench) == [Self.row, Self.counter])
    #expect(bench.service.recipients == Self.before)
  }

  @Test func theOptionHoldsForTheNextAttempt() throws {
    let bench = try merged()
    bench.service.change { $0.fails = { $0.operation == "InsertUpdateRelationalTable" } }
    #expect(try bench.reconciler.undo(1, keepsAuditHistory: true).failure != nil)
    #expect(rows(bench) == [Self.row])
    bench.service.change { $0.fails = nil }
    try bench.reconcile()
    #expect(try bench.store.merges.plans().map(\.state) == [.undone])
    #expect(rows(bench) == [Self.row, Self.counter])
  }

  /// The row was deleted, and none was left.
  @Test func theRowStaysWhereTheSecondOneIsRefusedForGood() throws {
    let bench = try merged()
    bench.service.change { $0.refusedRows = true }
    #expect(try bench.reconciler.undo(1, keepsAuditHistory: true).figures.refused == 1)
    #expect(rows(bench) == [Self.row])
    #expect(bench.service.recipients != Self.before)
    #expect(try bench.store.merges.plans().map(\.state) == [.refused])
    bench.service.change { $0.refusedRows = false }
    try bench.reconcile()
    #expect(try bench.store.merges.plans().map(\.state) == [.undone])
    #expect(rows(bench) == [Self.row, Self.counter])
    #expect(bench.service.recipients == Self.before)
  }

  @Test func aRefusedPlanKeepsItsNumber() throws {
    let bench = try Bench(Self.before, settings: .fixture(audit: true))
    bench.service.change { $0.refusedRows = true }
    try bench.add(bench.check())
    for _ in 0..<3 {
      #expect(try bench.reconcile().figures.refused == 1)
      #expect(try bench.store.merges.plans().map(\.id) == [1])
      #expect(try bench.store.merges.openPlans().map(\.state) == [.refused])
      #expect(bench.service.recipients == Self.before)
    }
    bench.service.change { $0.refusedRows = false }
    #expect(try bench.reconciler.resume(1).figures.merged == 1)
    #expect(try bench.store.merges.plans().map(\.state) == [.done])
    #expect(rows(bench) == [Self.row])
  }

  @Test func aColumnOfBlanksIsEmpty() throws {
    let bench = try Bench([
      loser: ["Mobile User Id": userA, "Merged Recipient Id": " "],
      winner: ["customer_id": "c-1", "Mobile User Id": "\t ", "Merged Recipient Id": "  "],
    ])
    try bench.add(bench.check([("customer_id", "c-1"), ("loyalty_id", " ")]))
    #expect(try bench.reconcile().figures.merged == 1)
    #expect(bench.service.recipients[loser] == ["Merged Recipient Id": winner, "Merged Date": nowText])
    #expect(bench.service.recipients[winner]?["Mobile User Id"] == userA)
    #expect(bench.service.recipients[winner]?["loyalty_id"] == nil)
  }
}
