package import BatchFoundation
import GRDB
import GRDBSQLite

/// A run as the store numbers it.
package struct RunID: Hashable, Sendable {
  package var number: Int64

  package init(number: Int64) { self.number = number }
}

/// One run of a job against the store.
package struct StoredRun: Sendable, Equatable {
  package var id: RunID
  package var job: String
  /// How it was asked, such as `run` or `post`; nil where nobody said.
  package var mode: String?
  package var configurationDigest: String
  package var started: Instant
  package var asOf: Instant
  /// What it was to read, whether it did or not (reference decisions 51).
  package var window = TimeWindow()
  /// The store's known time after it; nil where it did not read records to their end.
  package var knownUntil: Instant?
  /// Nil while it runs, or when it was killed.
  package var finished: Instant?
  /// Its exit code; nil while it runs, or when it was killed.
  package var exit: Int32?
  /// The summary's figures as JSON text.
  package var counters: String?

  /// Where what it was to read ends: a window may end before the moment for which it was run.
  package var until: Instant { min(asOf, window.to ?? knownUntil ?? asOf) }
}

/// The runs of a store: their settings, files and reports.
package struct Runs: Sendable {
  let connection: StoreConnection

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

  /// Notes that the run has decided every device up to there by silence, once all records that it read are kept.
  ///
  /// - Parameter reach: how far back a rewind goes from now on; nil where there is none.
  package func note(knownUntil instant: Instant, reach: Instant?, by run: RunID) throws {
    try connection.write { db in
      try db.execute(
        sql: "UPDATE run SET known_until = ? WHERE id = ?", arguments: [instant.milliseconds, run.number])
      try Timelines.dropNights(before: reach ?? .last, in: db)
    }
  }

  /// The store's known time: the latest of its runs', so that it never goes back (reference decisions 33). Nil where no run has read
  /// records to their end.
  package func knownUntil() throws -> Instant? {
    try connection.read { db in
      try Row.integer(db, sql: "SELECT max(known_until) FROM run").map { Instant(milliseconds: $0) }
    }
  }

  /// - Parameters:
  ///   - run: one that has not ended.
  ///   - finished: when it ended.
  ///   - exit: its exit code.
  ///   - counters: its summary, as JSON.
  ///   - report: what a later look at the run shows, in the form of whoever made it; nil for none.
  package func finish(
    _ run: RunID, at finished: Instant, exit: Int32 = 0, counters: String, report: [UInt8]? = nil
  ) throws {
    try connection.write { db in
      try db.execute(
        sql: "UPDATE run SET finished = ?, exit = ?, counters = ?, report = ? WHERE id = ?",
        arguments: [finished.milliseconds, exit, counters, report?.blob, run.number])
    }
  }

  /// All runs, oldest first.
  package func all() throws -> [StoredRun] {
    try connection.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT id, job, mode, configuration_digest, started, as_of, window_from, window_to, known_until, finished, exit,
            counters
          FROM run ORDER BY id
          """
      ).map { row in
        try StoredRun(
          id: row.value("id"), job: row.value("job"), mode: row.value("mode"),
          configurationDigest: row.value("configuration_digest"), started: row.value("started"),
          asOf: row.value("as_of"), window: TimeWindow(from: row.value("window_from"), to: row.value("window_to")),
          knownUntil: row.value("known_until"), finished: row.value("finished"),
          exit: row.value("exit"), counters: row.value("counters"))
      }
    }
  }

  /// What `finish(_:at:exit:counters:report:)` kept; nil if it kept none.
  package func report(of run: RunID) throws -> [UInt8]? {
    try connection.read { db in
      try Row.fetchOne(db, sql: "SELECT report FROM run WHERE id = ?", arguments: [run.number])?.bytes("report")
    }
  }

  /// Keeps what the settings of a configuration are, once; secrets do not belong here.
  package func keep(_ settings: [RunSetting], digest: String) throws {
    try connection.write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO run_setting (configuration_digest, name, value, origin) VALUES (?, ?, ?, ?)")
      for setting in settings {
        try statement.execute(arguments: [digest, setting.name, setting.value, setting.origin])
      }
    }
  }

  /// The settings of a configuration by name; none for one that was not kept.
  package func settings(digest: String) throws -> [RunSetting] {
    try connection.read { db in
      try Row.fetchAll(
        db, sql: "SELECT name, value, origin FROM run_setting WHERE configuration_digest = ? ORDER BY name",
        arguments: [digest]
      ).map { try RunSetting(name: $0.value("name"), value: $0.value("value"), origin: $0.value("origin")) }
    }
  }

  /// Random bytes of this store by which reports hash personal data, so that hashes agree between its reports only.
  package func reportKey() throws -> [UInt8] {
    try connection.read { db in try Row.fetchOne(db, sql: "SELECT bytes FROM report_key")?.blob("bytes") ?? [] }
  }
}

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
