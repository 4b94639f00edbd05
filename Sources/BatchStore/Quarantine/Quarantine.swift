package import BatchFoundation
import GRDB

/// A quarantined line in the store.
package struct StoredQuarantine: Sendable, Equatable {
  package var id: Int64
  package var run: RunID
  package var line: QuarantinedLine
  /// The run that accepted the line in a replay; nil if none has.
  package var replayedRun: RunID?
  /// The resolution other than a replay; nil if there is none.
  package var resolution: QuarantineResolution?
}

/// The resolutions other than a replay.
package enum QuarantineResolution: String, Sendable {
  /// For a line: a later run read the file again and accepted its current content. For an event: it was processed
  /// again, or is sent again.
  case replaced
  /// A person dismissed the line or the event.
  case dismissed
}

/// A pending quarantined line, without its bytes.
package struct PendingLine: Sendable, Equatable {
  package var id: Int64
  package var file: String
  package var line: UInt64
  package var kind: InputKind
  /// The number of bytes of the line that are stored.
  package var keptBytes: Int
  package var offset: UInt64
  package var reason: QuarantineReason
  /// The last run that read the unchanged line; nil if unknown.
  package var seenRun: RunID?
}

extension [PendingLine] {
  /// The groups of adjacent lines that have the same file and kind of input.
  package var byFile: [ArraySlice<PendingLine>] {
    var parts: [ArraySlice<PendingLine>] = []
    var start = 0
    for index in indices.dropFirst() where !self[index].hasPlace(of: self[start]) {
      parts.append(self[start..<index])
      start = index
    }
    return isEmpty ? [] : parts + [self[start...]]
  }
}

extension PendingLine {
  /// Returns whether both lines are in the same file, read as the same kind of input.
  package func hasPlace(of other: PendingLine) -> Bool { kind == other.kind && file.isIdentical(to: other.file) }
}

/// Quarantined lines and events, pending or not. Functions throw ``StoreError``; see ``EventStore``.
package struct Quarantine: Sendable {
  let connection: StoreConnection
  /// The room for lines; unlimited until ``limit(to:)`` is called.
  let room = Guarded(QuarantineRoom())

  /// Passes quarantined lines and events to `body`, oldest first: all of them if `all` is true, otherwise only pending
  /// ones.
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` for an unknown reason.
  package func forEachLine(all: Bool, _ body: (StoredQuarantine) throws -> Void) throws {
    try connection.read { db in
      let query = """
        SELECT \(Self.storedColumns) FROM quarantine
        WHERE ? OR (replayed_run IS NULL AND resolution IS NULL) ORDER BY id
        """
      try db.forEachRow(query, [all]) { try body(stored($0, in: db)) }
    }
  }

  /// Returns the last quarantine entry of an event, with its block if there is one; nil if it was never quarantined.
  package func line(_ event: EventID) throws -> StoredQuarantine? {
    try connection.read { db in
      try Row.fetchOne(
        db, sql: "SELECT \(Self.storedColumns) FROM quarantine WHERE file = ? ORDER BY id DESC LIMIT 1",
        arguments: [QuarantinedLine.place(ofEvent: event)]
      ).map { try stored($0, in: db) }
    }
  }

  /// Returns the ids of quarantined events whose stored JSON contains these bytes, the latest first.
  package func events(mentioning bytes: [UInt8]) throws -> [EventID] {
    try connection.read { db in
      try String.fetchAll(
        db,
        sql: "SELECT file FROM quarantine WHERE block IS NOT NULL AND instr(raw, ?) > 0 ORDER BY id DESC",
        arguments: [bytes.blob]
      ).compactMap { QuarantinedLine.event(at: $0).flatMap { EventID($0) } }
    }
  }

  /// The columns that ``stored(_:in:)`` reads.
  private static let storedColumns =
    "id, run, file, line, offset, reason, detail, raw, replayed_run, kind, resolution, block"

  private func stored(_ row: Row, in db: Database) throws -> StoredQuarantine {
    guard let reason = try QuarantineReason(rawValue: row.value("reason")) else {
      throw StoreError.inconsistent("the quarantine contains an unknown reason")
    }
    var line = try QuarantinedLine(
      file: row.value("file"), line: row.value("line"), offset: row.value("offset"), reason: reason,
      detail: row.value("detail"), raw: row.blob("raw"),
      kind: (row.value("kind") as UInt8?).flatMap { InputKind(rawValue: $0) })
    line.block = try row.bytes("block")
    line.source = try line.block.flatMap { try source(ofBlock: $0, in: db) }
    return StoredQuarantine(
      id: try row.value("id"), run: try row.value("run"), line: line, replayedRun: try row.value("replayed_run"),
      resolution: (try row.value("resolution") as String?).flatMap { QuarantineResolution(rawValue: $0) })
  }

  /// Returns the place of the record that led to the event of a block; nil if it is unknown.
  private func source(ofBlock block: [UInt8], in db: Database) throws -> RecordSource? {
    let cursor = try connection.format.wireForm.reader(of: block)
    return try cursor.next() ? Runs.source(cursor.source, in: db) : nil
  }

  /// Returns the number of pending lines and events by reason.
  package func counts() throws -> [QuarantineReason: Int] {
    var counts: [QuarantineReason: Int] = [:]
    try connection.forEach(
      "SELECT reason, count(*) AS lines FROM quarantine WHERE replayed_run IS NULL AND resolution IS NULL GROUP BY reason"
    ) { row in
      if let reason = try QuarantineReason(rawValue: row.value("reason")) { counts[reason] = try row.value("lines") }
    }
    return counts
  }

  /// Returns the numbers of lines and events that replays imported, by the number of the replay, then by the number of
  /// the run that quarantined them.
  package func replayedLines() throws -> [Int64: [Int64: Int]] {
    var lines: [Int64: [Int64: Int]] = [:]
    try connection.forEach(
      "SELECT replayed_run, run, count(*) AS lines FROM quarantine WHERE replayed_run IS NOT NULL GROUP BY 1, 2"
    ) { row in
      try lines[row.value("replayed_run"), default: [:]][row.value("run")] = row.value("lines")
    }
    return lines
  }

  /// Returns the ids of pending input lines, except those that `run` read, sorted by file, input kind and line. Ids
  /// need little memory.
  package func pendingLines(besides run: RunID? = nil) throws -> [Int64] {
    try connection.all(
      """
      SELECT id FROM quarantine
      WHERE replayed_run IS NULL AND resolution IS NULL AND kind IS NOT NULL AND (seen_run IS NULL OR seen_run <> ?)
      ORDER BY file, kind, line, id
      """, [run?.number ?? -1]
    ) { try $0.value(0) }
  }

  /// Returns the distinct windows of the runs that quarantined the pending lines.
  package func pendingWindows() throws -> [TimeWindow] {
    try connection.all(
      """
      SELECT DISTINCT window_from, window_to FROM run WHERE id IN (
        SELECT run FROM quarantine WHERE replayed_run IS NULL AND resolution IS NULL AND kind IS NOT NULL)
      """
    ) { try TimeWindow(from: $0.value("window_from"), to: $0.value("window_to")) }
  }

  /// Returns the places of the lines with these ids, in the order of `ids`; lines that are not pending are omitted.
  package func pendingLines(_ ids: some Collection<Int64>) throws -> [PendingLine] {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT id, file, line, kind, length(raw) AS bytes, offset, reason, seen_run FROM quarantine
          WHERE id = ? AND replayed_run IS NULL AND resolution IS NULL
          """)
      var lines: [PendingLine] = []
      for id in ids {
        guard let row = try Row.fetchOne(statement, arguments: [id]),
          let kind = try InputKind(rawValue: row.value("kind")),
          let reason = try QuarantineReason(rawValue: row.value("reason"))
        else {
          continue
        }
        lines.append(
          try PendingLine(
            id: row.value("id"), file: row.value("file"), line: row.value("line"), kind: kind,
            keptBytes: row.value("bytes"), offset: row.value("offset"), reason: reason, seenRun: row.value("seen_run")))
      }
      return lines
    }
  }

  /// Passes the stored bytes of lines to `body`, in the order of `ids`; empty for a missing line.
  package func forEachRawLine(_ ids: some Collection<Int64>, _ body: (Int64, [UInt8]) throws -> Void) throws {
    try connection.read { db in
      let statement = try db.cachedStatement(sql: "SELECT raw FROM quarantine WHERE id = ?")
      for id in ids { try body(id, try Row.fetchOne(statement, arguments: [id]).map { try $0.blob("raw") } ?? []) }
    }
  }

  /// Returns the stored bytes of a line; empty for a missing line.
  package func rawLine(_ id: Int64) throws -> [UInt8] {
    try connection.first("SELECT raw FROM quarantine WHERE id = ?", [id]) { try $0.blob("raw") } ?? []
  }

  /// Records that a run accepted the lines with these ids in a replay.
  package func markReplayed(_ ids: [Int64], by run: RunID) throws {
    try connection.write { db in try Self.markReplayed(ids, by: run, in: db) }
  }

  static func markReplayed(_ ids: [Int64], by run: RunID, in db: Database) throws {
    let statement = try db.cachedStatement(
      sql: "UPDATE quarantine SET replayed_run = ? WHERE id = ? AND replayed_run IS NULL")
    for id in ids { try statement.execute(arguments: [run.number, id]) }
  }

  /// Returns the next pending events that a replay can process, oldest first: those after the id `last`, or from the
  /// start if nil.
  package func pendingEvents(after last: Int64?, limit: Int) throws -> [StoredQuarantine] {
    let page = try connection.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(Self.storedColumns) FROM quarantine
          WHERE id > ? AND replayed_run IS NULL AND resolution IS NULL AND block IS NOT NULL ORDER BY id LIMIT ?
          """, arguments: [last ?? .min, limit]
      ).map { try stored($0, in: db) }
    }
    _ = try EventStore.inOrder(page.map(\.id), after: last, "quarantined events", by: <)
    return page
  }

  /// Resolves the lines with these ids if they are pending.
  package func resolve(_ ids: [Int64], as resolution: QuarantineResolution) throws {
    try change(
      "UPDATE quarantine SET resolution = ? WHERE id = ? AND replayed_run IS NULL AND resolution IS NULL",
      ids.map { [resolution.rawValue, $0] })
  }

  /// Executes a statement once for each list of arguments, in one transaction.
  private func change(_ sql: String, _ rows: [StatementArguments]) throws {
    guard !rows.isEmpty else { return }
    try connection.write { db in
      let statement = try db.cachedStatement(sql: sql)
      for row in rows { try statement.execute(arguments: row) }
    }
  }

  /// Deletes the lines with these ids, because they are about people who were forgotten.
  package func drop(_ ids: [Int64]) throws {
    try change("DELETE FROM quarantine WHERE id = ?", ids.map { [$0] })
  }

  /// Records the reasons for which lines were refused when they were tried again.
  package func note(_ reasons: [Int64: (reason: QuarantineReason, detail: String)]) throws {
    try change(
      "UPDATE quarantine SET reason = ?, detail = ? WHERE id = ?",
      reasons.map { [$1.reason.rawValue, $1.detail, $0] })
  }
}
