package import BatchFoundation
import GRDB

/// A run as the store numbers it.
package struct RunID: Hashable, Sendable {
  package var number: Int64

  package init(number: Int64) { self.number = number }
}

/// One run of a job against the store.
package struct StoredRun: Sendable, Equatable {
  package var id: RunID
  package var job: String
  package var configurationDigest: String
  package var started: Instant
  package var asOf: Instant
  /// Nil while it runs, or when it was killed.
  package var finished: Instant?
  /// The summary's figures as JSON text.
  package var counters: String?
}

extension EventStore {
  package func beginRun(job: String, configurationDigest: String, started: Instant, asOf: Instant) throws -> RunID {
    try write { db in
      try db.execute(
        sql: "INSERT INTO run (job, configuration_digest, started, as_of) VALUES (?, ?, ?, ?)",
        arguments: [job, configurationDigest, started.milliseconds, asOf.milliseconds])
      return RunID(number: db.lastInsertedRowID)
    }
  }

  package func finish(_ run: RunID, at finished: Instant, counters: String) throws {
    try write { db in
      try db.execute(
        sql: "UPDATE run SET finished = ?, counters = ? WHERE id = ?",
        arguments: [finished.milliseconds, counters, run.number])
    }
  }

  /// All runs, oldest first.
  package func runs() throws -> [StoredRun] {
    try read { db in
      try Row.fetchAll(
        db, sql: "SELECT id, job, configuration_digest, started, as_of, finished, counters FROM run ORDER BY id"
      ).map { row in
        StoredRun(
          id: RunID(number: row[0]), job: row[1], configurationDigest: row[2],
          started: Instant(milliseconds: row[3]), asOf: Instant(milliseconds: row[4]),
          finished: (row[5] as Int64?).map { Instant(milliseconds: $0) }, counters: row[6])
      }
    }
  }

  /// Random bytes of this store by which reports hash personal data, so that hashes agree between its reports only.
  package func reportKey() throws -> [UInt8] {
    try read { db in try Row.fetchOne(db, sql: "SELECT bytes FROM report_key")?.bytes(0) ?? [] }
  }
}
