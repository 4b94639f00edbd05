import BatchFoundation
import FoundationEssentials
import Glibc

/// One request as the sandbox saw it: the truth that tests hold against what a client believes.
package struct LedgerEntry: Sendable, Codable, Equatable {
  /// From 1, in the order in which the heads of requests arrived.
  package var sequence: Int
  /// From 1, in the order in which connections were accepted.
  package var connection: Int
  /// From 1 on each connection.
  package var nthOnConnection: Int
  package var method: String
  /// Without the query.
  package var path: String
  package var endpoint: SandboxEndpoint
  /// The operations of a request in order, where it has some: those of an XMLAPI envelope.
  package var operations: [String]
  package var bodyBytes: Int
  /// FNV-1a of the body in hexadecimal; nil when digests are off or the body never came to its end.
  package var bodyDigest: String?
  /// How many events a submission carried.
  package var events: Int
  /// Whether the request changed, or was read from, the state; false for refused and faulted ones.
  package var applied: Bool
  /// Whether the whole answer was handed to the system.
  package var answered: Bool
  /// The status that was sent; nil without an answer.
  package var status: Int?
  /// The fault that was played, such as `applied:close`.
  package var fault: String?
  /// How many requests that count for a limit were being worked on, this one included.
  package var inFlight: Int
}

/// Sums over all requests; they stay exact when old entries have been dropped.
package struct LedgerTotals: Sendable, Codable, Equatable {
  package var connections = 0
  package var requests = 0
  package var answered = 0
  package var tokenCalls = 0
  package var tokensIssued = 0
  /// The most requests that count for a limit and were being worked on at once.
  package var maxInFlight = 0
  /// The sum over all requests that count for a limit of the time between head and end of answer.
  package var busyNanoseconds: UInt64 = 0
  /// Calls per operation.
  package var operations: [String: Int] = [:]
  package var submissions = 0
  package var eventsReceived = 0
  /// Events of submissions that were applied; one sent twice counts twice.
  package var eventsApplied = 0
  package var faults = 0
  /// What no well-behaved client does, by kind: `secret-in-url`, `over-the-gate`, `malformed-body`, `needless-token-call`.
  package var violations: [String: Int] = [:]

  package mutating func violation(_ kind: String) { violations[kind, default: 0] += 1 }

  /// Adds what a reply says of itself; what is counted for every request stays as it is.
  mutating func add(_ reply: LedgerTotals) {
    tokenCalls += reply.tokenCalls
    tokensIssued += reply.tokensIssued
    submissions += reply.submissions
    eventsReceived += reply.eventsReceived
    eventsApplied += reply.eventsApplied
    operations.merge(reply.operations) { $0 + $1 }
    violations.merge(reply.violations) { $0 + $1 }
  }
}

/// Requests in order, the oldest dropped beyond the limit.
struct Ledger: Sendable {
  var totals = LedgerTotals()
  private(set) var entries: [LedgerEntry] = []
  /// Entries that were dropped from the front.
  private(set) var dropped = 0
  let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func append(_ entry: LedgerEntry) {
    if limit == 0 {
      dropped += 1
      return
    }
    if entries.count >= limit {
      // Half at a time, so that dropping costs nothing per request.
      let count = max(limit / 2, 1)
      entries.removeFirst(count)
      dropped += count
    }
    entries.append(entry)
  }

  /// Changes the entry with the sequence number, if it is still there.
  mutating func update(_ sequence: Int, _ change: (inout LedgerEntry) -> Void) {
    let index = sequence - 1 - dropped
    guard entries.indices.contains(index) else { return }
    change(&entries[index])
  }
}

/// FNV-1a with 64 bits: what the ledger calls a digest. It tells bodies apart; it protects against nothing.
package struct BodyDigest: Hashable, Sendable {
  package var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package init(_ bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ unsafe update(UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var mixed = value
    unsafe bytes.forEach { mixed = (mixed ^ UInt64($0)) &* 0x0000_0100_0000_01B3 }
    value = mixed
  }

  /// Sixteen lower-case hexadecimal digits.
  package var text: String { Hexadecimal.text(of: value) }
}

/// The ledger as NDJSON on disk, one line per finished request, in the order in which they finished.
///
/// A line that cannot be written is given up: the ledger in memory stays complete.
final class LedgerFile: Sendable {
  private let descriptor: Int32
  private let path: String
  private let order = Guarded(Turn())

  init(_ path: String) throws(SandboxFileError) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw SandboxFileError(operation: "open", path: path, code: errno) }
  }

  deinit { close(descriptor) }

  func append(_ entry: LedgerEntry) {
    order.withLock { _ in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      // Plain text and numbers, which always encode.
      guard let line = try? encoder.encode(entry) else { return }
      // The request was served; a full disk must not change that.
      try? writeAll(descriptor, Array(line) + [10], path: path)
    }
  }
}
