import BatchFoundation
package import BatchStore
import GRDB

/// The stored questions to deltaDNA's decision service, and its last answers. Functions throw ``StoreError``.
package struct Decisions: Sendable {
  let connection: StoreConnection

  /// Deletes the questions that finished runs reported, and assigns to this run those that a killed run settled.
  func begin(_ run: RunID) throws {
    try connection.write { db in
      try db.execute(
        sql: """
          DELETE FROM decision_request
          WHERE settled_by IN (SELECT id FROM run WHERE finished IS NOT NULL AND id <> ?1)
          """, arguments: [run.number])
      try db.execute(
        sql: "UPDATE decision_request SET settled_by = ?1 WHERE settled_by IS NOT NULL", arguments: [run.number])
    }
  }

  /// Returns the questions that a killed run began to send. The service may have seen them, so they are not sent again.
  func interrupted() throws -> [StoredDecision] {
    try questions("state = 1 ORDER BY id")
  }

  private func questions(_ condition: String, _ arguments: StatementArguments = []) throws -> [StoredDecision] {
    try connection.read { db in
      try Row.fetchAll(
        db, sql: "SELECT \(StoredDecision.columns) FROM decision_request WHERE \(condition)", arguments: arguments
      ).map { try StoredDecision($0) }
    }
  }

  /// Returns the next pending questions after `last` (nil for the first ones), ordered by time, device and emission.
  func pending(after last: StoredDecision?, limit: Int) throws -> [StoredDecision] {
    let page = try questions(
      "(time, device, emission, id) > (?, ?, ?, ?) AND state = 0 ORDER BY time, device, emission, id LIMIT ?",
      [last?.timestamp.milliseconds ?? .min, last?.device ?? "", last?.emission ?? 0, last?.id ?? 0, limit])
    return try EventStore.inOrder(page, after: last, "decisions") {
      ($0.timestamp.milliseconds, ByteText($0.device), $0.emission, $0.id)
        < ($1.timestamp.milliseconds, ByteText($1.device), $1.emission, $1.id)
    }
  }

  /// Writes settlements and, if `begins` is not nil, the start of that question, in one transaction.
  func commit(
    _ settled: [(decision: StoredDecision, settlement: DecisionSettlement)], begins: StoredDecision?, run: RunID,
    asOf: Instant
  ) throws {
    try connection.write { db in
      for (decision, settlement) in settled {
        try db.execute(
          sql: """
            UPDATE decision_request SET state = 2, settled_by = ?, status = ?, cached = ?, error = ?, answer = ?
            WHERE id = ?
            """,
          arguments: [
            run.number, settlement.status, settlement.isCached, settlement.error, settlement.answer, decision.id,
          ])
        if settlement.isKept, let answer = settlement.answer {
          try db.execute(
            sql: """
              INSERT INTO decision_answer (user, point, flavour, as_of, answer) VALUES (?, ?, ?, ?, ?)
              ON CONFLICT (user, point, flavour) DO UPDATE SET as_of = excluded.as_of, answer = excluded.answer
              """,
            arguments: [decision.userID, decision.decisionPoint, decision.flavour, asOf.milliseconds, answer])
        }
      }
      if let begins {
        try db.execute(sql: "UPDATE decision_request SET state = 1 WHERE id = ?", arguments: [begins.id])
      }
    }
  }

  /// Returns the service's last answer for the same user, decision point and flavour, if it is newer than `oldest`.
  func earlierAnswer(to decision: StoredDecision, after oldest: Instant) throws -> String? {
    try connection.read { db in
      try String.fetchOne(
        db,
        sql: "SELECT answer FROM decision_answer WHERE user = ? AND point = ? AND flavour = ? AND as_of > ?",
        arguments: [decision.userID, decision.decisionPoint, decision.flavour, oldest.milliseconds])
    }
  }

  /// Returns the numbers of pending questions, of those settled by the last run, and of answers kept in case later
  /// requests fail.
  ///
  /// - Throws: ``StoreError``.
  package func counts() throws -> (pending: Int, settled: Int, answers: Int) {
    try connection.read { db in
      func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(sql)") ?? 0 }
      return (
        try count("decision_request WHERE state < 2"), try count("decision_request WHERE state = 2"),
        try count("decision_answer")
      )
    }
  }

  /// Returns a device's questions that are pending or were settled by the last run.
  ///
  /// - Throws: ``StoreError``.
  package func questions(ofDevice device: String) throws -> [StoredDecision] {
    try questions("device = ? ORDER BY time, emission, id", [device])
  }

  /// Calls `body` with a line, without its line ending, for each question that a run settled or that is still pending
  /// (as `notAsked`), ordered by time, device and emission (reference deltadna 9).
  package func forEachLine(of run: RunID, _ body: (String) throws -> Void) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT \(StoredDecision.columns) FROM decision_request WHERE settled_by = ? OR state < 2
          ORDER BY time, device, emission, id
          """, arguments: [run.number])
      while let row = try rows.next() { try body(try StoredDecision(row).line) }
    }
  }
}

extension EventStore {
  package var decisions: Decisions { Decisions(connection: connection) }
}
