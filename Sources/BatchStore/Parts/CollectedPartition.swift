import GRDB

/// A partition whose parts a store collects, as a link in its chain (reference formats 5.4).
package struct CollectedPartition: Sendable, Equatable {
  package var identity: String
  /// The identity of the partition whose states this one continues; nil for the first one.
  package var previous: String?
  package var parts: Int
  /// The digest of the settings of the partition's parts, without secrets.
  package var configuration: String
  /// The numbers of the collected parts, in ascending order, and the runs that collected them.
  package var here: [Int] = []
  package var runs: [RunID] = []
  /// The numbers of the parts whose collecting run has finished, so that `history` has their figures.
  package var reported: Set<Int> = []

  package init(identity: String, previous: String?, parts: Int, configuration: String) {
    self.identity = identity
    self.previous = previous
    self.parts = parts
    self.configuration = configuration
  }

  package var missing: [Int] {
    let here = Set(here)
    return (0..<parts).filter { !here.contains($0) }
  }
}

/// The data that a store lost when an incomplete partition was removed.
package struct DroppedPartition: Sendable, Equatable {
  package var partition: CollectedPartition
  /// The number of accepted lines that came from the partition.
  package var lines: Int
  package var quarantined: Int
  package var events: Int
}

extension Parts {
  /// Returns the partitions that have collected parts, in order.
  package func partitions() throws -> [CollectedPartition] {
    try connection.read { try Self.partitions(in: $0) }
  }

  private static func partitions(in db: Database) throws -> [CollectedPartition] {
    try Row.fetchAll(
      db, sql: "SELECT id, identity, previous, parts, configuration FROM collected_partition ORDER BY id"
    )
    .map { row in
      var partition = try CollectedPartition(
        identity: row.value("identity"), previous: row.value("previous"), parts: row.value("parts"),
        configuration: row.value("configuration"))
      let parts = try Row.fetchAll(
        db,
        sql: """
          SELECT part, run, run IN (SELECT id FROM run WHERE finished IS NOT NULL) AS reported FROM collected_part
          WHERE partition = ? ORDER BY part
          """, arguments: [try row.value("id") as Int64])
      partition.here = try parts.map { try $0.value("part") }
      partition.reported = try Set(parts.filter { try $0.value("reported") }.map { try $0.value("part") })
      partition.runs = try Set(parts.map { try $0.value("run") as RunID }).sorted { $0.number < $1.number }
      return partition
    }
  }

  /// Imports the results of a part, in one transaction.
  ///
  /// - Parameters:
  ///   - path: the part's closed store, which is not changed.
  ///   - part: the part's number. A part must not be collected again.
  ///   - limit: the maximum number of bytes of quarantined lines in the store.
  /// - Throws: ``StoreError``, for example if the files belong to another chain of partitions.
  package func collect(
    _ path: String, part: Int, of partition: CollectedPartition, run: RunID,
    quarantineLimit limit: Int = .max
  ) throws {
    let room = try Quarantine(connection: connection).room(of: limit)
    let statements = Self.collection + Self.quarantineCollection + connection.format.collection.statements
    try connection.attaching(path) { db in
      defer { CrashPoint.beforeLocalCommit.reach() }
      try Self.note(part, of: partition, run: run, appended: appendedTables, in: db)
      let taken = try String.fetchOne(
        db,
        sql: """
          SELECT p.path FROM part.input_file p JOIN main.input_file m ON m.id = p.id AND m.path <> p.path LIMIT 1
          """)
      if let taken { throw StoreError.otherChain(path: connection.path, file: taken) }
      let values = try [run.number, Int64(room), Self.last("chunk", in: db), Self.last("pack", in: db)]
      for statement in statements { try Self.execute(statement, values, in: db) }
      try db.execute(
        sql: """
          INSERT INTO main.digest_segment (bucket, first, last, digests)
          SELECT bucket, first, last, digests FROM part.digest_segment WHERE file IS NULL ORDER BY id
          """)
      let isWhole = try Self.partitions(in: db).last?.missing.isEmpty ?? true
      if isWhole { try settle(db) }
    }
    CrashPoint.afterLocalCommit.reach()
  }

  /// Imports only the quarantined lines of a part, in one transaction. The part may be collected later.
  ///
  /// - Throws: ``StoreError``, also if the part's store is missing or of another schema.
  package func collectQuarantine(_ path: String, run: RunID, limit: Int) throws {
    let room = try Quarantine(connection: connection).room(of: limit)
    try connection.attaching(path) { db in
      for statement in Self.quarantineCollection { try Self.execute(statement, [run.number, Int64(room)], in: db) }
    }
  }

  private static func execute(_ statement: String, _ values: [Int64], in db: Database) throws {
    let count = (1...values.count).last { statement.contains("?\($0)") } ?? 0
    try db.execute(sql: statement, arguments: StatementArguments(values[..<count]))
  }

  private static func last(_ table: String, in db: Database) throws -> Int64 {
    try Row.integer(db, sql: "SELECT coalesce(max(id), 0) FROM main.\(table)") ?? 0
  }

  private static func note(
    _ part: Int, of partition: CollectedPartition, run: RunID, appended: [String], in db: Database
  ) throws {
    let row = "SELECT id FROM collected_partition WHERE identity = ?"
    if try Row.integer(db, sql: row, arguments: [partition.identity]) == nil {
      for table in appended {
        try db.execute(
          sql: "INSERT INTO half_partition (name, last) SELECT ?, coalesce(max(id), 0) FROM main.\(table)",
          arguments: [table])
      }
      try db.execute(
        sql: "INSERT INTO collected_partition (identity, previous, parts, configuration) VALUES (?, ?, ?, ?)",
        arguments: [partition.identity, partition.previous, partition.parts, partition.configuration])
    }
    try db.execute(
      sql:
        "INSERT INTO collected_part (partition, part, run) SELECT id, ?, ? FROM collected_partition WHERE identity = ?",
      arguments: [part, run.number, partition.identity])
  }

  private var appendedTables: [String] {
    ["chunk", "pack", "quarantine", "digest_segment", "event_change"] + connection.format.collection.appended
  }

  /// Deletes the data that is needed only to remove the last partition.
  private func settle(_ db: Database) throws {
    for statement in connection.format.collection.settlement { try db.execute(sql: statement) }
    try db.execute(sql: "DELETE FROM half_partition")
  }

  /// Removes the collected parts of the last partition if its other parts are missing; nothing from them has been sent.
  /// Returns nil if no part is missing.
  package func dropHalf() throws -> DroppedPartition? {
    try connection.write { db in
      guard let partition = try Self.partitions(in: db).last, !partition.missing.isEmpty else { return nil }
      func sum(_ value: String, _ table: String) throws -> Int {
        try db.count(
          "SELECT sum(\(value)) FROM \(table) WHERE id > (SELECT last FROM half_partition WHERE name = ?)", [table])
      }
      let dropped = try DroppedPartition(
        partition: partition, lines: sum("iif(bucket < 256, length(digests) / 16, 0)", "digest_segment"),
        quarantined: sum("1", "quarantine"), events: sum("events", "chunk"))
      for statement in connection.format.collection.withdrawal { try db.execute(sql: statement) }
      try db.execute(
        sql: "DELETE FROM event_exception WHERE chunk > (SELECT last FROM half_partition WHERE name = 'chunk')")
      for table in appendedTables {
        try db.execute(
          sql: "DELETE FROM \(table) WHERE id > (SELECT last FROM half_partition WHERE name = ?)", arguments: [table])
      }
      for run in partition.runs {
        try db.execute(sql: "UPDATE run SET known_until = NULL WHERE id = ?", arguments: [run.number])
        try db.execute(sql: "DELETE FROM quarantine_overflow WHERE run = ?", arguments: [run.number])
      }
      let row = "(SELECT id FROM collected_partition WHERE identity = ?)"
      try db.execute(sql: "DELETE FROM collected_part WHERE partition = \(row)", arguments: [partition.identity])
      try db.execute(sql: "DELETE FROM collected_partition WHERE identity = ?", arguments: [partition.identity])
      try settle(db)
      return dropped
    }
  }
}
