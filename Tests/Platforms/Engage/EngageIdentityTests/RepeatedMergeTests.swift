import BatchFoundation
import BatchStore
import RecipientModel
import Testing

@testable import EngageIdentity

/// A merge is made once, and has one audit row, however many devices come to it.
@Suite struct RepeatedMergeTests {
  private static let row = ["Old Recipient Id": loser, "New Recipient Id": winner, "Create Date": nowText]

  /// The second device used to make the merge again, under the key of the first one's audit row.
  @Test(arguments: [true, false], ["", userB])
  func aSecondDeviceOfAMergedRecipientMovesOverAndMergesNothing(marks: Bool, winnersUser: String) throws {
    let bench = try Bench(
      [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Mobile User Id": winnersUser]],
      settings: .fixture(history: marks, audit: true))
    try bench.add(bench.check("d-1", at: 0), bench.check("d-2", at: 1))
    let figures = try bench.reconcile().figures
    #expect(figures.merged == 1)
    #expect(figures.auditRows == 1)
    #expect(figures.reassigned == 1)
    #expect(Array(bench.service.rows.values) == [Self.row])
    let merged = DeviceIdentity(recipientId: winner, mobileUserId: winnersUser.isEmpty ? userA : winnersUser)
    #expect(try bench.identity("d-1") == merged)
    #expect(try bench.identity("d-2") == merged)
    let recipients = bench.service.recipients
    #expect(throws: IdentityReconciler.OperatorError.later(1, 2)) { try bench.reconciler.undo(1) }
    // It used to delete the row of the merge, which stayed.
    _ = try bench.reconciler.undo(2)
    #expect(bench.service.recipients == recipients)
    #expect(Array(bench.service.rows.values) == [Self.row])
    _ = try bench.reconciler.undo(1)
    #expect(bench.service.recipients[loser] == ["Mobile User Id": userA])
    #expect(bench.service.rows == [:])
  }

  @Test func aMergeThatSomebodyTookBackIsMadeAgainWithARowOfItsOwn() throws {
    let bench = try Bench(
      [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Mobile User Id": userB]],
      settings: .fixture(audit: true))
    try bench.add(bench.check("d-1"))
    try bench.reconcile()
    bench.service.change { $0.recipients[loser] = ["Mobile User Id": userA] }
    try bench.add(bench.check("d-2", at: 1))
    let figures = try bench.reconcile().figures
    #expect(figures.merged == 1)
    #expect(figures.auditRows == 1)
    #expect(bench.service.rows.values.map(\.self) == [Self.row, Self.row])
    #expect(try bench.store.merges.plans().map(\.key).sorted() == bench.service.rows.keys.sorted())
    #expect(bench.service.recipients[loser]?["Merged Recipient Id"] == winner)
    // Rows that stay behind are as many as the merges that were taken back.
    _ = try bench.reconciler.undo(2, keepsAuditHistory: true)
    bench.service.change { $0.recipients[loser]?["Merged Recipient Id"] = winner }
    bench.service.change { $0.recipients[loser]?["Merged Date"] = nowText }
    _ = try bench.reconciler.undo(1, keepsAuditHistory: true)
    #expect(bench.service.rows.count == 4)
    #expect(bench.service.rows.values.count { $0["Old Recipient Id"] == winner } == 2)
  }
}
