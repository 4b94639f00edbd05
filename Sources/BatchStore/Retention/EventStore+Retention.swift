package import BatchFoundation
import GRDB

/// What a purge did.
package struct PurgeReport: Sendable, Equatable {
  /// Posted events that are gone.
  package var purged: Int
  /// Events as old that were not posted, and stay.
  package var kept: Int
  /// Rows of the platform's own tables that are gone.
  package var platformRows = 0
}

extension EventStore {
  /// Deletes posted events of UTC midnight of `asOf` minus `days` days and before, and what the platform keeps as long; never an
  /// event that was not posted (reference events 6).
  package func purge(asOf: Instant, days: Int) throws -> PurgeReport {
    let cutoff = Self.midnight(asOf, before: days)
    return try write { db in
      var report = PurgeReport(purged: 0, kept: 0)
      for row in try Row.fetchAll(
        db, sql: "SELECT id, status, last, pack, offset, length, events FROM chunk WHERE first <= ? AND status <> ?",
        arguments: [cutoff, ChunkStatus.split])
      {
        try purge(row, cutoff: Instant(milliseconds: cutoff), &report, in: db)
      }
      for statement in format.retention?.statements ?? [] {
        try db.execute(sql: statement, arguments: [cutoff])
        report.platformRows += db.changesCount
      }
      if report.purged > 0 { try Self.noteUse(of: db) }
      try Self.dropLooseRows(in: db)
      try Self.purgeInputs(in: db)
      return report
    }
  }

  private func purge(_ row: Row, cutoff: Instant, _ report: inout PurgeReport, in db: Database) throws {
    let id: Int64 = try row.value("id")
    let status = try row.status("status")
    let last: Int64 = try row.value("last")
    let pack: Int64 = try row.value("pack")
    let events: Int = try row.value("events")
    let hasExceptions =
      try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM event_exception WHERE chunk = ?)", arguments: [id]) ?? false
    if last <= cutoff.milliseconds, !hasExceptions {
      guard status == .events(.successfullyPosted) else {
        report.kept += events
        return
      }
      try db.execute(sql: "DELETE FROM chunk WHERE id = ?", arguments: [id])
      try Self.releasePack(pack, in: db)
      report.purged += events
      return
    }
    let removed = try removeEvents(of: row, in: db) { event, own in
      guard event.timestamp <= cutoff else { return false }
      switch own {
      case .events(.successfullyPosted), .split: return true
      case .events:
        report.kept += 1
        return false
      }
    }
    report.purged += removed[.successfullyPosted] ?? 0
  }

  /// Puts events of these statuses back to `NOT_POSTED`, of all chunks or of one; how many.
  ///
  /// A chunk that was frozen stays as it is and goes out with the same bytes. Single events of a posted chunk get a chunk of
  /// their own.
  package func requeue(_ statuses: Set<EventStatus>, chunk: Int64? = nil) throws -> Int {
    let allowed = statuses.intersection([.failedPost, .unknown])
    return try write { db in
      var count = 0
      for status in EventStatus.allCases where allowed.contains(status) {
        for row in try Row.fetchAll(
          db,
          sql: """
            SELECT c.id, c.pack, c.offset, c.length FROM chunk c
            WHERE c.id IN (SELECT chunk FROM event_exception WHERE status = ?1) AND (?2 IS NULL OR c.id = ?2) ORDER BY c.id
            """, arguments: [status, chunk])
        {
          count += try requeueExceptions(of: row, status, in: db)
        }
        count +=
          try Int.fetchOne(
            db, sql: "SELECT coalesce(sum(events), 0) FROM chunk WHERE status = ?1 AND (?2 IS NULL OR id = ?2)",
            arguments: [status, chunk]) ?? 0
        try db.execute(
          sql: """
            UPDATE chunk SET status = ?3, failures = 0, reason = NULL, settled_run = NULL
            WHERE status = ?1 AND (?2 IS NULL OR id = ?2)
            """, arguments: [status, chunk, EventStatus.notPosted])
      }
      return count
    }
  }

  private func requeueExceptions(of row: Row, _ status: EventStatus, in db: Database) throws -> Int {
    let id: Int64 = try row.value(0)
    let ordinals = Set(
      try Int.fetchAll(
        db, sql: "SELECT ordinal FROM event_exception WHERE chunk = ? AND status = ?", arguments: [id, status]))
    var ordinal = -1
    let block = try Self.block(pack: row.value(1), offset: row.value(2), length: row.value(3), in: db)
    let again = try format.codec.copy(of: block) { _ in
      ordinal += 1
      return ordinals.contains(ordinal)
    }
    try Self.insert(again, from: id, as: .notPosted, in: db)
    try db.execute(
      sql: "UPDATE event_exception SET status = ? WHERE chunk = ? AND status = ?",
      arguments: [ChunkStatus.split, id, status])
    return ordinals.count
  }
}
