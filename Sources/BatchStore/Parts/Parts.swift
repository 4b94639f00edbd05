import BatchFoundation
import GRDB
import Glibc

/// The stores of individual parts. Each passes its states on to the part's next store, and the results of all parts are
/// collected in one store. Functions throw ``StoreError``; see ``EventStore``.
package struct Parts: Sendable {
  let connection: StoreConnection

  /// Imports the data that later runs need: states and nights of devices, digests of accepted lines and the time since
  /// which they are known, the known time of earlier runs, and the people who were forgotten.
  ///
  /// Digests in the other store itself are written to a file next to this store. The caller copies the files that are
  /// next to the other store.
  ///
  /// - Parameter path: the path of a closed store, which is not changed.
  /// - Throws: ``StoreError``, also if that store is missing or of another schema, or the file of digests exists.
  package func adoptStates(of path: String) throws {
    try connection.attaching(path) { db in
      try adoptDigests(db)
      for table in [
        "state_segment", "known_since", "erasure", "erased_id", "erased_count", "night_run", "night_rules",
        "device_night",
      ] {
        try db.execute(sql: "INSERT INTO main.\(table) SELECT * FROM part.\(table)")
      }
      try db.execute(
        sql: """
          INSERT INTO main.run
            (id, job, configuration_digest, started, as_of, window_from, window_to, known_until, finished, mode, exit, reported_run)
          SELECT id, job, configuration_digest, started, as_of, window_from, window_to, known_until, finished, mode, exit, id
          FROM part.run
          """)
      // The hashes in proofs depend on this key.
      try db.execute(sql: "DELETE FROM main.report_key")
      try db.execute(sql: "INSERT INTO main.report_key SELECT * FROM part.report_key")
    }
  }

  private func adoptDigests(_ db: Database) throws {
    try db.execute(sql: "INSERT INTO main.digest_segment SELECT * FROM part.digest_segment WHERE file IS NOT NULL")
    guard let run = try Row.integer(db, sql: "SELECT max(id) FROM part.run") else { return }
    let file = try DigestFileWriter("\(PathText.folder(of: connection.path))/\(DigestFile.name(run))")
    let insertion = try db.makeStatement(
      sql: """
        INSERT INTO main.digest_segment (id, bucket, first, last, digests, file, offset, lines, sum)
        VALUES (?, ?, ?, ?, x'', ?, ?, ?, ?)
        """)
    try db.forEachRow(
      "SELECT id, bucket, first, last, digests FROM part.digest_segment WHERE file IS NULL ORDER BY id"
    ) { row in
      let digests = try row.blob("digests")
      try insertion.execute(arguments: [
        try row.value("id") as Int64, try row.value("bucket") as Int, try row.value("first") as Int64,
        try row.value("last") as Int64, run, file.byteCount, digests.count / 16, DigestFile.sum(of: digests),
      ])
      try file.append(digests)
    }
  }

  /// The statements that collect a part, in order. `?1` is the run, `?2` the room for quarantined lines in bytes; `?3`
  /// and `?4` are the last ids of chunks and packs here, after which new rows are numbered. If a statement queried its
  /// own table for the last id, SQLite would first copy the new rows, with all blocks, to a temporary file.
  static let collection = [
    """
    INSERT INTO main.input_file (id, path, last_run) SELECT id, path, ?1 FROM part.input_file WHERE true
    ON CONFLICT (id) DO UPDATE SET last_run = excluded.last_run
    """,
    """
    INSERT OR REPLACE INTO main.run_setting SELECT * FROM part.run_setting
    """,
    """
    INSERT INTO main.event_exception (chunk, ordinal, status, reason)
    SELECT chunk + ?3, ordinal, status, reason FROM part.event_exception
    """,
    """
    INSERT INTO main.chunk
      (id, run, series, rank, status, events, expired, first, last, pack, offset, length, body_bytes, grouping, failures,
        form, body_digest, parent, reason)
    SELECT id + ?3, ?1, series + ?3, rank, status, events, expired, first, last, pack + ?4, offset, length,
      body_bytes, grouping, failures, form, body_digest, parent + ?3, reason
    FROM part.chunk ORDER BY id
    """,
    """
    INSERT INTO main.event_change (run, device, key, before_at, before_emission, before, after, file, line)
    SELECT ?1, device, key, before_at, before_emission, before, after, file, line FROM part.event_change ORDER BY id
    """,
    """
    INSERT INTO main.pack (id, chunks, bytes, sums)
    SELECT id + ?4, chunks, bytes, sums FROM part.pack ORDER BY id
    """,
  ]

  /// The statements that collect quarantined lines, with `?1` and `?2` as above.
  static let quarantineCollection = [
    """
    UPDATE main.quarantine SET seen_run = ?1
    WHERE run <> ?1 AND replayed_run IS NULL AND (resolution IS NULL OR resolution = 'dismissed')
      AND EXISTS (
        SELECT 1 FROM part.quarantine AS p
        WHERE p.file = quarantine.file AND p.line = quarantine.line AND p.offset = quarantine.offset
          AND p.reason = quarantine.reason AND p.raw = quarantine.raw)
    """,
    """
    INSERT INTO main.quarantine_overflow (run, file, reason, lines)
    SELECT ?1, file, reason, lines FROM part.quarantine_overflow WHERE true
    ON CONFLICT (run, file, reason) DO UPDATE SET lines = lines + excluded.lines
    """,
    """
    \(unknownLines)
    INSERT INTO main.quarantine_overflow (run, file, reason, lines)
    SELECT ?1, file, reason, count(*) FROM unknown JOIN part.quarantine USING (id)
    WHERE kind IS NOT NULL AND block IS NULL AND used > ?2 GROUP BY file, reason
    ON CONFLICT (run, file, reason) DO UPDATE SET lines = lines + excluded.lines
    """,
    """
    \(unknownLines)
    INSERT INTO main.quarantine (run, file, line, offset, reason, detail, raw, kind, block, seen_run)
    SELECT ?1, file, line, offset, reason, detail, raw, kind, block, ?1 FROM unknown JOIN part.quarantine USING (id)
    WHERE kind IS NULL OR block IS NOT NULL OR used <= ?2
    ORDER BY id
    """,
  ]

  /// The quarantined lines of a part that the first statement of ``quarantineCollection`` did not find here, with a
  /// running total of bytes.
  private static let unknownLines = """
    WITH unknown AS (
      SELECT id, sum(iif(kind IS NOT NULL AND block IS NULL, length(raw), 0)) OVER (ORDER BY id) AS used
      FROM part.quarantine AS p
      WHERE NOT EXISTS (
        SELECT 1 FROM main.quarantine AS m
        WHERE m.file = p.file AND m.line = p.line AND m.offset = p.offset AND m.reason = p.reason AND m.raw = p.raw
          AND m.seen_run = ?1 AND m.run <> ?1))
    """

  /// Marks this store as a part's result, which a digest covers.
  /// ``EventStore/open(_:format:isResult:isScratch:)`` then rejects it unless `isResult` is true.
  package func mark(part: Int, ofPartition identity: String) throws {
    try connection.write { db in
      try db.execute(sql: "DELETE FROM decided_part")
      try db.execute(sql: "INSERT INTO decided_part (partition, part) VALUES (?, ?)", arguments: [identity, part])
    }
  }
}

/// A file next to the store of a part's result, with the digests of lines that an earlier run of the part read
/// (reference formats 5.2). It never changes, so the results of later nights share it, and each only adds its own.
package enum DigestFile {
  /// - Parameter run: the run that read the lines.
  package static func name(_ run: Int64) -> String {
    let digits = String(run)
    return "known-" + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
  }

  /// Returns the checksum of digests. It has at most 53 bits, like every number in a store.
  static func sum(of digests: [UInt8]) -> Int64 {
    unsafe digests.withUnsafeBytes { unsafe Int64(BlockSums.sum(of: $0) >> 11) }
  }

  /// - Throws: ``StoreError`` if the file cannot be read, or was changed after it was written.
  static func read(_ link: String, from offset: Int64, bytes count: Int, sum: Int64) throws -> [UInt8] {
    // Messages name the file itself rather than a link, whose folder may no longer exist when they are read.
    let path = (try? PathText.resolvingLinks(link)) ?? link
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw StoreError.inputOutput(path: path, operation: "open", code: errno) }
    defer { close(file) }
    guard 0...(1 << 30) ~= count else { throw StoreError.inconsistent("the digests have an invalid length") }
    var bytes = [UInt8](repeating: 0, count: count)
    let done = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, count, off_t(offset)) }
    guard done == count, self.sum(of: bytes) == sum else { throw StoreError.digestFile(path: path) }
    return bytes
  }
}

/// Writes a digest file sequentially.
final class DigestFileWriter {
  private let path: String
  private let descriptor: Int32
  private(set) var byteCount: Int64 = 0

  /// - Throws: ``StoreError``.
  init(_ path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError.inputOutput(path: path, operation: "create", code: errno) }
  }

  deinit { close(descriptor) }

  func append(_ digests: [UInt8]) throws {
    try StoreError.naming(path, "write", FileDescriptor.write(digests, to: descriptor))
    byteCount += Int64(digests.count)
  }
}
