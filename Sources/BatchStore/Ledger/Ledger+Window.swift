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

/// Some events of a store, and when the first and the last of them happened.
package struct EventSpan: Sendable, Equatable {
  package let events: Int
  package let first: Instant
  package let last: Instant

  /// What two spans are together, where the first may be none.
  static func sum(_ one: EventSpan?, _ other: EventSpan) -> EventSpan {
    guard let one else { return other }
    return EventSpan(
      events: one.events + other.events, first: min(one.first, other.first), last: max(one.last, other.last))
  }
}

extension Ledger {
  /// The events that the next delivery would send and that happened at an instant or before it; nil for none.
  package func waiting(upTo instant: Instant) throws -> EventSpan? {
    try span(
      "SELECT pack, offset, length, events, first, last, ?2 AS bound FROM chunk WHERE status = ?1 AND first <= ?2",
      [EventStatus.notPosted, instant.milliseconds])
  }

  /// The events that a service took when they were that old or older; nil for none.
  package func taken(atAge age: Milliseconds) throws -> EventSpan? {
    try span(
      """
      SELECT c.pack, c.offset, c.length, c.events, c.first, c.last, max(a.started) - ?3 AS bound
      FROM chunk c JOIN attempt a ON a.chunk = c.id
      WHERE c.status = ?1 AND a.outcome = ?2 GROUP BY c.id HAVING c.first <= bound
      """, [EventStatus.successfullyPosted, AttemptOutcome.acknowledged, age.count])
  }

  /// How many events that are `EXPIRED` happened at an instant or before it.
  package func expired(upTo instant: Instant) throws -> Int {
    try span(
      "SELECT pack, offset, length, events, first, last, ?2 AS bound FROM chunk WHERE status = ?1 AND first <= ?2",
      [EventStatus.expired, instant.milliseconds])?.events ?? 0
  }

  /// The events of chunks that happened at the `bound` of each or before it; a block is read only where it has others too.
  private func span(_ sql: String, _ arguments: StatementArguments) throws -> EventSpan? {
    try connection.read { db in
      var span: EventSpan?
      let chunks = try Row.fetchCursor(db, sql: sql, arguments: arguments)
      while let chunk = try chunks.next() {
        let bound = try Instant(milliseconds: chunk.value("bound"))
        let last = try Instant(milliseconds: chunk.value("last"))
        if last <= bound {
          let first = try Instant(milliseconds: chunk.value("first"))
          span = .sum(span, EventSpan(events: try chunk.value("events"), first: first, last: last))
          continue
        }
        let events = try connection.format.codec.cursor(of: Self.block(of: chunk, in: db))
        while try events.next() {
          guard events.timestamp <= bound else { continue }
          span = .sum(span, EventSpan(events: 1, first: events.timestamp, last: events.timestamp))
        }
      }
      return span
    }
  }

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
