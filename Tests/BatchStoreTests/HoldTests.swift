import BatchFoundation
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

@Suite struct HoldTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()

  init() throws { folder = try TemporaryFolder() }

  @Test func eventsOfDevicesWithoutIdentityWaitAndGoLater() throws {
    let store = try EventStore.open(folder.store)
    let run = try store.runs.begin(
      job: "nightly", configurationDigest: "c", started: EventStoreTests.now, asOf: EventStoreTests.now)
    // In chunks of three: D1 D2 D1, D2 D2 D2, D3 D1 D3.
    let devices = ["D1", "D2", "D1", "D2", "D2", "D2", "D3", "D1", "D3"]
    let events = devices.enumerated().map { number, device in
      fixtures.event(Int64(number), device: device, emission: Int64(number), expired: number == 1)
    }
    try store.commit(fixtures.batch(events, limits: .test(maxEvents: 3)), run: run)
    func waiting() throws -> [[Int]] {
      try store.ledger.pendingChunks(after: nil, limit: 10).map { chunk in
        times(try prepare(chunk, store))
      }
    }

    #expect(try store.ledger.hold(eventsOf: ["D2"]) == 4)
    #expect(try store.ledger.statusCounts() == [.notPosted: 5, .hold: 4])
    #expect(try waiting() == [[0, 2], [6, 7, 8]])
    #expect(
      try store.ledger.event(EventID(timestamp: Instant(milliseconds: 1), device: "D2", emission: 1))?.status == .hold)
    #expect(
      try store.ledger.event(EventID(timestamp: Instant(milliseconds: 2), device: "D1", emission: 2))?.status
        == .notPosted)

    #expect(try store.ledger.hold(eventsOf: ["D2", "D3"]) == 6)
    #expect(try store.ledger.statusCounts() == [.notPosted: 3, .hold: 6])
    #expect(try waiting() == [[0, 2], [7]])

    #expect(try store.ledger.hold(eventsOf: ["unknown"]) == 0)
    #expect(try store.ledger.statusCounts() == [.notPosted: 8, .expired: 1])
    #expect(try waiting() == [[0, 2], [1], [3, 4, 5], [6, 8], [7]])
    #expect(try timesInOrder(of: store) == Array(0..<9))
  }

  @Test func anAttemptedChunkNeverWaits() throws {
    let store = try EventStore.open(folder.store)
    let run = try store.runs.begin(
      job: "nightly", configurationDigest: "c", started: EventStoreTests.now, asOf: EventStoreTests.now)
    let events = (0..<4).map { fixtures.event(Int64($0), device: $0 % 2 == 0 ? "D1" : "D2", emission: Int64($0)) }
    try store.commit(fixtures.batch(events, limits: .test(maxEvents: 2)), run: run)
    let chunk = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
    let prepared = try prepare(chunk, store)
    _ = try store.ledger.commit(
      results: [], intents: [(prepared, EventStoreTests.now)], run: run,
      limits: .test())
    _ = try store.ledger.recoverAttempts(hold: false, run: run, at: EventStoreTests.now)
    #expect(try store.ledger.hold(eventsOf: ["D1"]) == 1)
    #expect(try store.ledger.statusCounts() == [.notPosted: 3, .hold: 1])
    let again = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
    #expect(again.digest == prepared.digest)
    #expect(times(try prepare(again, store)) == [0, 1])
  }

  private func prepare(_ chunk: PendingChunk, _ store: EventStore) throws -> PreparedChunk {
    try store.ledger.prepare(chunk, form: 0, limits: .test())
  }

  private func times(_ prepared: PreparedChunk) -> [Int] { times(prepared.body) }

  /// When events happened, in milliseconds of the first second of 1970.
  private func times(_ json: [UInt8]) -> [Int] {
    String(decoding: json, as: UTF8.self).split(separator: "1970-01-01T00:00:00.").dropFirst()
      .map { Int($0.prefix(3)) ?? -1 }
  }

  private func timesInOrder(of store: EventStore) throws -> [Int] {
    var merge = try EventMerge(store.ledger.sequences([.pending]))
    var json = ByteBuffer()
    while try merge.appendNext(to: &json) {}
    return times(json.array)
  }

  @Test func aLineThatIsReadAgainIsNotSetAsideTwice() throws {
    let store = try EventStore.open(folder.store)
    var batch = LocalBatch()
    let line = QuarantinedLine(
      file: "/in/a.ndjson", line: 3, offset: 40, reason: .invalidJSON, detail: "", raw: Array("{".utf8))
    batch.quarantine = [line, line]
    for _ in 0..<2 {
      let run = try store.runs.begin(
        job: "nightly", configurationDigest: "c", started: EventStoreTests.now, asOf: EventStoreTests.now)
      try store.commit(batch, run: run)
    }
    #expect(try store.quarantine.counts() == [.invalidJSON: 2])
  }
}
