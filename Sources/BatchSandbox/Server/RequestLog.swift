import BatchFoundation

/// One request as the sandbox saw it; tests compare it with what the client recorded.
package struct LedgerEntry: Sendable, Codable, Equatable {
  /// The number of the request from 1, in the order in which heads arrived.
  package var sequence: Int
  /// The number of the connection from 1, in the order of acceptance.
  package var connection: Int
  /// The number of the request on its connection, from 1.
  package var nthOnConnection: Int
  package var method: String
  /// The path without the query.
  package var path: String
  package var endpoint: SandboxEndpoint
  /// The operations of an XMLAPI envelope in order; empty for other requests.
  package var operations: [String]
  package var bodyBytes: Int
  /// The FNV-1a digest of the body in hexadecimal; nil if the body was incomplete.
  package var bodyDigest: String?
  package var events: Int
  /// Whether the request was carried out, changing or reading the state; false if refused or faulted before that.
  package var applied: Bool
  /// Whether the whole response was passed to the system.
  package var answered: Bool
  /// The status sent; nil if there was no response.
  package var status: Int?
  /// The fault played, for example `applied:close`.
  package var fault: String?
  /// The number of requests in progress that count toward a limit, including this one.
  package var inFlight: Int
}

/// Totals over all requests; exact even after old entries have been dropped.
package struct LedgerTotals: Sendable, Codable, Equatable {
  package var connections = 0
  package var requests = 0
  package var answered = 0
  package var tokenCalls = 0
  package var tokensIssued = 0
  /// The maximum number of concurrent requests that count toward a limit.
  package var maxInFlight = 0
  /// The total time, from the head to the response, of all requests that count toward a limit.
  package var busyNanoseconds: UInt64 = 0
  package var operations: [String: Int] = [:]
  package var submissions = 0
  package var eventsReceived = 0
  /// The number of applied events. For Engage, an event sent twice counts twice; for games, only valid events count.
  package var eventsApplied = 0
  package var faults = 0
  /// Client misbehavior by kind: `content-type`, `malformed-body`, `needless-token-call`, `over-the-gate`,
  /// `secret-in-url`.
  package var violations: [String: Int] = [:]

  package mutating func violation(_ kind: String) { violations[kind, default: 0] += 1 }

  /// Adds the counts of a reply; counts that every request increases are unchanged.
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

/// The requests in order. Beyond the limit, the oldest are dropped.
struct RequestLog: Sendable {
  var totals = LedgerTotals()
  private(set) var entries: [LedgerEntry] = []
  private(set) var dropped = 0
  let limit: Int

  mutating func append(_ entry: LedgerEntry) {
    if limit == 0 {
      dropped += 1
      return
    }
    if entries.count >= limit {
      // Drops half of the entries at once, so that the cost per request is negligible.
      let count = max(limit / 2, 1)
      entries.removeFirst(count)
      dropped += count
    }
    entries.append(entry)
  }

  /// Changes the entry with the sequence number unless it was dropped.
  mutating func update(_ sequence: Int, _ change: (inout LedgerEntry) -> Void) {
    let index = sequence - 1 - dropped
    guard entries.indices.contains(index) else { return }
    change(&entries[index])
  }
}

/// The digest used in the ledger: 64-bit FNV-1a. It distinguishes bodies but is not cryptographic.
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

  /// The digest as sixteen lower-case hexadecimal digits.
  package var text: String { Hexadecimal.text(of: value) }
}
