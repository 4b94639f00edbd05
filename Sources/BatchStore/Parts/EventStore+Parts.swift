import BatchFoundation
import GRDB

/// One part of a run in parts, as a store that collects knows it.
package struct CollectedPart: Sendable, Equatable {
  /// The identity of the partition.
  package var partition: String
  /// From 0.
  package var number: Int
  /// How many parts the partition has.
  package var parts: Int

  package init(partition: String, number: Int, of parts: Int) {
    self.partition = partition
    self.number = number
    self.parts = parts
  }
}

/// Stores of single parts: states go from one to the next, and what was decided comes into one.
extension EventStore {
  /// The largest number that a file of an input has here; 0 for none.
  package func lastInputNumber() throws -> UInt32 {
    try read { db in try UInt32.fetchOne(db, sql: "SELECT max(id) FROM input_file") ?? 0 }
  }

  /// Notes files of a run by numbers that were given before.
  package func register(inputs paths: [String], as numbers: [UInt32], run: RunID) throws {
    try write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO input_file (id, path, last_run) VALUES (?, ?, ?)")
      for (path, number) in zip(paths, numbers) { try statement.execute(arguments: [number, path, run.number]) }
    }
  }

  /// Takes over what later runs decide by: states of devices, digests of accepted lines, and who was forgotten.
  ///
  /// - Parameter path: of a closed store, which stays as it is.
  package func adoptStates(of path: String) throws {
    try attaching(path) { db in
      for table in ["device", "digest_segment", "erasure", "erased_id", "erased_count"] {
        try db.execute(sql: "INSERT INTO main.\(table) SELECT * FROM part.\(table)")
      }
      // Proofs are keyed by it.
      try db.execute(sql: "DELETE FROM main.report_key")
      try db.execute(sql: "INSERT INTO main.report_key SELECT * FROM part.report_key")
    }
  }

  /// Takes over what a run decided of a part, as one transaction.
  ///
  /// - Parameters:
  ///   - path: of the part's closed store, which stays as it is.
  ///   - part: which part it is; one that is here already must not come again.
  ///   - run: the run that collects.
  /// - Throws: ``StoreError``, also for files of another chain of partitions.
  package func collect(_ path: String, _ part: CollectedPart, run: RunID) throws {
    let statements = Self.collection + format.collection
    try attaching(path) { db in
      defer { CrashPoint.beforeLocalCommit.reach() }
      try db.execute(
        sql: "INSERT INTO collected_part (partition, part, parts, run) VALUES (?, ?, ?, ?)",
        arguments: [part.partition, part.number, part.parts, run.number])
      let taken = try String.fetchOne(
        db,
        sql: """
          SELECT p.path FROM part.input_file p JOIN main.input_file m ON m.id = p.id AND m.path <> p.path LIMIT 1
          """)
      if let taken { throw StoreError.otherChain(path: self.path, file: taken) }
      for statement in statements {
        try db.execute(sql: statement, arguments: statement.contains("?1") ? [run.number] : [])
      }
    }
    CrashPoint.afterLocalCommit.reach()
  }

  /// The statements in their order; `?1` is the run. Rows are numbered behind those that are there.
  private static let collection = [
    """
    INSERT INTO main.input_file (id, path, last_run) SELECT id, path, ?1 FROM part.input_file WHERE true
    ON CONFLICT (id) DO UPDATE SET last_run = excluded.last_run
    """,
    """
    INSERT OR REPLACE INTO main.run_setting SELECT * FROM part.run_setting
    """,
    """
    INSERT INTO main.event_exception (chunk, ordinal, status, reason)
    SELECT chunk + (SELECT coalesce(max(id), 0) FROM main.chunk), ordinal, status, reason FROM part.event_exception
    """,
    """
    INSERT INTO main.chunk
      (id, run, series, rank, status, events, expired, first, last, pack, offset, length, body_bytes, grouping, failures,
        form, body_digest, parent, reason)
    SELECT id + c.base, ?1, series + c.base, rank, status, events, expired, first, last, pack + p.base, offset, length,
      body_bytes, grouping, failures, form, body_digest, parent + c.base, reason
    FROM part.chunk, (SELECT coalesce(max(id), 0) AS base FROM main.chunk) AS c,
      (SELECT coalesce(max(id), 0) AS base FROM main.pack) AS p
    ORDER BY id
    """,
    """
    INSERT INTO main.pack (id, chunks, bytes, sums)
    SELECT id + (SELECT coalesce(max(id), 0) FROM main.pack), chunks, bytes, sums FROM part.pack ORDER BY id
    """,
    """
    UPDATE main.quarantine SET seen_run = ?1
    WHERE run <> ?1 AND replayed_run IS NULL AND (resolution IS NULL OR resolution = 'dismissed')
      AND EXISTS (
        SELECT 1 FROM part.quarantine AS p
        WHERE p.file = quarantine.file AND p.line = quarantine.line AND p.offset = quarantine.offset
          AND p.reason = quarantine.reason AND p.raw = quarantine.raw)
    """,
    """
    INSERT INTO main.quarantine (run, file, line, offset, reason, detail, raw, kind, block, seen_run)
    SELECT ?1, file, line, offset, reason, detail, raw, kind, block, ?1 FROM part.quarantine AS p
    WHERE NOT EXISTS (
      SELECT 1 FROM main.quarantine AS m
      WHERE m.file = p.file AND m.line = p.line AND m.offset = p.offset AND m.reason = p.reason AND m.raw = p.raw
        AND m.seen_run = ?1 AND m.run <> ?1)
    ORDER BY p.id
    """,
  ]

  /// A partition some of whose parts were collected.
  package func collectedPartitions() throws -> [(identity: String, parts: Int)] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT DISTINCT partition, parts FROM collected_part ORDER BY partition")
        .map { try ($0.value(0), $0.value(1)) }
    }
  }

  /// The numbers of the parts of a partition that were collected.
  package func collectedParts(of partition: String) throws -> [Int] {
    try read { db in
      try Row.fetchAll(
        db, sql: "SELECT part FROM collected_part WHERE partition = ? ORDER BY part", arguments: [partition]
      )
      .map { try $0.value(0) }
    }
  }
}
