package import BatchFoundation
import GRDB

/// The attempts that a killed run left open.
extension Ledger {
  /// Gives attempts that a killed run left open the outcome `unknown`, because their responses are lost. Their chunks
  /// are sent again or, with `hold`, held until an operator decides (`Upload.onUnknown`).
  ///
  /// - Parameter run: the run that delivers now. It reports the unknown outcomes that earlier runs did not report.
  package func recoverAttempts(hold: Bool, run: RunID, at now: Instant) throws -> RecoveredAttempts {
    try connection.write { db in
      let attempts = try db.count("SELECT count(*) FROM attempt WHERE outcome IS NULL")
      let rows = try Row.fetchAll(
        db,
        sql: "SELECT id, events FROM chunk WHERE id IN (SELECT chunk FROM attempt WHERE outcome IS NULL) ORDER BY id")
      try db.execute(
        sql: """
          UPDATE chunk SET status = ?, reason = 'the run was killed while the request was under way'
          WHERE status = ? AND id IN (SELECT chunk FROM attempt WHERE outcome IS NULL)
          """, arguments: [hold ? EventStatus.unknown : .notPosted, EventStatus.processing])
      try db.execute(
        sql: "UPDATE attempt SET outcome = ?, finished = ?, reason = 'crash' WHERE outcome IS NULL",
        arguments: [AttemptOutcome.unknown, now.milliseconds])
      // This program never commits a chunk under way without its attempt, so nothing of such a chunk was sent.
      try db.execute(
        sql: "UPDATE chunk SET status = ? WHERE status = ?",
        arguments: [EventStatus.notPosted, EventStatus.processing])
      return try RecoveredAttempts(
        attempts: attempts, chunks: rows.map { try $0.value("id") }, inDoubt: Self.unreportedDoubts(before: run, in: db)
      )
    }
  }

  /// Returns the chunks whose responses were lost in runs that ended before storing a report, and that may be sent
  /// again.
  private static func unreportedDoubts(before run: RunID, in db: Database) throws -> [RecoveredAttempts.Doubt] {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT id, events, parent FROM chunk WHERE status <> ? AND id IN (
          SELECT chunk FROM attempt WHERE outcome = \(AttemptOutcome.unknown.rawValue) AND run IN (
            SELECT id FROM run WHERE id < ? AND \(isUnreported)))
        ORDER BY id
        """, arguments: [EventStatus.unknown, run.number])
    return try rows.map { row in
      try RecoveredAttempts.Doubt(chunk: row.value("id"), events: row.value("events"), parent: row.value("parent"))
    }
  }

  /// Records that the report of a run covers its unknown outcomes and earlier unreported ones. This takes effect once
  /// the run is finished.
  package func noteDoubtsReported(by run: RunID) throws {
    try connection.write { db in
      try db.execute(
        sql: "UPDATE run SET reported_run = ?1 WHERE id <= ?1 AND \(Self.isUnreported)", arguments: [run.number])
    }
  }

  private static let isUnreported =
    "(reported_run IS NULL OR reported_run IN (SELECT id FROM run WHERE finished IS NULL))"
}
