package import BatchFoundation
import GRDB

/// A quarantined line in the store.
package struct StoredQuarantine: Sendable, Equatable {
  package var id: Int64
  package var run: RunID
  package var line: QuarantinedLine
  /// The run that accepted the line in a replay; nil while it is pending.
  package var replayedRun: RunID?
  /// The resolution without a replay; nil if there is none.
  package var resolution: QuarantineResolution?

  package init(
    id: Int64, run: RunID, line: QuarantinedLine, replayedRun: RunID?, resolution: QuarantineResolution? = nil
  ) {
    self.id = id
    self.run = run
    self.line = line
    self.replayedRun = replayedRun
    self.resolution = resolution
  }
}

/// The resolutions without a replay.
package enum QuarantineResolution: String, Sendable {
  /// A later run read the file again and accepted what is there now; an event was processed or is sent again.
  case replaced
  /// A person dismissed it.
  case dismissed
}

/// A pending quarantined line, without its bytes.
package struct WaitingLine: Sendable, Equatable {
  package var id: Int64
  package var file: String
  package var line: UInt64
  package var kind: InputKind
  /// The number of its bytes in the store.
  package var keptBytes: Int
  package var offset: UInt64
  package var reason: QuarantineReason
  /// The last run that read the unchanged line.
  package var seenRun: RunID?
}

extension [WaitingLine] {
  /// The groups of adjacent lines with one file and input kind.
  package var byFile: [ArraySlice<WaitingLine>] {
    var parts: [ArraySlice<WaitingLine>] = []
    var start = 0
    for index in indices.dropFirst() where !self[index].hasPlace(of: self[start]) {
      parts.append(self[start..<index])
      start = index
    }
    return isEmpty ? [] : parts + [self[start...]]
  }
}

extension WaitingLine {
  /// Returns whether both lines are in one file, read as the same kind of input.
  package func hasPlace(of other: WaitingLine) -> Bool { kind == other.kind && file.isIdentical(to: other.file) }
}

/// A pending quarantined event, in its platform's form.
package struct QuarantinedEvent: Sendable, Equatable {
  package var id: Int64
  /// A block with this event alone.
  package var block: [UInt8]
}

/// Quarantined lines and events, pending or not.
package struct Quarantine: Sendable {
  let connection: StoreConnection
  /// The room for lines; unlimited until ``limit(to:)``.
  let room = Guarded(QuarantineRoom())

  /// Passes quarantined lines to `body`, oldest first; without `all` only pending ones.
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` for an unknown reason.
  package func forEachLine(all: Bool, _ body: (StoredQuarantine) throws -> Void) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT \(Self.storedColumns) FROM quarantine
          WHERE ? OR (replayed_run IS NULL AND resolution IS NULL) ORDER BY id
          """, arguments: [all])
      while let row = try rows.next() { try body(stored(row, in: db)) }
    }
  }

  /// Returns an event that was quarantined instead of sent, with its block, as last quarantined; nil if there is none.
  package func line(_ event: EventID) throws -> StoredQuarantine? {
    try connection.read { db in
      try Row.fetchOne(
        db, sql: "SELECT \(Self.storedColumns) FROM quarantine WHERE file = ? ORDER BY id DESC LIMIT 1",
        arguments: [QuarantinedLine.place(ofEvent: event)]
      ).map { try stored($0, in: db) }
    }
  }

  /// Returns the ids of quarantined events whose kept form, that of the wire, contains these bytes.
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

  /// Returns the place of the record that led to the event of a block; nil if unknown.
  private func source(ofBlock block: [UInt8], in db: Database) throws -> RecordSource? {
    let cursor = try connection.format.wireForm.reader(of: block)
    return try cursor.next() ? Runs.source(cursor.source, in: db) : nil
  }

  /// Returns the number of pending lines by reason.
  package func counts() throws -> [QuarantineReason: Int] {
    try connection.read { db in
      var counts: [QuarantineReason: Int] = [:]
      for row in try Row.fetchAll(
        db,
        sql:
          "SELECT reason, count(*) AS lines FROM quarantine WHERE replayed_run IS NULL AND resolution IS NULL GROUP BY reason"
      ) {
        if let reason = try QuarantineReason(rawValue: row.value("reason")) { counts[reason] = try row.value("lines") }
      }
      return counts
    }
  }

  /// Returns the numbers of pending input lines, except those of `run`, by file, input kind and line: eight bytes each.
  package func waitingLines(besides run: RunID? = nil) throws -> [Int64] {
    try connection.read { db in
      try Int64.fetchAll(
        db,
        sql: """
          SELECT id FROM quarantine
          WHERE replayed_run IS NULL AND resolution IS NULL AND kind IS NOT NULL AND (seen_run IS NULL OR seen_run <> ?)
          ORDER BY file, kind, line, id
          """, arguments: [run?.number ?? -1])
    }
  }

  /// Returns the distinct windows of the runs that quarantined the pending lines.
  package func waitingWindows() throws -> [TimeWindow] {
    try connection.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT DISTINCT window_from, window_to FROM run WHERE id IN (
            SELECT run FROM quarantine WHERE replayed_run IS NULL AND resolution IS NULL AND kind IS NOT NULL)
          """
      ).map { try TimeWindow(from: $0.value("window_from"), to: $0.value("window_to")) }
    }
  }

  /// Returns the places of these lines, in the order of their numbers, without those no longer pending.
  package func waitingLines(_ ids: some Collection<Int64>) throws -> [WaitingLine] {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT id, file, line, kind, length(raw) AS bytes, offset, reason, seen_run FROM quarantine
          WHERE id = ? AND replayed_run IS NULL AND resolution IS NULL
          """)
      var lines: [WaitingLine] = []
      for id in ids {
        guard let row = try Row.fetchOne(statement, arguments: [id]),
          let kind = try InputKind(rawValue: row.value("kind")),
          let reason = try QuarantineReason(rawValue: row.value("reason"))
        else {
          continue
        }
        lines.append(
          try WaitingLine(
            id: row.value("id"), file: row.value("file"), line: row.value("line"), kind: kind,
            keptBytes: row.value("bytes"), offset: row.value("offset"), reason: reason, seenRun: row.value("seen_run")))
      }
      return lines
    }
  }

  /// Passes the kept bytes of lines to `body`, in the order of their numbers; empty for a missing line.
  package func forEachRawLine(_ ids: some Collection<Int64>, _ body: (Int64, [UInt8]) throws -> Void) throws {
    try connection.read { db in
      let statement = try db.cachedStatement(sql: "SELECT raw FROM quarantine WHERE id = ?")
      for id in ids { try body(id, try Row.fetchOne(statement, arguments: [id]).map { try $0.blob("raw") } ?? []) }
    }
  }

  /// Returns the kept bytes of a line; empty for a missing one.
  package func rawLine(_ id: Int64) throws -> [UInt8] {
    try connection.read { db in
      try Row.fetchOne(db, sql: "SELECT raw FROM quarantine WHERE id = ?", arguments: [id]).map { try $0.blob("raw") }
        ?? []
    }
  }

  /// Records that a run accepted these lines in a replay.
  package func markReplayed(_ ids: [Int64], by run: RunID) throws {
    try connection.write { db in try Self.markReplayed(ids, by: run, in: db) }
  }

  static func markReplayed(_ ids: [Int64], by run: RunID, in db: Database) throws {
    let statement = try db.cachedStatement(
      sql: "UPDATE quarantine SET replayed_run = ? WHERE id = ? AND replayed_run IS NULL")
    for id in ids { try statement.execute(arguments: [run.number, id]) }
  }

  /// Returns the next pending events that can be checked again, oldest first, after `last` or from the start.
  package func waitingEvents(after last: Int64?, limit: Int) throws -> [QuarantinedEvent] {
    let page = try connection.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT id, block FROM quarantine
          WHERE id > ? AND replayed_run IS NULL AND resolution IS NULL AND block IS NOT NULL ORDER BY id LIMIT ?
          """, arguments: [last ?? .min, limit]
      ).map { try QuarantinedEvent(id: $0.value("id"), block: $0.blob("block")) }
    }
    _ = try EventStore.inOrder(page.map(\.id), after: last, "quarantined events", by: <)
    return page
  }

  /// Returns the next pending events that can be checked again, oldest first, after `last` if given, as quarantined.
  package func events(after last: Int64?, limit: Int) throws -> [StoredQuarantine] {
    try connection.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(Self.storedColumns) FROM quarantine
          WHERE id > ? AND replayed_run IS NULL AND resolution IS NULL AND block IS NOT NULL ORDER BY id LIMIT ?
          """, arguments: [last ?? .min, limit]
      ).map { try stored($0, in: db) }
    }
  }

  /// Resolves pending lines.
  package func resolve(_ ids: [Int64], as resolution: QuarantineResolution) throws {
    guard !ids.isEmpty else { return }
    try connection.write { db in
      let statement = try db.cachedStatement(
        sql: "UPDATE quarantine SET resolution = ? WHERE id = ? AND replayed_run IS NULL AND resolution IS NULL")
      for id in ids { try statement.execute(arguments: [resolution.rawValue, id]) }
    }
  }

  /// Deletes lines of people who were forgotten.
  package func drop(_ ids: [Int64]) throws {
    guard !ids.isEmpty else { return }
    try connection.write { db in
      let statement = try db.cachedStatement(sql: "DELETE FROM quarantine WHERE id = ?")
      for id in ids { try statement.execute(arguments: [id]) }
    }
  }

  /// Records why lines that were tried again are refused.
  package func note(_ reasons: [Int64: (reason: QuarantineReason, detail: String)]) throws {
    guard !reasons.isEmpty else { return }
    try connection.write { db in
      let statement = try db.cachedStatement(sql: "UPDATE quarantine SET reason = ?, detail = ? WHERE id = ?")
      for (id, found) in reasons { try statement.execute(arguments: [found.reason.rawValue, found.detail, id]) }
    }
  }
}
