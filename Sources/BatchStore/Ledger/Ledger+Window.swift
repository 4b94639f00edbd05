package import BatchFoundation
import GRDB

/// The times that a service takes events of: later than one, earlier than another.
package struct DeliveryWindow: Sendable, Equatable {
  package var after: Instant
  package var before: Instant

  package init(after: Instant, before: Instant) {
    self.after = after
    self.before = before
  }

  package func contains(_ instant: Instant) -> Bool { after < instant && instant < before }
}

extension Ledger {
  /// How many events the next delivery would send; not those that are out of the service's window.
  package func waitingEvents() throws -> Int {
    try connection.read { db in
      try Int.fetchOne(
        db, sql: "SELECT coalesce(sum(events), 0) FROM chunk WHERE status = ?", arguments: [EventStatus.notPosted]) ?? 0
    }
  }

  /// Makes events that wait and are out of the window `EXPIRED`, and lets those go that were out of it before and are in it now.
  ///
  /// A chunk with events of both kinds gives up those that expired to a chunk of their own, unless it was sent and nobody knows
  /// what became of it: that one goes out again as it was.
  ///
  /// - Returns: how many events are `EXPIRED` now.
  @discardableResult
  package func expire(outOf window: DeliveryWindow) throws -> Int {
    try connection.write { db in
      let chunks = try Row.fetchAll(
        db,
        sql: """
          SELECT id, status, first, last, pack, offset, length FROM chunk
          WHERE status IN (?1, ?2) AND (status = ?2 OR first <= ?3 OR last >= ?4)
            AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.chunk = chunk.id AND outcome = ?5)
          ORDER BY id
          """,
        arguments: [
          EventStatus.notPosted, EventStatus.expired, window.after.milliseconds, window.before.milliseconds,
          AttemptOutcome.unknown,
        ])
      for chunk in chunks { try expire(chunk, outOf: window, in: db) }
      return try Int.fetchOne(
        db, sql: "SELECT coalesce(sum(events), 0) FROM chunk WHERE status = ?", arguments: [EventStatus.expired]) ?? 0
    }
  }

  private func expire(_ chunk: Row, outOf window: DeliveryWindow, in db: Database) throws {
    let id: Int64 = try chunk.value("id")
    let isOut = try chunk.status("status") == .events(.expired)
    let block = try Self.block(of: chunk, in: db)
    let inside = try connection.format.codec.copy(of: block) { window.contains($0.timestamp) }
    let outside = try connection.format.codec.copy(of: block) { !window.contains($0.timestamp) }
    let stays = isOut ? outside : inside
    let goes = isOut ? inside : outside
    guard !goes.entries.isEmpty else { return }
    let status = isOut ? EventStatus.notPosted : .expired
    if stays.entries.isEmpty {
      try db.execute(sql: "UPDATE chunk SET status = ? WHERE id = ?", arguments: [status, id])
    } else {
      try Self.insert(goes, from: id, as: status, in: db)
      try Self.replaceBlock(of: id, by: stays, in: db)
      // What was planned before is not what is left.
      try db.execute(sql: "UPDATE chunk SET body_digest = NULL WHERE id = ?", arguments: [id])
    }
  }
}
