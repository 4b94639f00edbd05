package import BatchFoundation
import GRDB
import GRDBSQLite

/// The number of a run in the store.
package struct RunID: Hashable, Sendable {
  package var number: Int64

  package init(number: Int64) { self.number = number }
}

/// A run of a job on the store.
package struct StoredRun: Sendable, Equatable {
  package var id: RunID
  package var job: String
  /// The kind of run, such as `run` or `post`; nil if unknown.
  package var mode: String?
  package var configurationDigest: String
  package var started: Instant
  package var asOf: Instant
  /// The window that the run was to read, even if it did not (reference decisions 51).
  package var window = TimeWindow()
  /// The store's known time after the run; nil if the run did not read its records to the end.
  package var knownUntil: Instant?
  /// The end of the run; nil while it is under way, or if it was killed.
  package var finished: Instant?
  /// The exit code; nil while the run is under way, or if it was killed.
  package var exit: Int32?
  /// The figures of the summary, as JSON; nil if there are none.
  package var counters: String?

  /// The end of the time span that the run was to read; a window may end before the time of the run.
  package var until: Instant { min(asOf, window.to ?? knownUntil ?? asOf) }
}

/// The runs of a store: their settings, files and reports. Functions throw ``StoreError``; see ``EventStore``.
package struct Runs: Sendable {
  let connection: StoreConnection

  /// Stores the start of a run, which ``finish(_:at:exit:counters:report:)`` ends, and returns its number.
  package func begin(
    job: String, mode: String? = nil, configurationDigest: String, started: Instant, asOf: Instant,
    window: TimeWindow = TimeWindow()
  ) throws -> RunID {
    try connection.write { db in
      try db.execute(
        sql: """
          INSERT INTO run (job, mode, configuration_digest, started, as_of, window_from, window_to)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          job, mode, configurationDigest, started.milliseconds, asOf.milliseconds, window.from?.milliseconds,
          window.to?.milliseconds,
        ])
      return RunID(number: db.lastInsertedRowID)
    }
  }

  /// Records a run's known time, up to which it processed all devices, even inactive ones. Must be called after the
  /// run's results are stored.
  ///
  /// - Parameter reach: the start of the rewind window, before which nights are deleted; nil to delete all.
  package func note(knownUntil instant: Instant, reach: Instant?, by run: RunID) throws {
    try connection.write { db in
      try db.execute(
        sql: "UPDATE run SET known_until = ? WHERE id = ?", arguments: [instant.milliseconds, run.number])
      try Timelines.dropNights(before: reach ?? .last, in: db)
    }
  }

  /// Returns the store's known time, which is the latest of its runs' known times and so never moves backward
  /// (reference decisions 33); nil if no run has read its records to the end.
  package func knownUntil() throws -> Instant? {
    try connection.first("SELECT max(known_until) FROM run") { try $0.value(0) }
  }

  /// Records the end of a run with its summary as JSON and, for later views, an optional report in the caller's format.
  package func finish(
    _ run: RunID, at finished: Instant, exit: Int32 = 0, counters: String, report: [UInt8]? = nil
  ) throws {
    try connection.write { db in
      try db.execute(
        sql: "UPDATE run SET finished = ?, exit = ?, counters = ?, report = ? WHERE id = ?",
        arguments: [finished.milliseconds, exit, counters, report?.blob, run.number])
    }
  }

  /// Returns all runs, oldest first.
  package func all() throws -> [StoredRun] {
    try connection.all(
      """
      SELECT id, job, mode, configuration_digest, started, as_of, window_from, window_to, known_until, finished, exit,
        counters
      FROM run ORDER BY id
      """
    ) { row in
      try StoredRun(
        id: row.value("id"), job: row.value("job"), mode: row.value("mode"),
        configurationDigest: row.value("configuration_digest"), started: row.value("started"),
        asOf: row.value("as_of"), window: TimeWindow(from: row.value("window_from"), to: row.value("window_to")),
        knownUntil: row.value("known_until"), finished: row.value("finished"),
        exit: row.value("exit"), counters: row.value("counters"))
    }
  }

  /// Returns the report that `finish(_:at:exit:counters:report:)` stored; nil if there is none.
  package func report(of run: RunID) throws -> [UInt8]? {
    try connection.first("SELECT report FROM run WHERE id = ?", [run.number]) { try $0.bytes("report") }
  }

  /// Stores the settings of a configuration under its digest. They must not include secrets.
  package func keep(_ settings: [RunSetting], digest: String) throws {
    try connection.write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO run_setting (configuration_digest, name, value, origin) VALUES (?, ?, ?, ?)")
      for setting in settings {
        try statement.execute(arguments: [digest, setting.name, setting.value, setting.origin])
      }
    }
  }

  /// Returns the settings of a configuration, sorted by name; empty if they were not stored.
  package func settings(digest: String) throws -> [RunSetting] {
    try connection.all(
      "SELECT name, value, origin FROM run_setting WHERE configuration_digest = ? ORDER BY name", [digest]
    ) { try RunSetting(name: $0.value("name"), value: $0.value("value"), origin: $0.value("origin")) }
  }

  /// Returns the random key with which reports hash personal data, so that hashes from different stores never match.
  package func reportKey() throws -> [UInt8] {
    // Without a key, anybody could recompute the hashes.
    guard let key = try connection.first("SELECT bytes FROM report_key", [], { try $0.blob("bytes") }), !key.isEmpty
    else {
      throw StoreError.inconsistent("the key for hashes is missing ('store salvage' creates a new one)")
    }
    return key
  }
}

/// An overview of a store, without the statuses of its events.
package struct StoreOverview: Sendable, Equatable {
  /// The time of the first event that is pending or being sent; nil if there is none.
  package var oldestPending: Instant?
  package var devices: Int
  /// The number of devices with events on `HOLD`.
  package var heldDevices: Int
  package var runs: Int
}

extension EventStore {
  /// Returns an overview that is read from indexes only, and therefore quickly, even from a large store.
  package func overview() throws -> StoreOverview {
    try connection.read { db in
      let oldest = try Row.integer(
        db,
        sql: """
          SELECT min(first) AS first FROM (
            SELECT min(first) AS first FROM chunk WHERE status = ?
            UNION ALL SELECT min(first) FROM chunk WHERE status = ?)
          """, arguments: [EventStatus.notPosted, EventStatus.processing])
      return StoreOverview(
        oldestPending: oldest.map { Instant(milliseconds: $0) },
        devices: try db.count("SELECT sum(added) FROM state_segment"),
        heldDevices: try db.count("SELECT sum(holding) FROM state_segment"),
        runs: try db.count("SELECT count(*) FROM run"))
    }
  }

  /// The version of the SQLite library loaded at run time.
  package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }
}
