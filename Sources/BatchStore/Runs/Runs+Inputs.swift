package import BatchFoundation
import GRDB

/// The files whose records led to events, numbered so that an event can store its source as two small integers.
extension Runs {
  /// Returns the store's numbers for the files that a run reads, in the order of the paths. New files get a number.
  package func numbers(ofInputs paths: [String], run: RunID) throws -> [UInt32] {
    guard !paths.isEmpty else { return [] }
    return try connection.write { db in
      let known = try db.cachedStatement(sql: "UPDATE input_file SET last_run = ?2 WHERE path = ?1 RETURNING id")
      let new = try db.cachedStatement(sql: "INSERT INTO input_file (path, last_run) VALUES (?1, ?2) RETURNING id")
      return try paths.map { path in
        for statement in [known, new] {
          if let row = try Row.fetchOne(statement, arguments: [path, run.number]) { return try row.value("id") }
        }
        return 0
      }
    }
  }

  /// Returns the numbers that ``numbers(ofInputs:run:)`` would return, for a run that stores nothing.
  package func foreseenNumbers(ofInputs paths: [String]) throws -> [UInt32] {
    try connection.read { db in
      var newest = try UInt32.fetchOne(db, sql: "SELECT max(id) FROM input_file") ?? 0
      let known = try db.cachedStatement(sql: "SELECT id FROM input_file WHERE path = ?")
      return try paths.map { path in
        if let row = try Row.fetchOne(known, arguments: [path]) { return try row.value("id") }
        newest += 1
        return newest
      }
    }
  }

  /// Returns the files whose lines were all accepted earlier, in no particular order. A file whose row is damaged is
  /// omitted, so it is read again.
  package func knownFiles() throws -> [KnownFile] {
    try connection.all("SELECT proof, size, lines, first, last FROM known_file") { row in
      do {
        let (first, last): (Instant, Instant) = (try row.value("first"), try row.value("last"))
        guard first <= last else { return nil as KnownFile? }
        return KnownFile(
          size: try row.value("size"), lines: try row.value("lines"), span: first...last, proof: try row.blob("proof"))
      } catch is UnreadableColumn {
        return nil
      }
    }.compactMap(\.self)
  }

  /// Stores the files whose lines the run accepted without exception. Must be called after everything from them is
  /// stored.
  package func note(knownFiles files: [KnownFile]) throws {
    guard !files.isEmpty else { return }
    try connection.write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO known_file (proof, size, lines, first, last) VALUES (?, ?, ?, ?, ?)")
      for file in files {
        try statement.execute(arguments: [
          file.proof.blob, file.size, file.lines, file.span.lowerBound.milliseconds, file.span.upperBound.milliseconds,
        ])
      }
    }
  }

  /// Deletes the known files, so that every file is read again.
  static func forgetKnownFiles(in db: Database) throws { try db.execute(sql: "DELETE FROM known_file") }

  /// Returns the paths of the files that led to the store's contents, sorted.
  package func inputPaths() throws -> [String] {
    try connection.read { try String.fetchAll($0, sql: "SELECT path FROM input_file ORDER BY path") }
  }

  /// Returns the place where a record was read; nil if it was not stored, or was purged.
  package func source(_ stored: StoredSource) throws -> RecordSource? {
    try connection.read { try Self.source(stored, in: $0) }
  }

  static func source(_ stored: StoredSource, in db: Database) throws -> RecordSource? {
    guard stored.file > 0 else { return nil }
    let statement = try db.cachedStatement(sql: "SELECT path FROM input_file WHERE id = ?")
    return try Row.fetchOne(statement, arguments: [stored.file])
      .map { RecordSource(file: try $0.value("path"), line: stored.line) }
  }

  /// Deletes files to which no event refers. The newest file is kept, because its number must never be reused for
  /// another file.
  static func purgeInputs(in db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM input_file
        WHERE last_run < (SELECT coalesce(min(run), (SELECT max(id) FROM run)) FROM chunk)
          AND id < (SELECT max(id) FROM input_file) AND (SELECT coalesce(sum(holding), 0) FROM state_segment) = 0
        """)
  }

  /// Stores the files of a run under given numbers.
  package func register(inputs paths: [String], as numbers: [UInt32], run: RunID) throws {
    try connection.write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO input_file (id, path, last_run) VALUES (?, ?, ?)")
      for (path, number) in zip(paths, numbers) { try statement.execute(arguments: [number, path, run.number]) }
    }
  }

  /// Returns the numbers of the stored files by path. If a path has several numbers, the last one is returned.
  package func inputNumbers() throws -> [String: UInt32] {
    let rows = try connection.all("SELECT path, id FROM input_file ORDER BY id") {
      try ($0.value("path") as String, $0.value("id") as UInt32)
    }
    return Dictionary(rows) { $1 }
  }
}
