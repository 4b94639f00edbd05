import BatchFoundation
import EngageRules
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

@Suite struct ChunkLedgerTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()
  static let now = Instant(milliseconds: 1_767_225_600_000)
  static let day: Int64 = 86_400_000
  let limits = RequestLimits.test()

  init() throws { folder = try TemporaryFolder() }

  @Test func chunksGoOutInTheOrderOfTheirEvents() throws {
    let events = (1...250).map { fixtures.event(Int64($0), emission: Int64($0)) }
    let (store, run) = try folder.filled(events)
    let chunks = try store.ledger.pendingChunks(after: nil, limit: 2)
    #expect(chunks.map(\.events) == [100, 100])
    let rest = try store.ledger.pendingChunks(after: chunks[1], limit: 9)
    #expect(rest.map(\.events) == [50])
    let attempt = try store.ledger.begin(chunks[0], run)
    #expect(try store.ledger.statusCounts() == [.processing: 100, .notPosted: 150])
    _ = try store.ledger.end(run, chunks[0], attempt, .acknowledged, .posted)
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 100, .notPosted: 150])
    #expect(
      String(decoding: try store.ledger.prepare(chunks[1]).body, as: UTF8.self)
        == "{\"events\":[" + events[100..<200].map(json).joined(separator: ",") + "]}")
  }

  @Test(arguments: [(true, EventStatus.unknown), (false, .notPosted)])
  func anAttemptThatAKillCutOffIsUnknown(hold: Bool, status: EventStatus) throws {
    try {
      let (store, run) = try folder.filled([fixtures.event(1), fixtures.event(2, emission: 2)])
      let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
      _ = try store.ledger.begin(chunk, run)
      #expect(try store.ledger.statusCounts() == [.processing: 2])
      try store.close()
    }()
    let store = try EventStore.open(folder.store)
    let doubts = hold ? [] : [RecoveredAttempts.Doubt(chunk: 1, events: 2)]
    func next() throws -> RunID {
      try store.runs.begin(job: "j", configurationDigest: "", started: Self.now, asOf: Self.now)
    }
    #expect(
      try store.ledger.recoverAttempts(hold: hold, run: next(), at: Self.now)
        == RecoveredAttempts(attempts: 1, chunks: [1], inDoubt: doubts))
    #expect(try store.ledger.statusCounts() == [status: 2])
    // The run that found it was killed as well, before it could tell; the one after it is finished.
    let third = try next()
    #expect(
      try store.ledger.recoverAttempts(hold: hold, run: third, at: Self.now)
        == RecoveredAttempts(attempts: 0, chunks: [], inDoubt: doubts))
    try store.ledger.noteDoubtsReported(by: third)
    #expect(try store.ledger.recoverAttempts(hold: hold, run: next(), at: Self.now).inDoubt == doubts)
    try store.runs.finish(third, at: Self.now, counters: "{}")
    #expect(
      try store.ledger.recoverAttempts(hold: hold, run: next(), at: Self.now)
        == RecoveredAttempts(attempts: 0, chunks: [], inDoubt: []))
  }

  @Test func aRejectedChunkIsHalvedUntilTheBadEventStandsAlone() throws {
    let events = (1...5).map { fixtures.event(Int64($0), emission: Int64($0), name: "event \($0)") }
    let (store, run) = try folder.filled(events)
    var waiting = try store.ledger.pendingChunks(after: nil, limit: 9)
    var requests = 0
    while let chunk = waiting.first {
      waiting.removeFirst()
      requests += 1
      let bad = String(decoding: try store.ledger.prepare(chunk).body, as: UTF8.self).contains("event 4")
      let attempt = try store.ledger.begin(chunk, run)
      let verdict = chunk.events > 1 ? ChunkVerdict.split : .pending(countsAsFailure: false)
      let receipt =
        bad
        ? try store.ledger.end(run, chunk, attempt, .rejected, verdict, reason: "status 400: bad event")
        : try store.ledger.end(run, chunk, attempt, .acknowledged, .posted)
      waiting = receipt.parts + waiting
    }
    #expect(requests == 5)
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 4, .notPosted: 1])
    let refused = try store.ledger.pendingChunks(after: nil, limit: 9)
    #expect(
      try store.ledger.commit(
        results: [], changes: refused.map(ChunkChange.quarantine), intents: [], run: run, limits: .test()
      ).quarantined == 1)
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 4, .failedPost: 1])
    var lines: [QuarantinedLine] = []
    try store.quarantine.forEachLine(all: false) { lines.append($0.line) }
    #expect(lines.map(\.reason) == [.rejectedByService])
    #expect(lines.map(\.detail) == ["status 400: bad event"])
    #expect(lines.map { String(decoding: $0.raw, as: UTF8.self) } == [json(events[3])])
    var merge = try EventMerge(try store.ledger.sequences([.stored(by: run)]))
    var buffer = ByteBuffer()
    var lines2: [String] = []
    while try merge.appendNext(to: &buffer) {
      lines2.append(String(decoding: buffer.bytes, as: UTF8.self))
      buffer.removeAll()
    }
    #expect(lines2 == events.map(json))
  }

  @Test func purgesOnlyPostedEventsUpToTheCutoff() throws {
    let midnight = Self.now.milliseconds
    let old = midnight - 30 * Self.day
    let events = [
      fixtures.event(old - 1, emission: 1), fixtures.event(old, emission: 2), fixtures.event(old + 1, emission: 3),
    ]
    let (store, run) = try folder.filled(events)
    try store.commit(fixtures.batch([fixtures.event(old - 5, device: "D2")]), run: run)
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 9)[1]
    #expect(chunk.events == 3)
    let attempt = try store.ledger.begin(chunk, run)
    _ = try store.ledger.end(run, chunk, attempt, .acknowledged, .posted)
    let asOf = Instant(milliseconds: midnight + 3_600_000)
    #expect(try store.retention.purge(asOf: asOf, days: 30) == PurgeReport(purged: 2, kept: 1))
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 1, .notPosted: 1])
    #expect(
      try store.ledger.event(EventID(timestamp: events[2].timestamp, device: "D1", emission: 3))?.status
        == .successfullyPosted
    )
    #expect(try store.retention.purge(asOf: asOf, days: 30) == PurgeReport(purged: 0, kept: 1))
    #expect(try store.retention.purge(asOf: asOf, days: 0) == PurgeReport(purged: 1, kept: 1))
    #expect(try store.ledger.statusCounts() == [.notPosted: 1])
  }

  @Test func anEventThatTheServiceRefusesLaterCanBeSentAgainAlone() throws {
    let events = (1...3).map { fixtures.event(Int64($0), emission: Int64($0)) }
    let (store, run) = try folder.filled(events)
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    let attempt = try store.ledger.begin(chunk, run)
    _ = try store.ledger.end(run, chunk, attempt, .acknowledged, .posted)
    let id = EventID(timestamp: events[1].timestamp, device: "D1", emission: 2)
    let rejection = LateRejection(
      timestamp: events[1].timestamp, json: Array(json(events[1]).utf8), reason: "unknown attribute")
    #expect(try store.ledger.mark("errors") == nil)
    #expect(try store.ledger.reject([rejection], mark: ("errors", "1"), run: run) == (1, 1))
    #expect(try store.ledger.reject([rejection], mark: ("errors", "2"), run: run) == (0, 0))
    #expect(try store.ledger.mark("errors") == "2")
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 2, .failedPost: 1])
    #expect(try store.ledger.event(id)?.reason == "unknown attribute")
    #expect(try store.ledger.requeue([.failedPost]) == 1)
    #expect(try store.ledger.statusCounts() == [.successfullyPosted: 2, .notPosted: 1])
    let again = try store.ledger.pendingChunks(after: nil, limit: 9)
    #expect(again.map(\.events) == [1])
    #expect(
      String(decoding: try store.ledger.prepare(again[0]).body, as: UTF8.self) == "{\"events\":[" + json(events[1])
        + "]}")
    #expect(try store.ledger.event(id)?.status == .notPosted)
  }

  @Test func requeuesWholeChunks() throws {
    let (store, run) = try folder.filled([fixtures.event(1), fixtures.event(2, emission: 2)], maxEvents: 1)
    let chunks = try store.ledger.pendingChunks(after: nil, limit: 9)
    for (chunk, verdict) in zip(chunks, [ChunkVerdict.pending(countsAsFailure: true), .unknown]) {
      let attempt = try store.ledger.begin(chunk, run)
      _ = try store.ledger.end(run, chunk, attempt, .unknown, verdict, reason: "timeout")
    }
    _ = try store.ledger.commit(results: [], changes: [.giveUp(chunks[0])], intents: [], run: run, limits: limits)
    #expect(try store.ledger.statusCounts() == [.failedPost: 1, .unknown: 1])
    #expect(try store.ledger.requeue([.unknown]) == 1)
    #expect(try store.ledger.statusCounts() == [.failedPost: 1, .notPosted: 1])
    #expect(try store.ledger.requeue([.failedPost, .successfullyPosted]) == 1)
    #expect(try store.ledger.statusCounts() == [.notPosted: 2])
  }
}
