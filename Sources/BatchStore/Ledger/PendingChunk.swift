package import BatchFoundation
import GRDB

/// A chunk that is pending delivery.
package struct PendingChunk: Sendable, Equatable {
  package var id: Int64
  package var first: Instant
  package var events: Int
  package var bodyBytes: Int
  /// The group chosen by the platform, as in ``EventBlocks/Entry/group``.
  package var group = 0
  /// The number of attempts, in all runs, that count against the chunk. At `Networking.maxNumRetries`, the chunk may be
  /// suspected.
  package var failures: Int
  /// The SHA-256 of the body that was sent or is planned; nil for a chunk that is not frozen.
  package var digest: [UInt8]?
  /// The version of that body, as in ``WireForm/appendBody(of:version:to:)``.
  package var form: Int

  /// The chunk from which this one was split off; nil if there is none.
  package var parent: Int64?

  var pack: Int64
  var offset: Int
  var length: Int
  var rank: Int64
}

/// The exact body of a chunk, ready to send.
package struct PreparedChunk: Sendable {
  package var chunk: PendingChunk
  package var body: [UInt8]
  package var digest: [UInt8]
  package var form: Int
  /// The chunk's events with the platform's changes; nil if there are none.
  var replacement: EventBlocks?
}

/// The outcome of an attempt (reference guarantees 3).
package enum AttemptOutcome: Int, CaseIterable, Sendable {
  case acknowledged = 1
  /// No byte of the request was sent.
  case notSent = 2
  /// The service did not accept the request, for a reason other than its content.
  case refused = 3
  /// The service reported that the data is wrong.
  case rejected = 4
  /// The service may have accepted the request.
  case unknown = 5

  /// The name in reports.
  package var name: String {
    self == .notSent ? "not sent" : "\(self)"
  }
}

extension AttemptOutcome: DatabaseValueConvertible {}

/// The consequence of an attempt's outcome for its chunk.
package enum ChunkVerdict: Sendable, Equatable {
  case posted
  /// The chunk remains pending, for another attempt.
  case pending(countsAsFailure: Bool)
  /// The chunk is held until an operator decides.
  case unknown
  /// The chunk is replaced with its two halves.
  case split
}

/// A change to a pending chunk without an attempt.
package enum ChunkChange: Sendable, Equatable {
  /// The service rejected the only event of the chunk, so the event is quarantined.
  case quarantine(PendingChunk)
  /// The service fails on the chunk's only event, which becomes `FAILED_POST` with the reason of its last attempt.
  case giveUp(PendingChunk)
  case halve(PendingChunk)
  /// The halves of a chunk become one chunk again. If they failed because of an outage, the chunk's failures are reset.
  case join([Int64], of: PendingChunk, isOutage: Bool)
}

/// An attempt that ended.
package struct AttemptResult: Sendable {
  package var attempt: Int64
  package var chunk: PendingChunk
  package var finished: Instant
  package var outcome: AttemptOutcome
  /// The reason, without any value from an event; nil for an acknowledged attempt.
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

/// An attempt that is stored in the ledger, so that it may be carried out.
package struct BegunAttempt: Sendable, Equatable {
  package var attempt: Int64
  /// The chunk, which is frozen now.
  package var chunk: PendingChunk
}

/// The result of a commit to the ledger.
package struct LedgerReceipt: Sendable {
  /// The attempts that begin, in the order of the intents; nil for a chunk that was split into parts instead.
  package var begun: [BegunAttempt?] = []
  /// The parts of chunks that were rejected, suspected or too long.
  package var parts: [PendingChunk] = []
  /// The chunks that were joined from their halves.
  package var joined: [PendingChunk] = []
  /// The number of single-event chunks that were quarantined.
  package var quarantined = 0
  /// The number of single-event chunks that became `FAILED_POST` without being quarantined.
  package var givenUp = 0
}

/// The attempts that a killed run left open.
package struct RecoveredAttempts: Sendable, Equatable {
  package var attempts: Int
  /// The chunks of these attempts, each once.
  package var chunks: [Int64]
  /// The chunks with unknown outcomes that no run has reported, including those of these attempts, sorted by number.
  package var inDoubt: [Doubt]

  package struct Doubt: Sendable, Equatable {
    package var chunk: Int64
    package var events: Int
    /// The chunk from which this one was split off, as in ``PendingChunk/parent``.
    package var parent: Int64?
  }
}

extension RequestLimits {
  /// No limits, for parts of a block that was within the limits.
  package static let ofParts = RequestLimits(maxEvents: .max, maxBodyBytes: .max)
}
