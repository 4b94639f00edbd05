import BatchFoundation
import StoreSupport
import Testing

@testable import BatchStore

@Suite struct WindowTests {
  private func window(_ after: Int64, _ before: Int64) -> DeliveryWindow {
    DeliveryWindow(after: Instant(milliseconds: after), before: Instant(milliseconds: before))
  }

  private func counts(_ store: EventStore) throws -> [EventStatus: Int] { try store.ledger.statusCounts() }

  private func storeWithEvents(at times: [Int64]) throws -> (EventStore, RunID) {
    let store = try EventStore.temporary()
    let run = try store.runs.begin(
      job: "job", configurationDigest: "", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    let fixtures = EventFixtures()
    let events = times.enumerated().map { fixtures.event($0.element, emission: Int64($0.offset + 1)) }
    try store.commit(fixtures.batch(events), run: run)
    return (store, run)
  }

  @Test func eventsOutOfTheWindowWaitAndComeBack() throws {
    let (store, _) = try storeWithEvents(at: [1000, 2000, 3000, 4000])
    #expect(try store.ledger.expire(outOf: window(1000, 4000)) == 2)
    #expect(try counts(store) == [.notPosted: 2, .expired: 2])
    #expect(try store.ledger.pendingEventCount() == 2)
    #expect(try store.ledger.pendingChunks(after: nil, limit: 10).map(\.events) == [2])
    // The next run measures anew.
    #expect(try store.ledger.expire(outOf: window(2000, 5000)) == 2)
    #expect(try counts(store) == [.notPosted: 2, .expired: 2])
    #expect(try store.ledger.expire(outOf: window(0, 5000)) == 0)
    #expect(try counts(store) == [.notPosted: 4])
  }

  @Test func expiredEventsAreListedAndNotWrittenOut() throws {
    let (store, run) = try storeWithEvents(at: [1000, 2000])
    try store.ledger.expire(outOf: window(1500, 9000))
    var listed: [Int64] = []
    try store.ledger.forEachEvent(status: .expired) { event in
      listed.append(event.id.timestamp.milliseconds)
      return true
    }
    #expect(listed == [1000])
    var merge = try EventMerge(try store.ledger.sequences([.stored(by: run)]))
    var output = ByteBuffer()
    var written = 0
    while try merge.appendNext(to: &output) { written += 1 }
    #expect(written == 1)
  }
}
