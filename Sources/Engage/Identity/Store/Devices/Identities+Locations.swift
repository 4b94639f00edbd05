package import BatchFoundation
import BatchStore
package import EngageRules
import GRDB

extension Identities {
  /// Returns the last known locations pending for a database update, by device.
  package func pendingLocations() throws -> [LastKnownLocation] {
    try connection.readIdentities(orElse: []) { db in
      try Row.fetchAll(
        db,
        sql:
          "SELECT device, mobile_user_id, recipient_id, address, at FROM location_update ORDER BY device, mobile_user_id"
      ).map { row in
        try LastKnownLocation(
          device: row.value("device"), mobileUserId: row.value("mobile_user_id"),
          recipientId: row.value("recipient_id"), address: row.value("address"), at: row.value("at"))
      }
    }
  }

  /// Returns the time and the device of the newest location written to a recipient; nil for none.
  package func writtenLocation(on recipient: String) throws -> (at: Instant, device: String)? {
    try connection.readIdentities(orElse: nil) { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT at, device FROM location_written WHERE recipient_id = ?"),
        arguments: [recipient]
      ).map { try ($0.value("at"), $0.value("device")) }
    }
  }

  /// Removes updates that need no further call; newer ones that have arrived meanwhile stay.
  ///
  /// - Parameter written: The update that the service now has, and its recipient; nil if nothing was written.
  package func finishLocations(
    _ locations: [LastKnownLocation], written: (location: LastKnownLocation, recipient: String)? = nil
  ) throws {
    try connection.writeTogether { db in
      for location in locations {
        try db.execute(
          sql: "DELETE FROM location_update WHERE device = ? AND mobile_user_id = ? AND at <= ?",
          arguments: [location.device, location.mobileUserId, location.at.milliseconds])
      }
      guard let written else { return }
      try db.execute(
        sql: "INSERT OR REPLACE INTO location_written (recipient_id, at, device) VALUES (?, ?, ?)",
        arguments: [written.recipient, written.location.at.milliseconds, written.location.device])
    }
  }
}
