import BatchFoundation
import BatchStore
import GRDB

/// A present or former identity of a device.
package struct ExportedIdentity: Sendable, Equatable {
  package var device: String
  /// The mobile user id; empty for none.
  package var mobileUserId: String
  package var recipientId: String
  /// The recipient that this one was merged into; empty for one that remains.
  package var mergedInto: String
}

extension Identities {
  /// Passes to `body`, by device id, each person that a device recorded in turn: merged recipients and the last one.
  package func forEachIdentity(_ body: (ExportedIdentity) throws -> Void) throws {
    try connection.readIdentities(orElse: ()) { db in
      let devices = try String.fetchCursor(db, sql: "SELECT DISTINCT device FROM identity_device ORDER BY device")
      while let device = try devices.next() {
        var who = try WhoIsWho(db)
        let history = try who.history(of: device)
        for (place, (before, now)) in history.enumerated() {
          // If a person returns or is renamed, the last time counts.
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
