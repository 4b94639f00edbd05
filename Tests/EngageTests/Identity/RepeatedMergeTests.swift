import BatchFoundation
import BatchReport
import BatchStore
import RecipientModel
import Testing

@testable import Engage

/// A merge is made once, and has one audit row, however many devices come to it.
@Suite struct RepeatedMergeTests {
  private static let row = ["Old Recipient Id": loser, "New Recipient Id": winner, "Create Date": nowText]

  private func bench(_ winnersUser: String, marks: Bool = true) throws -> Bench {
    try Bench(
      [loser: ["Mobile User Id": userA], winner: ["customer_id": "c-1", "Mobile User Id": winnersUser]],
      settings: .fixture(history: marks, audit: true))
  }

  /// Both record the id whose recipient was merged, and a record that names it means the winner from then on (reference decisions 58).
  @Test(arguments: [true, false], ["", userB])
  func aSecondDeviceOfAMergedPersonMeansTheWinnerWithoutAPlan(marks: Bool, winnersUser: String) throws {
    let bench = try bench(winnersUser, marks: marks)
    try bench.add(bench.check("d-1", at: 0), bench.check("d-2", at: 1))
    let result = try bench.reconcile()
    let figures = result.figures
    #expect((figures.checks, figures.merged, figures.auditRows) == (2, 1, 1))
    #expect((result.reassigned, figures.updated, figures.conflicts, figures.refused) == (0, 0, 0, 0))
    #expect(try bench.store.merges.plans().map(\.device) == ["d-1"])
    #expect(try bench.store.identities.pendingCheckCount() == 0)
    #expect(Array(bench.service.rows.values) == [Self.row])
    let merged = DeviceIdentity(recipientId: winner, mobileUserId: winnersUser.isEmpty ? userA : winnersUser)
    #expect(try bench.identity("d-1") == merged)
    #expect(try bench.identity("d-2") == merged)
    // Nothing stands on the merge, and with it both are who they were.
    _ = try bench.reconciler.undo(1)
    #expect(bench.service.recipients[loser] == ["Mobile User Id": userA])
    #expect(bench.service.rows == [:])
    let before = DeviceIdentity(recipientId: loser, mobileUserId: userA)
    #expect(try bench.identity("d-1") == before)
    #expect(try bench.identity("d-2") == before)
  }

  /// The second device used to make the merge again, under the key of the first one's audit row. Its record is of before the merge, and
  /// comes late: then its recipient was the merged one.
  @Test(arguments: [true, false], ["", userB])
  func aSecondDeviceOfAMergedRecipientMovesOverAndMergesNothing(marks: Bool, winnersUser: String) throws {
    let bench = try bench(winnersUser, marks: marks)
    try bench.add(bench.check("d-1", at: 0))
    let first = try bench.reconcile()
    #expect((first.figures.merged, first.figures.auditRows, first.reassigned) == (1, 1, 0))
    try bench.add(bench.check("d-2", at: -1, emission: 4))
    let second = try bench.reconcile()
    #expect((second.figures.merged, second.figures.auditRows, second.reassigned) == (0, 0, 1))
    #expect(Array(bench.service.rows.values) == [Self.row])
    let merged = DeviceIdentity(recipientId: winner, mobileUserId: winnersUser.isEmpty ? userA : winnersUser)
    #expect(try bench.identity("d-1") == merged)
    #expect(try bench.identity("d-2") == merged)
    let recipients = bench.service.recipients
    #expect(throws: CommandError.later(1, 2)) { try bench.reconciler.undo(1) }
    // It used to delete the row of the merge, which stayed.
    _ = try bench.reconciler.undo(2)
    #expect(bench.service.recipients == recipients)
    #expect(Array(bench.service.rows.values) == [Self.row])
    _ = try bench.reconciler.undo(1)
    #expect(bench.service.recipients[loser] == ["Mobile User Id": userA])
    #expect(bench.service.rows == [:])
  }

  /// Whom a record of after the merge names is the winner, whatever became of the other one; a late one of before it asks again.
  @Test func aMergeThatSomebodyTookBackIsMadeAgainWithARowOfItsOwn() throws {
    let bench = try bench(userB)
    try bench.add(bench.check("d-1"))
    try bench.reconcile()
    bench.service.change { $0.recipients[loser] = ["Mobile User Id": userA] }
    try bench.add(bench.check("d-3", at: 1))
    let later = try bench.reconcile()
    #expect((later.figures.checks, later.figures.merged, later.figures.auditRows, later.reassigned) == (1, 0, 0, 0))
    #expect(try bench.identity("d-3") == DeviceIdentity(recipientId: winner, mobileUserId: userB))
    #expect(bench.service.recipients[loser] == ["Mobile User Id": userA])
    try bench.add(bench.check("d-2", at: -1, emission: 4))
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
