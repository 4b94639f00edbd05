import BatchFoundation
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
  /// Hands every device to `body`, by its id: whom it recorded one after the other, each with the recipients that were merged and the one
  /// that stays.
  package func forEachIdentity(_ body: (ExportedIdentity) throws -> Void) throws {
    try connection.readIdentities(orElse: ()) { db in
      let devices = try String.fetchCursor(db, sql: "SELECT DISTINCT device FROM identity_device ORDER BY device")
      while let device = try devices.next() {
        var who = try WhoIsWho(db)
        let history = try who.history(of: device)
        for (place, (before, now)) in history.enumerated() {
          // Of one who comes back, and of one who is renamed, the last time counts.
          guard
            !history[(place + 1)...].contains(where: {
              !now.recipientId.isEmpty && $0.now.recipientId.isIdentical(to: now.recipientId)
            })
          else { continue }
          let chain = before + [now]
          for (place, identity) in chain.enumerated() {
            try body(
              ExportedIdentity(
                device: device, mobileUserId: identity.mobileUserId, recipientId: identity.recipientId,
                mergedInto: place + 1 < chain.count ? chain[place + 1].recipientId : ""))
          }
        }
      }
    }
  }
}
