import BatchFoundation
import GRDB

extension Ledger {
  /// Sets the selected `FAILED_POST` and `UNKNOWN` events back to `NOT_POSTED`, in all chunks or in one, and returns
  /// their number. A frozen chunk is sent again with the same bytes. Individual events of a posted chunk are moved to a
  /// new chunk.
  package func requeue(_ statuses: Set<EventStatus>, chunk: Int64? = nil) throws -> Int {
    let allowed = statuses.intersection([.failedPost, .unknown])
    return try connection.write { db in
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
        try resolveRejected(status, chunk, in: db)
        count += try db.count(
          "SELECT sum(events) FROM chunk WHERE status = ?1 AND (?2 IS NULL OR id = ?2)", [status, chunk])
        try db.execute(
          sql: """
            UPDATE chunk SET status = ?3, failures = 0, reason = NULL, settled_run = NULL
            WHERE status = ?1 AND (?2 IS NULL OR id = ?2)
            """, arguments: [status, chunk, EventStatus.notPosted])
      }
      return count
    }
  }

  /// Resolves quarantined events that are sent again. If they are rejected again, they are quarantined again.
  private func resolveRejected(_ status: EventStatus, _ chunk: Int64?, in db: Database) throws {
    guard status == .failedPost else { return }
    for row in try Row.fetchAll(
      db, sql: "SELECT id, pack, offset, length FROM chunk WHERE status = ?1 AND (?2 IS NULL OR id = ?2)",
      arguments: [status, chunk])
    {
      let cursor = try connection.format.wireForm.reader(of: Self.block(of: row, in: db))
      while try cursor.next() { try resolveRejected(cursor, in: db) }
    }
  }

  private func resolveRejected(_ event: EventBlockReader, in db: Database) throws {
    try db.cachedStatement(
      sql: "UPDATE quarantine SET resolution = ? WHERE file = ? AND reason = ? AND resolution IS NULL"
    ).execute(arguments: [
      QuarantineResolution.replaced.rawValue, QuarantinedLine.place(ofEvent: event.id),
      QuarantineReason.rejectedByService.rawValue,
    ])
  }

  private func requeueExceptions(of row: Row, _ status: EventStatus, in db: Database) throws -> Int {
    let id: Int64 = try row.value("id")
    let ordinals = Set(
      try Int.fetchAll(
        db, sql: "SELECT ordinal FROM event_exception WHERE chunk = ? AND status = ?", arguments: [id, status]))
    let block = try Ledger.block(of: row, in: db)
    let again = try connection.format.wireForm.copy(of: block) { event in
      guard ordinals.contains(event.ordinal) else { return false }
      if status == .failedPost { try resolveRejected(event, in: db) }
      return true
    }
    try Self.insert(again, from: id, as: .notPosted, in: db)
    try db.execute(
      sql: "UPDATE event_exception SET status = ? WHERE chunk = ? AND status = ?",
      arguments: [ChunkStatus.split, id, status])
    return ordinals.count
  }
}
