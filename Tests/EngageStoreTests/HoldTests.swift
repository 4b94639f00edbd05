import EngageModel
import Testing

@testable import EngageStore

@Suite struct HoldTests {
  let folder = TemporaryFolder()
  let fixtures = EventFixtures()

  @Test func chunksOfDevicesWithoutIdentityWaitAndGoLater() throws {
    let store = try EventStore.open(folder.store)
    let run = try store.beginRun(
      job: "nightly", configurationDigest: "c", started: EventStoreTests.now, asOf: EventStoreTests.now)
    let events = (0..<6).map { fixtures.event(Int64($0), device: $0 < 4 ? "D1" : "D2", emission: Int64($0)) }
    try store.commit(fixtures.batch(events, limits: BlockLimits(maxEvents: 2)), run: run)
    #expect(try store.hold(eventsOf: ["D2"]) == 2)
    #expect(try store.statusCounts() == [.notPosted: 4, .hold: 2])
    #expect(try store.pendingChunks(after: nil, limit: 10).map(\.events) == [2, 2])
    #expect(try store.hold(eventsOf: ["unknown"]) == 0)
    #expect(try store.statusCounts() == [.notPosted: 6])
  }

  @Test func aLineThatIsReadAgainIsNotSetAsideTwice() throws {
    let store = try EventStore.open(folder.store)
    var batch = LocalBatch()
    let line = QuarantinedLine(
      file: "/in/a.ndjson", line: 3, offset: 40, reason: .invalidJSON, detail: "", raw: Array("{".utf8))
    batch.quarantine = [line, line]
    for _ in 0..<2 {
      let run = try store.beginRun(
        job: "nightly", configurationDigest: "c", started: EventStoreTests.now, asOf: EventStoreTests.now)
      try store.commit(batch, run: run)
    }
    #expect(try store.quarantineCounts() == [.invalidJSON: 2])
  }
}
