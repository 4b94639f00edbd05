package import BatchFoundation
import GRDB

/// A chunk that waits to be sent.
package struct PendingChunk: Sendable, Equatable {
  package var id: Int64
  package var first: Instant
  package var events: Int
  package var bodyBytes: Int
  /// As in ``EventBlocks/Entry/group``.
  package var group = 0
  /// Attempts so far that count against it, over all runs; at `Networking.maxNumRetries` it may be suspected.
  package var failures: Int
  /// SHA-256 of the body that was sent or planned before; nil for a chunk that is not frozen yet.
  package var digest: [UInt8]?
  /// How the destination made that body.
  package var form: Int

  /// The chunk whose events it has a part of; nil for one as the rules made it.
  package var parent: Int64?

  var pack: Int64
  var offset: Int
  var length: Int
  var rank: Int64
}

/// The exact body of a chunk, ready to go.
package struct PreparedChunk: Sendable {
  package var chunk: PendingChunk
  package var body: [UInt8]
  package var digest: [UInt8]
  package var form: Int
  /// The chunk's events as the platform changed them; nil if it did not.
  var replacement: EventBlocks?
}

/// How an attempt ended (reference guarantees 3).
package enum AttemptOutcome: Int, CaseIterable, Sendable {
  case acknowledged = 1
  /// No byte of the request left.
  case notSent = 2
  /// The service said that it did not take the request, whatever was in it.
  case refused = 3
  /// The service said that the data is wrong.
  case rejected = 4
  /// The service may have taken the request.
  case unknown = 5

  /// As reports show it.
  package var name: String {
    switch self {
    case .acknowledged: "acknowledged"
    case .notSent: "not sent"
    case .refused: "refused"
    case .rejected: "rejected"
    case .unknown: "unknown"
    }
  }
}

extension AttemptOutcome: DatabaseValueConvertible {}

/// What the end of an attempt means for its chunk.
package enum ChunkVerdict: Sendable, Equatable {
  case posted
  /// Waits for another attempt.
  case pending(countsAsFailure: Bool)
  /// Held for an operator.
  case unknown
  /// Its events go on in two halves; a chunk of one event is quarantined instead.
  case split
}

/// What becomes of a chunk that waits, without an attempt.
package enum ChunkChange: Sendable, Equatable {
  /// The service refused its one event.
  case quarantine(PendingChunk)
  /// The service fails at its one event, alone: it becomes `FAILED_POST` with the reason of its last attempt.
  case giveUp(PendingChunk)
  /// Its events go on in two halves.
  case halve(PendingChunk)
  /// The halves of a chunk become the chunk again. After an outage nothing counts against it any more.
  case join([Int64], of: PendingChunk, isOutage: Bool)
}

/// An attempt that is about to begin.
package struct AttemptIntent: Sendable {
  package var prepared: PreparedChunk
  package var started: Instant

  package init(prepared: PreparedChunk, started: Instant) {
    self.prepared = prepared
    self.started = started
  }
}

/// An attempt that has ended.
package struct AttemptResult: Sendable {
  package var attempt: Int64
  package var chunk: PendingChunk
  package var finished: Instant
  package var outcome: AttemptOutcome
  /// In words without any value of an event; nil for an acknowledged one.
  package var reason: String?
  package var verdict: ChunkVerdict

  package init(
    attempt: Int64, chunk: PendingChunk, finished: Instant, outcome: AttemptOutcome, reason: String?,
    verdict: ChunkVerdict
  ) {
    self.attempt = attempt
    self.chunk = chunk
    self.finished = finished
    self.outcome = outcome
    self.reason = reason
    self.verdict = verdict
  }
}

/// An attempt that is durable and may be carried out.
package struct BegunAttempt: Sendable, Equatable {
  package var attempt: Int64
  /// The chunk as it stands now, frozen.
  package var chunk: PendingChunk
}

/// What a commit of the ledger gave out.
package struct LedgerReceipt: Sendable {
  /// The intents' attempts, in their order; nil for a chunk that became parts instead.
  package var begun: [BegunAttempt?] = []
  /// New chunks that came out of rejected and suspected ones.
  package var parts: [PendingChunk] = []
  /// Chunks that their halves were put together to.
  package var joined: [PendingChunk] = []
  /// Chunks of one event that went to quarantine.
  package var quarantined = 0
  /// Chunks of one event that became `FAILED_POST` otherwise.
  package var givenUp = 0
}

/// Attempts that a killed run left open.
package struct RecoveredAttempts: Sendable, Equatable {
  package var attempts: Int
  /// The chunks of these attempts, each once.
  package var chunks: [Int64]
  /// What earlier runs left in doubt, those attempts included, and have not told, by the number of the chunk.
  package var inDoubt: [Doubt]

  package struct Doubt: Sendable, Equatable {
    package var chunk: Int64
    package var events: Int
    /// As in ``PendingChunk/parent``.
    package var parent: Int64?
  }
}
