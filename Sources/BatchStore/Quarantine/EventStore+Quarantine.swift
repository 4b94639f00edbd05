package import BatchFoundation
import GRDB

/// A line that was set aside, as the store keeps it.
package struct StoredQuarantine: Sendable, Equatable {
  package var id: Int64
  package var run: RunID
  package var line: QuarantinedLine
  /// The run that took the line in again; nil while it waits.
  package var replayedRun: RunID?

  package init(id: Int64, run: RunID, line: QuarantinedLine, replayedRun: RunID?) {
    self.id = id
    self.run = run
    self.line = line
    self.replayedRun = replayedRun
  }
}

/// A line that waits in quarantine, without its bytes.
package struct WaitingLine: Sendable, Equatable {
  package var id: Int64
  package var file: String
  package var line: UInt64
  package var kind: InputKind
  /// How many of its bytes the store has.
  package var keptBytes: Int
}

extension EventStore {
  /// Lines that were set aside, oldest first; without `all` only those that were not replayed since.
  package func forEachQuarantined(all: Bool, _ body: (StoredQuarantine) throws -> Void) throws {
    try read { db in
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT id, run, file, line, offset, reason, detail, raw, replayed_run, kind FROM quarantine
          WHERE ? OR replayed_run IS NULL ORDER BY id
          """, arguments: [all])
      while let row = try rows.next() {
        let name: String = row[5]
        guard let reason = QuarantineReason(rawValue: name) else {
          throw StoreError.inconsistent("quarantine reason '\(name)'")
        }
        try body(
          StoredQuarantine(
            id: row[0], run: RunID(number: row[1]),
            line: QuarantinedLine(
              file: row[2], line: UInt64(bitPattern: row[3]), offset: UInt64(bitPattern: row[4]), reason: reason,
              detail: row[6], raw: row.bytes(7), kind: (row[9] as UInt8?).flatMap { InputKind(rawValue: $0) }),
            replayedRun: (row[8] as Int64?).map { RunID(number: $0) }))
      }
    }
  }

  /// How many lines wait in quarantine, by reason.
  package func quarantineCounts() throws -> [QuarantineReason: Int] {
    try read { db in
      var counts: [QuarantineReason: Int] = [:]
      for row in try Row.fetchAll(
        db, sql: "SELECT reason, count(*) FROM quarantine WHERE replayed_run IS NULL GROUP BY reason")
      {
        let name: String = row[0]
        if let reason = QuarantineReason(rawValue: name) { counts[reason] = row[1] }
      }
      return counts
    }
  }

  /// Where the lines of inputs stood that wait, by file, input kind and line.
  package func waitingLines() throws -> [WaitingLine] {
    try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT id, file, line, kind, length(raw) FROM quarantine
          WHERE replayed_run IS NULL AND kind IS NOT NULL ORDER BY file, kind, line, id
          """
      ).compactMap { row in
        guard let kind = InputKind(rawValue: row[3]) else { return nil }
        return WaitingLine(
          id: row[0], file: row[1], line: UInt64(bitPattern: row[2] as Int64), kind: kind, keptBytes: row[4])
      }
    }
  }

  /// What is kept of a quarantined line; empty if it is not there.
  package func rawLine(_ id: Int64) throws -> [UInt8] {
    try read { db in
      try Row.fetchOne(db, sql: "SELECT raw FROM quarantine WHERE id = ?", arguments: [id])?.bytes(0) ?? []
    }
  }

  /// Notes that a run took these lines in again.
  package func markReplayed(_ ids: [Int64], by run: RunID) throws {
    try write { db in
      for id in ids {
        try db.execute(
          sql: "UPDATE quarantine SET replayed_run = ? WHERE id = ? AND replayed_run IS NULL",
          arguments: [run.number, id])
      }
    }
  }

  /// Notes why lines that were tried again are still no records.
  package func note(_ reasons: [Int64: (reason: QuarantineReason, detail: String)]) throws {
    guard !reasons.isEmpty else { return }
    try write { db in
      for (id, found) in reasons {
        try db.execute(
          sql: "UPDATE quarantine SET reason = ?, detail = ? WHERE id = ?",
          arguments: [found.reason.rawValue, found.detail, id])
      }
    }
  }
}
