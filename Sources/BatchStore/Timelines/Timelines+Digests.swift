package import BatchFoundation
import GRDB

extension Timelines {
  /// The first later instant that the store has decided if the span lies before it and nothing of the span was ever read; nil if
  /// the span is new at its end, or was read before.
  ///
  /// - Parameters:
  ///   - from: nil is open.
  ///   - to: not part of the span.
  package func firstDecided(after to: Instant, withNothingSince from: Instant?) throws -> Instant? {
    try connection.read { db in
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
    try connection.read { db in
      guard
        let row = try Row.fetchOne(
          db, sql: "SELECT min(first) AS first, max(last) AS last FROM digest_segment HAVING count(*) > 0")
      else { return nil }
      return try (row.value("first"), row.value("last"))
    }
  }

  /// The number of the last segment of digests; 0 for none.
  package func lastDigestSegment() throws -> Int64 {
    try connection.read { db in try Int64.fetchOne(db, sql: "SELECT max(id) FROM digest_segment") ?? 0 }
  }

  /// Hands the segments of digests behind a number to `body`, in their order.
  package func forEachDigestSegment(after number: Int64, _ body: (DigestSegment) throws -> Void) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(
        db, sql: "SELECT bucket, first, last, digests FROM digest_segment WHERE id > ? ORDER BY id", arguments: [number]
      )
      while let row = try rows.next() {
        try body(
          DigestSegment(
            bucket: row.value("bucket"), first: row.value("first"), last: row.value("last"),
            digests: row.blob("digests")))
      }
    }
  }

  static func insert(_ segments: [DigestSegment], into db: Database) throws {
    guard !segments.isEmpty else { return }
    let statement = try BoundStatement(
      db, "INSERT INTO digest_segment (bucket, first, last, digests) VALUES (?, ?, ?, ?)")
    for segment in segments {
      statement.bind(1, segment.bucket)
      statement.bind(2, segment.first.milliseconds)
      statement.bind(3, segment.last.milliseconds)
      try unsafe segment.digests.withUnsafeBytes { bytes in
        unsafe statement.bind(4, blob: bytes)
        try statement.run()
      }
    }
  }
}
