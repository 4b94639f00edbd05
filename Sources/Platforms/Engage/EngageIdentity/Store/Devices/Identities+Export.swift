import BatchStore
import GRDB

/// Who a device was, or is.
package struct ExportedIdentity: Sendable, Equatable {
  package var device: String
  /// Empty for none.
  package var mobileUserId: String
  package var recipientId: String
  /// The recipient that this one was merged into; empty for one that stays.
  package var mergedInto: String
}

extension Identities {
  /// Of a plan: one recipient went up in another.
  private static let isMerged = """
    state = '\(MergeState.done.rawValue)'
    AND scenario IN ('\(MergeScenario.moveMobileUserId.rawValue)', '\(MergeScenario.markMerged.rawValue)')
    """

  /// Hands every device to `body` with its recipient, and with those that it had before they were merged, by device.
  package func forEachIdentity(_ body: (ExportedIdentity) throws -> Void) throws {
    try connection.readIdentities(orElse: ()) { db in
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT d.device, d.mobile_user_id, d.recipient_id, coalesce(m.winner, '') AS winner, 1 AS is_present
          FROM identity_device d
          LEFT JOIN (
            SELECT loser, winner, max(id) FROM merge_plan
            WHERE \(Self.isMerged) GROUP BY loser
          ) m ON m.loser = d.recipient_id
          UNION
          SELECT device, user_before, loser, winner, 0 FROM merge_plan
          WHERE \(Self.isMerged)
          ORDER BY 1, 5, 3
          """)
      while let row = try rows.next() {
        try body(
          ExportedIdentity(
            device: row.value("device"), mobileUserId: row.value("mobile_user_id"),
            recipientId: row.value("recipient_id"), mergedInto: row.value("winner")))
      }
    }
  }
}
