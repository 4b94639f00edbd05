package import BatchFoundation
import GRDB

extension Timelines {
  /// Returns the first processed instant from `to` on, if nothing was read from `from` (nil for any) up to `to`,
  /// excluded; nil if there is none, or something was read.
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

  /// Returns the times of the first and the last record processed; nil for none.
  package func decidedSpan() throws -> (first: Instant, last: Instant)? {
    try connection.read { db in
      guard
        let row = try Row.fetchOne(
          db, sql: "SELECT min(first) AS first, max(last) AS last FROM digest_segment HAVING count(*) > 0")
      else { return nil }
      return try (row.value("first"), row.value("last"))
    }
  }

  /// Returns the files next to the store that have digests of earlier runs (``DigestFile``).
  package func digestFiles() throws -> [String] {
    try connection.read { db in
      try Int64.fetchAll(
        db, sql: "SELECT DISTINCT file FROM digest_segment WHERE file IS NOT NULL ORDER BY file"
      ).map(DigestFile.name)
    }
  }

  /// Returns the digests of a row, from the store or from a file.
  func digests(of row: Row) throws -> [UInt8] {
    guard let file: Int64 = try row.value("file") else { return try row.blob("digests") }
    return try DigestFile.read(
      "\(PathText.folder(of: connection.path))/\(DigestFile.name(file))", from: row.value("offset"),
      bytes: 16 * row.value("lines"), sum: row.value("sum"))
  }

  /// Passes the digests of lines in the store itself to `body`, in order: for a part's result, those it added.
  package func forEachOwnDigestSegment(_ body: (DigestSegment) throws -> Void) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(
        db,
        sql: "SELECT bucket, first, last, digests FROM digest_segment WHERE file IS NULL AND bucket < 256 ORDER BY id")
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
