package import BatchFoundation
package import BatchStore
package import EngageRules
package import TestSupport

extension TemporaryFolder {
  /// A store here with these events, and the run that stored them.
  package func filled(_ events: [Event], maxEvents: Int = 100) throws -> (EventStore, RunID) {
    let store = try EventStore.open(self.store)
    let run = try store.runs.begin(job: "j", configurationDigest: "", started: .fixture, asOf: .fixture)
    let limits = RequestLimits(maxEvents: maxEvents, maxBodyBytes: 1_000_000)
    try store.commit(EventFixtures().batch(events, limits: limits), run: run)
    return (store, run)
  }
}

extension Instant {
  /// 2026-01-01T00:00:00Z
  package static let fixture = Instant(milliseconds: 1_767_225_600_000)
}

/// Single steps of the ledger.
extension Ledger {
  package func prepare(_ chunk: PendingChunk) throws -> PreparedChunk {
    try prepare(chunk, form: 0, limits: .test())
  }

  package func begin(_ chunk: PendingChunk, _ run: RunID) throws -> Int64 {
    let intent = (prepared: try prepare(chunk), started: Instant.fixture)
    let begun = try commit(results: [], intents: [intent], run: run, limits: .test()).begun[0]
    guard let begun else { throw StoreError.inconsistent("the chunk became parts") }
    return begun.attempt
  }

  package func end(
    _ run: RunID, _ chunk: PendingChunk, _ attempt: Int64, _ outcome: AttemptOutcome, _ verdict: ChunkVerdict,
    reason: String? = nil
  ) throws -> LedgerReceipt {
    let result = AttemptResult(
      attempt: attempt, chunk: chunk, finished: .fixture, outcome: outcome, reason: reason, verdict: verdict)
    return try commit(results: [result], intents: [], run: run, limits: .test())
  }
}
