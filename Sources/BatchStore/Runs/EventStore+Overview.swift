package import BatchFoundation
import GRDB
import GRDBSQLite

/// What a store holds at a glance, beside the statuses of its events.
package struct StoreOverview: Sendable, Equatable {
  /// The first event that has not been sent; nil when everything was.
  package var oldestPending: Instant?
  package var devices: Int
  /// Devices with events on `HOLD`.
  package var heldDevices: Int
  package var runs: Int
}

extension EventStore {
  /// Looks into indexes only, so it takes no time on a large store.
  package func overview() throws -> StoreOverview {
    try connection.read { db in
      func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
      let oldest = try Row.integer(
        db,
        sql: """
          SELECT min(first) AS first FROM (
            SELECT min(first) AS first FROM chunk WHERE status = ?
            UNION ALL SELECT min(first) FROM chunk WHERE status = ?)
          """, arguments: [EventStatus.notPosted, EventStatus.processing])
      return StoreOverview(
        oldestPending: oldest.map { Instant(milliseconds: $0) }, devices: try count("SELECT count(*) FROM device"),
        heldDevices: try count("SELECT count(*) FROM device WHERE held > 0"),
        runs: try count("SELECT count(*) FROM run"))
    }
  }

  /// The version of the SQLite that is loaded at run time.
  package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
