import BatchFoundation
import GRDB
import Glibc

/// The rows copied from a damaged store, and the damaged parts that were left out.
package struct SalvageReport: Sendable {
  /// The number of rows copied from each table, sorted by table name.
  package var rows: [(table: String, rows: Int)] = []
  package var lost: [StoreDamage] = []
}

extension EventStore {
  /// Copies all intact data to a new store. This store is not changed.
  ///
  /// The new store is written next to its final path and marked as unfinished until its last row is written.
  ///
  /// - Parameter path: a path where nothing exists.
  /// - Throws: ``StoreError``.
  package func salvage(to path: String) throws -> SalvageReport {
    let place = try StoreFile(path)
    guard try StoreFile.status(place.path, path) == nil else { throw StoreError.exists(path: path) }
    let draft = place.salvage
    try Self.removeUnfinished(draft)
    // Columns of another build's store that this build does not know would be lost.
    try connection.read { try StoreSchema.checkForm($0, path: self.path, isWhole: false) }
    let target = try EventStore.open(draft, format: format)
    try target.write { try $0.execute(sql: "PRAGMA application_id = \(StoreSchema.salvageID)") }
    try target.connection.emptyLog()
    let report = try takeOver(into: target)
    try target.close()
    try StoreError.naming(path, "create", DraftFile.name(draft, as: place.path))
    // The note of the draft's lock holder is obsolete, because the finished store gets its own.
    unsafe unlink(draft + ".lock")
    return report
  }

  /// Removes the files that an interrupted salvage left. Throws ``StoreError/exists(path:)`` for anything else
  /// there.
  private static func removeUnfinished(_ draft: String) throws {
    do {
      guard try StoreFile(draft).isThere() else { return }
    } catch StoreError.unfinished {
      for end in ["", "-wal", "-shm", ".lock"] { unsafe unlink(draft + end) }
      return
    }
    throw StoreError.exists(path: draft)
  }

  private func takeOver(into target: EventStore) throws -> SalvageReport {
    var report = SalvageReport()
    try target.write { new in
      // The key of the old store replaces that of the new one.
      try new.execute(sql: "DELETE FROM report_key")
      let foreign = try connection.read { old in
        try Set(String.fetchAll(old, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main'"))
          .subtracting(Self.plainTables(old))
      }
      // If digests are lost, their lines must be read again, so no file counts as known.
      for table in try StoredTable.all(in: new) where !["platform_schema", "known_file"].contains(table.name) {
        guard !foreign.contains(table.name) else {
          report.lost.append(
            StoreDamage(
              table: table.name, problem: "a view or other computed object has this name; it was not copied"))
          continue
        }
        var count = 0
        do {
          try connection.read { old in count = try Self.copy(table, from: old, to: new, &report) }
        } catch let error as StoreError {
          report.lost.append(StoreDamage(table: table.name, problem: error.problem))
        }
        report.rows.append((table.name, count))
      }
      if try Int.fetchOne(new, sql: "SELECT count(*) FROM report_key") == 0 {
        try new.execute(sql: "INSERT INTO report_key (bytes) VALUES (randomblob(32))")
      }
      try target.dropDamagedChunks(new, &report)
      try target.dropDamagedStates(new, &report)
      try new.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
    }
    return report
  }

  /// Copies the rows whose columns are all intact. If a damaged page stops the reading, the rest is read from the other
  /// end.
  private static func copy(
    _ table: StoredTable, from old: Database, to new: Database, _ report: inout SalvageReport
  ) throws -> Int {
    let names = table.columns.map { StoredTable.Column.quoted($0.name) }
    let order = table.hasRowNumbers ? ["rowid"] : table.key.map(StoredTable.Column.quoted)
    let whole = table.columns.map(\.isWhole).joined(separator: " AND ")
    let insert = try new.makeStatement(
      sql: """
        INSERT OR IGNORE INTO \(table.quoted) (\(names.joined(separator: ", ")))
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        """)
    var count = 0
    func take(_ direction: String) throws {
      let rows = try Row.fetchCursor(
        old,
        sql: """
          SELECT \(whole), \(table.hasRowNumbers ? "rowid" : "NULL"), \(names.joined(separator: ", ")) FROM \(table.quoted)
          ORDER BY \(order.map { "\($0) \(direction)" }.joined(separator: ", "))
          """)
      while let row = try rows.next() {
        let values: [DatabaseValue] = (2..<row.count).map { row[$0] }
        guard (row[0] as DatabaseValue) == true.databaseValue else {
          let number: Int64? = (row[1] as DatabaseValue).storage.value as? Int64
          let damage = StoreDamage(table: table.name, row: number, problem: "the row is damaged and was not copied")
          if !report.lost.contains(damage) { report.lost.append(damage) }
          continue
        }
        try insert.execute(arguments: StatementArguments(values))
        count += new.changesCount
      }
    }
    do {
      try take("ASC")
    } catch let error as DatabaseError {
      do {
        try take("DESC")
      } catch is DatabaseError {
        // Reading from the other end has reached the same damage.
      }
      // This count may read only an index, which may be intact although its table is not.
      let all = try? Int.fetchOne(old, sql: "SELECT count(*) FROM \(table.quoted)")
      let missing = all.map { "\(max(0, $0 - count)) of \($0)" } ?? "number unknown, \(count) copied"
      report.lost.append(
        StoreDamage(
          table: table.name, problem: "unreadable rows were not copied (\(missing)): \(error.resultCode)"))
    }
    return count
  }

  /// Drops chunks without an intact block, because they could never be sent and would make every run fail.
  private func dropDamagedChunks(_ db: Database, _ report: inout SalvageReport) throws {
    var damaged: [StoreDamage] = []
    try Self.forEachChunkRow(db) { row in
      if let damage = try damage(ofChunk: row, in: db) { damaged.append(damage) }
    }
    for damage in damaged {
      try db.execute(sql: "DELETE FROM chunk WHERE id = ?", arguments: [damage.row])
      try db.execute(sql: "DELETE FROM event_exception WHERE chunk = ?", arguments: [damage.row])
      try db.execute(sql: "DELETE FROM attempt WHERE chunk = ?", arguments: [damage.row])
    }
    report.lost += damaged
  }

  /// Keeps the intact states of damaged segments, and recounts all states, because rows may be missing.
  private func dropDamagedStates(_ db: Database, _ report: inout SalvageReport) throws {
    var damaged: [(segment: StateSegment, states: DeviceStates)] = []
    try Timelines.forEachDamagedSegment(in: db) { damaged.append(($0, $1)) }
    for (segment, states) in damaged {
      report.lost.append(
        StoreDamage(
          table: "state_segment", row: segment.id,
          problem: "damaged device states were not copied (\(segment.lost(states)))"))
      try Timelines.keep(states, of: segment, in: db)
    }
    try timelines.rewriteStates(in: db)
  }
}

extension EventStore {
  /// Copies all committed data page by page to a new file, in one read transaction. Other connections may write in the
  /// meantime.
  ///
  /// - Parameter path: a path where nothing exists. The copy gets this name once its pages and rows are verified.
  /// - Returns: the size of the copy in bytes.
  /// - Throws: ``StoreError``.
  package func backUp(to path: String) throws -> Int {
    let place = try StoreFile(path)
    guard try StoreFile.status(place.path, path) == nil else { throw StoreError.exists(path: path) }
    let (draft, descriptor) = try StoreError.naming(
      path, "create", TemporaryPath.file("\(PathText.folder(of: place.path))/.engage-batch-"))
    Glibc.close(descriptor)
    defer { for end in ["", "-wal", "-shm", "-journal"] { unsafe unlink(draft + end) } }
    try StoreError.translating(path) {
      let copy = try DatabaseQueue(path: draft)
      let result = Result { try connection.queue.backup(to: copy) }
      try copy.close()
      try result.get()
    }
    let copy = try EventStore.openReading(draft, format: connection.format)
    var damage: StoreDamage?
    try copy.check { if damage == nil { damage = $0 } }
    try copy.close()
    if let damage { throw StoreError.damaged(path: connection.path, detail: damage.problem) }
    // SQLite has already made the copy durable.
    let size = try StoreError.naming(path, "create", FileStatus.at(draft)?.size ?? 0)
    try StoreError.naming(path, "create", DraftFile.name(draft, as: place.path))
    return Int(size)
  }
}

extension EventStore {
  /// Returns the page if each entry follows the previous one, and the first entry follows the last one of the previous
  /// page.
  ///
  /// Without this, a listing could repeat entries forever if an index contradicts its rows or a value is misread.
  ///
  /// - Parameters:
  ///   - last: the last entry of the previous page; nil for the first page.
  ///   - what: the kind of entries, for the error message.
  ///   - precedes: whether the first entry must come before the second.
  /// - Throws: ``StoreError/inconsistent(_:)``.
  package static func inOrder<Entry>(
    _ page: [Entry], after last: Entry?, _ what: String, by precedes: (Entry, Entry) -> Bool
  ) throws -> [Entry] {
    var last = last
    for entry in page {
      if let last, !precedes(last, entry) { throw StoreError.inconsistent("the \(what) are out of order") }
      last = entry
    }
    return page
  }
}
