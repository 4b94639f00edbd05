package import BatchFoundation
import GRDB

extension EventStore {
  /// The first later instant that the store has decided if the span lies before it and nothing of the span was ever read; nil if
  /// the span is new at its end, or was read before.
  ///
  /// - Parameters:
  ///   - from: nil is open.
  ///   - to: not part of the span.
  package func firstDecided(after to: Instant, withNothingSince from: Instant?) throws -> Instant? {
    try read { db in
      let known = try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM digest_segment WHERE last >= ? AND first < ?)",
        arguments: [from?.milliseconds ?? 0, to.milliseconds])
      guard known == false else { return nil }
      let first = try Row.integer(
        db, sql: "SELECT min(first) AS first FROM digest_segment WHERE first >= ?", arguments: [to.milliseconds])
      return first.map { Instant(milliseconds: $0) }
    }
  }

  /// The times of the first and of the last record that the store has decided; nil for none.
  package func decidedSpan() throws -> (first: Instant, last: Instant)? {
    try read { db in
      guard
        let row = try Row.fetchOne(
          db, sql: "SELECT min(first), max(last) FROM digest_segment HAVING count(*) > 0")
      else { return nil }
      return try (Instant(milliseconds: row.value(0)), Instant(milliseconds: row.value(1)))
    }
  }
}
