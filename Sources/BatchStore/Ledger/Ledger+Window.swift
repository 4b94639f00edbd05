package import BatchFoundation
import GRDB

/// The times of events that a service accepts, after one instant and before another (both exclusive).
package struct DeliveryWindow: Sendable, Equatable {
  package var after: Instant
  package var before: Instant

  package init(after: Instant, before: Instant) {
    self.after = after
    self.before = before
  }

  package func contains(_ instant: Instant) -> Bool { after < instant && instant < before }
}

/// The number of selected events, with the times of the first and the last.
package struct EventSpan: Sendable, Equatable {
  package let events: Int
  package let first: Instant
  package let last: Instant

  /// Returns the sum of two spans; the first may be nil.
  static func sum(_ one: EventSpan?, _ other: EventSpan) -> EventSpan {
    guard let one else { return other }
    return EventSpan(
      events: one.events + other.events, first: min(one.first, other.first), last: max(one.last, other.last))
  }
}

extension Ledger {
  /// Returns the span of the pending events up to an instant; nil if there are none.
  package func pending(upTo instant: Instant) throws -> EventSpan? { try span(of: .notPosted, upTo: instant) }

  /// Returns the span of the acknowledged events that were at least this old when sent; nil if there are none.
  package func taken(atAge age: Milliseconds) throws -> EventSpan? {
    try span(
      """
      SELECT c.pack, c.offset, c.length, c.events, c.first, c.last, max(a.started) - ?3 AS bound
      FROM chunk c JOIN attempt a ON a.chunk = c.id
      WHERE c.status = ?1 AND a.outcome = ?2 GROUP BY c.id HAVING c.first <= bound
      """, [EventStatus.successfullyPosted, AttemptOutcome.acknowledged, age.count])
  }

  /// Returns the number of `EXPIRED` events up to an instant.
  package func expired(upTo instant: Instant) throws -> Int { try span(of: .expired, upTo: instant)?.events ?? 0 }

  private func span(of status: EventStatus, upTo instant: Instant) throws -> EventSpan? {
    try span(
      "SELECT pack, offset, length, events, first, last, ?2 AS bound FROM chunk WHERE status = ?1 AND first <= ?2",
      [status, instant.milliseconds])
  }

  /// Returns the span of the events up to the `bound` of each selected chunk; nil if there are none. A block is read
  /// only if it has later events.
  private func span(_ sql: String, _ arguments: StatementArguments) throws -> EventSpan? {
    try connection.read { db in
      var span: EventSpan?
      try db.forEachRow(sql, arguments) { chunk in
        let (bound, last): (Instant, Instant) = try (chunk.value("bound"), chunk.value("last"))
        if last <= bound {
          span = try .sum(span, EventSpan(events: chunk.value("events"), first: chunk.value("first"), last: last))
          return
        }
        let events = try connection.format.wireForm.reader(of: Self.block(of: chunk, in: db))
        while try events.next() {
          guard events.timestamp <= bound else { continue }
          span = .sum(span, EventSpan(events: 1, first: events.timestamp, last: events.timestamp))
        }
      }
      return span
    }
  }

  /// Returns the number of events that the next delivery would send, without those outside the service's window.
  package func pendingEventCount() throws -> Int {
    try connection.count("SELECT sum(events) FROM chunk WHERE status = ?", [EventStatus.notPosted])
  }

  /// Sets pending events outside the window to `EXPIRED`, releases expired events inside it, and returns the number of
  /// all expired events. A chunk with both kinds is divided. A chunk with an unknown outcome is not changed, because
  /// the same bytes are sent again.
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
      return try db.count("SELECT sum(events) FROM chunk WHERE status = ?", [EventStatus.expired])
    }
  }

  private func expire(_ chunk: Row, outOf window: DeliveryWindow, in db: Database) throws {
    let isOut = try chunk.status("status") == .events(.expired)
    _ = try move(chunk, to: isOut ? .notPosted : .expired, in: db) { window.contains($0.timestamp) == isOut }
  }
}
