package import BatchFoundation
import GRDB

/// A chunk in the ledger.
package struct StoredChunk: Sendable, Equatable {
  package var id: Int64
  /// The run that stored the chunk.
  package var run: RunID
  package var events: Int
  /// The number of attempts that count against `Networking.maxNumRetries`.
  package var failures: Int
  /// The chunk from which this one was split off; nil if there is none.
  package var parent: Int64?
  /// The run that settled the chunk; nil while it is pending.
  package var settledRun: RunID?
}

/// An attempt in the ledger.
package struct StoredAttempt: Sendable, Equatable {
  package var chunk: Int64
  /// The position among the chunk's attempts, from 1.
  package var number: Int
  package var run: RunID
  package var started: Instant
  /// The end of the attempt; nil while it is under way, or if its run was killed and no later run has recorded that.
  package var finished: Instant?
  package var outcome: AttemptOutcome?
  /// The reason in the words of the service or of the transport; nil if there is none.
  package var reason: String?
}

extension Ledger {
  /// Returns the chunk with this number; nil if there is none.
  package func chunk(_ id: Int64) throws -> StoredChunk? {
    try connection.first("SELECT id, run, events, failures, parent, settled_run FROM chunk WHERE id = ?", [id]) { row in
      try StoredChunk(
        id: row.value("id"), run: row.value("run"), events: row.value("events"), failures: row.value("failures"),
        parent: row.value("parent"), settledRun: row.value("settled_run"))
    }
  }

  /// Returns the durations of a run's requests that the service answered, in milliseconds, in no particular order.
  package func answerTimes(of run: RunID) throws -> [Int64] {
    try connection.all(
      "SELECT finished - started AS span FROM attempt WHERE run = ? AND finished IS NOT NULL AND outcome IN (?, ?, ?)",
      [run.number, AttemptOutcome.acknowledged, AttemptOutcome.refused, AttemptOutcome.rejected]
    ) { max(0, try $0.value("span")) }
  }

  /// Returns the attempts to send a chunk or any chunk of which it is a part, in order.
  package func attempts(of chunk: Int64) throws -> [StoredAttempt] {
    try connection.all(
      """
      WITH RECURSIVE line (id) AS (
        SELECT ? UNION SELECT chunk.parent FROM chunk JOIN line ON chunk.id = line.id WHERE chunk.parent IS NOT NULL)
      SELECT chunk, number, run, started, finished, outcome, reason FROM attempt
      WHERE chunk IN (SELECT id FROM line) ORDER BY id
      """, [chunk]
    ) { row in
      try StoredAttempt(
        chunk: row.value("chunk"), number: row.value("number"), run: row.value("run"), started: row.value("started"),
        finished: row.value("finished"), outcome: row.value("outcome"), reason: row.value("reason"))
    }
  }
}
