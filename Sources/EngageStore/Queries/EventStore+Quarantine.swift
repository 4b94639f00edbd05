package import EngageModel
import GRDB

/// A line that was set aside, as the store keeps it.
package struct StoredQuarantine: Sendable, Equatable {
  package var id: Int64
  package var run: RunID
  package var line: QuarantinedLine
  /// The run that took the line in again; nil while it waits.
  package var replayedRun: RunID?
}

extension EventStore {
  /// Lines that were set aside, oldest first; without `all` only those that were not replayed since.
  package func forEachQuarantined(all: Bool, _ body: (StoredQuarantine) throws -> Void) throws {
    try read { db in
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT id, run, file, line, offset, reason, detail, raw, replayed_run FROM quarantine
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
              detail: row[6], raw: row.bytes(7)),
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

  /// Notes that a run took these lines in again; what is wrong with them still is set aside anew by it.
  package func markReplayed(_ ids: [Int64], by run: RunID) throws {
    try write { db in
      for id in ids {
        try db.execute(
          sql: "UPDATE quarantine SET replayed_run = ? WHERE id = ? AND replayed_run IS NULL",
          arguments: [run.number, id])
      }
    }
  }
}
