package import BatchFoundation
import GRDB

/// The result of a purge.
package struct PurgeReport: Sendable, Equatable {
  /// The number of deleted posted events.
  package var purged: Int
  /// The number of events as old that were not posted and are kept.
  package var kept: Int
  /// The number of deleted rows of the platform's own tables.
  package var platformRows = 0
}

/// The retention of a store's data.
package struct Retention: Sendable {
  let connection: StoreConnection

  /// Deletes posted events up to UTC midnight of `asOf` minus `days` days, and platform rows as old; never an event
  /// that was not posted (reference events 6).
  package func purge(asOf: Instant, days: Int) throws -> PurgeReport {
    let cutoff = Self.midnight(asOf, before: days)
    return try connection.write { db in
      var report = PurgeReport(purged: 0, kept: 0)
      for row in try Row.fetchAll(
        db, sql: "SELECT id, status, last, pack, offset, length, events FROM chunk WHERE first <= ? AND status <> ?",
        arguments: [cutoff, ChunkStatus.split])
      {
        try purge(row, cutoff: Instant(milliseconds: cutoff), &report, in: db)
      }
      for statement in connection.format.retention?.statements ?? [] {
        try db.execute(sql: statement, arguments: [cutoff])
        report.platformRows += db.changesCount
      }
      if report.purged > 0 { try EventStore.noteUse(of: db) }
      try Ledger.dropLooseRows(in: db)
      try Runs.purgeInputs(in: db)
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
      try Ledger.releasePack(pack, in: db)
      report.purged += events
      return
    }
    let removed = try Ledger(connection: connection).removeEvents(of: row, in: db) { event, own in
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
}
