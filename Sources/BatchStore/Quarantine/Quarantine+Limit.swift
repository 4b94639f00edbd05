package import BatchFoundation
import GRDB

/// The room for further quarantined lines, in bytes; nil if there is no limit.
struct QuarantineRoom: Sendable {
  var left: Int?

  /// Reserves room for a line; returns whether there was enough.
  mutating func take(_ line: QuarantinedLine) -> Bool {
    // Events are never dropped. Their number is limited by the number of lines from which they were made.
    guard let left, line.kind != nil, line.block == nil else { return true }
    guard line.raw.count <= left else { return false }
    self.left = left - line.raw.count
    return true
  }
}

/// The number of quarantined lines from a file that were not kept.
package struct UnkeptLines: Sendable, Equatable {
  package var file: String
  package var reason: QuarantineReason
  package var lines: Int
}

/// The implementation of `Ingest.quarantineLimit` (reference decisions 47).
extension Quarantine {
  /// Limits the bytes of lines that the store keeps, including resolved lines. Further lines are only counted.
  package func limit(to bytes: Int) throws {
    let left = try self.room(of: bytes)
    room.withLock { $0.left = left }
  }

  /// Returns the number of bytes of lines that may still be added under a limit.
  func room(of bytes: Int) throws -> Int {
    let used = "SELECT sum(length(raw)) FROM quarantine WHERE kind IS NOT NULL AND block IS NULL"
    return max(0, bytes - (try connection.count(used)))
  }

  /// Returns the numbers of lines, by file and reason, that one run or all runs (nil) did not keep for lack of room,
  /// the largest number first.
  package func unkeptLines(of run: RunID? = nil) throws -> [UnkeptLines] {
    try connection.all(
      """
      SELECT file, reason, sum(lines) AS lines FROM quarantine_overflow WHERE ?1 IS NULL OR run = ?1
      GROUP BY file, reason ORDER BY lines DESC, file, reason
      """, [run?.number]
    ) { row in
      try QuarantineReason(rawValue: row.value("reason")).map {
        try UnkeptLines(file: row.value("file"), reason: $0, lines: row.value("lines"))
      }
    }.compactMap(\.self)
  }

  static func count(unkept lines: [QuarantinedLine], run: RunID, in db: Database) throws {
    guard !lines.isEmpty else { return }
    var counts: [QuarantineReason: [ByteText: Int]] = [:]
    for line in lines { counts[line.reason, default: [:]][ByteText(line.file), default: 0] += 1 }
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO quarantine_overflow (run, file, reason, lines) VALUES (?, ?, ?, ?)
        ON CONFLICT (run, file, reason) DO UPDATE SET lines = lines + excluded.lines
        """)
    for (reason, files) in counts {
      for (file, count) in files {
        try statement.execute(arguments: [run.number, file.string, reason.rawValue, count])
      }
    }
  }

  /// Adds events to the quarantine, without a limit.
  static func insert(_ events: [QuarantinedLine], run: RunID, into db: Database) throws {
    var room = QuarantineRoom()
    try insert(events, run: run, &room, into: db)
  }

  /// Quarantines lines. If an earlier run quarantined a line that is still pending, or was dismissed by a person, it is
  /// not added again. A line for which there is no room is only counted.
  static func insert(
    _ lines: [QuarantinedLine], run: RunID, _ room: inout QuarantineRoom, into db: Database
  ) throws {
    guard !lines.isEmpty else { return }
    var unkept: [QuarantinedLine] = []
    let seen = try db.cachedStatement(
      sql: """
        UPDATE quarantine SET seen_run = ?1
        WHERE file = ?2 AND line = ?3 AND offset = ?4 AND reason = ?5 AND raw = ?6 AND replayed_run IS NULL
          AND (resolution IS NULL OR resolution = 'dismissed') AND run <> ?1
        """)
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO quarantine (run, file, line, offset, reason, detail, raw, kind, block, seen_run)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?1)
        """)
    for line in lines {
      try seen.execute(arguments: [
        run.number, line.file, Int64(bitPattern: line.line), Int64(bitPattern: line.offset), line.reason.rawValue,
        line.raw.blob,
      ])
      guard db.changesCount == 0 else { continue }
      guard room.take(line) else {
        unkept.append(line)
        continue
      }
      try statement.execute(arguments: [
        run.number, line.file, Int64(bitPattern: line.line), Int64(bitPattern: line.offset), line.reason.rawValue,
        line.detail, line.raw.blob, line.kind.map { Int($0.rawValue) }, line.block?.blob,
      ])
    }
    try count(unkept: unkept, run: run, in: db)
  }
}
