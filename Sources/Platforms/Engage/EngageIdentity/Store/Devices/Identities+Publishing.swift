package import BatchFoundation
import BatchStore
package import EngageEvents
import GRDB

/// From this emission number on a device belongs to this recipient; news that came after its events were stored.
package struct IdentityPeriod: Sendable, Equatable {
  package var device: [UInt8]
  package var fromEmission: Int64
  /// Empty leaves the event's own value.
  package var recipientId: String
  package var mobileUserId: String
  /// Only events that name no recipient of their own are concerned: what the set-up of a device found.
  package var fillsOnly = false
}

/// An identity check that waits for its answer.
package struct PendingCheck: Sendable, Equatable {
  package var id: Int64
  package var check: IdentityCheck
}

extension Identities {
  static func publish(_ periods: [IdentityPeriod], into db: Database) throws {
    for period in periods {
      try db.execute(
        sql: """
          INSERT INTO identity_period (device, from_emission, recipient_id, mobile_user_id, fills_only)
          VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (device, from_emission)
          DO UPDATE SET recipient_id = excluded.recipient_id, mobile_user_id = excluded.mobile_user_id,
            fills_only = excluded.fills_only
          """,
        arguments: [
          period.device.blob, period.fromEmission, period.recipientId, period.mobileUserId, period.fillsOnly,
        ])
    }
  }

  /// The periods of a device, by emission number.
  package func identityPeriods(of device: [UInt8]) throws -> [IdentityPeriod] {
    try connection.read { try Self.identityPeriods(of: device, in: $0) }
  }

  static func identityPeriods(of device: [UInt8], in db: Database) throws -> [IdentityPeriod] {
    let statement = try db.cachedStatement(
      sql: """
        SELECT from_emission, recipient_id, mobile_user_id, fills_only FROM identity_period WHERE device = ?
        ORDER BY from_emission
        """)
    return try Row.fetchAll(statement, arguments: [device.blob]).map { row in
      try IdentityPeriod(
        device: device, fromEmission: row.emission("from_emission"), recipientId: row.value("recipient_id"),
        mobileUserId: row.value("mobile_user_id"),
        fillsOnly: row.value("fills_only"))
    }
  }

  /// By the emission numbers of a device's events, the earlier moment as of which they carry who the device was.
  static func identityMoments(of device: [UInt8], in db: Database) throws -> [Int64: Int64] {
    let statement = try db.cachedStatement(sql: "SELECT emission, of_emission FROM identity_moment WHERE device = ?")
    return Dictionary(
      try Row.fetchAll(statement, arguments: [device.blob]).map {
        (try $0.emission("emission"), try $0.emission("of_emission"))
      },
      uniquingKeysWith: { $1 })
  }

  /// Last known locations that wait for their database update, by device.
  package func pendingLocations() throws -> [LastKnownLocation] {
    try connection.readIdentities(orElse: []) { db in
      try Row.fetchAll(
        db,
        sql: "SELECT device, recipient_id, address, at FROM location_update ORDER BY device"
      ).map { row in
        try LastKnownLocation(
          device: row.value("device"), recipientId: row.value("recipient_id"), address: row.value("address"),
          at: row.value("at"))
      }
    }
  }

  /// The newest place that was written to a recipient: of when, and of which device. Nil for none.
  package func writtenLocation(on recipient: String) throws -> (at: Instant, device: String)? {
    try connection.readIdentities(orElse: nil) { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT at, device FROM location_written WHERE recipient_id = ?"),
        arguments: [recipient]
      ).map { try ($0.value("at"), $0.value("device")) }
    }
  }

  /// Forgets updates that need no call any more; newer ones of the devices that came meanwhile stay.
  ///
  /// - Parameter written: the one of them that the service has now, and its recipient; nil if nothing was written.
  package func finishLocations(
    _ locations: [LastKnownLocation], written: (location: LastKnownLocation, recipient: String)? = nil
  ) throws {
    try connection.writeTogether { db in
      for location in locations {
        try db.execute(
          sql: "DELETE FROM location_update WHERE device = ? AND at <= ?",
          arguments: [location.device, location.at.milliseconds])
      }
      guard let written else { return }
      try db.execute(
        sql: "INSERT OR REPLACE INTO location_written (recipient_id, at, device) VALUES (?, ?, ?)",
        arguments: [written.recipient, written.location.at.milliseconds, written.location.device])
    }
  }
}
