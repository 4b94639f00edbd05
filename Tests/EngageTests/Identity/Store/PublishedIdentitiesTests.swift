import BatchFoundation
import BatchStore
import StoreSupport
import TestSupport
import Testing

@testable import Engage
@testable import EngageRules

/// What is found out about a device, on the events of its chunks.
@Suite struct PublishedIdentitiesTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()

  init() throws { folder = try TemporaryFolder() }

  /// Makes known who the device is from a number on, as a check that moved it over does.
  private func know(_ store: EventStore, from: Int64, _ recipient: String, user: String = "") throws {
    try store.identities.note([
      DeviceSetup(device: "D1", firstSeen: Instant(milliseconds: 0), mobileUserId: "", recipientId: "")
    ])
    let nobody = DeviceIdentity(recipientId: "", mobileUserId: "")
    var plan = MergePlan(
      key: "", scenario: .reassign, list: "1", loser: "1", winner: recipient, date: "", device: "D1", checkId: nil,
      emission: from - 1, ids: [], before: nobody, after: DeviceIdentity(recipientId: recipient, mobileUserId: user),
      created: Instant(milliseconds: 0), steps: [])
    plan.state = .done
    #expect(try store.merges.begin(&plan, for: nil, lines: [], run: RunID(number: 1)) == nil)
  }

  @Test(arguments: [AttemptOutcome.notSent, .refused])
  func decision30AChunkThatWasCertainlyNotTakenTakesOnWhatIsFoundOut(outcome: AttemptOutcome) throws {
    let (store, run) = try folder.filled([fixtures.event(1)])
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    let attempt = try store.ledger.begin(chunk, run)
    _ = try store.ledger.end(run, chunk, attempt, outcome, .pending(countsAsFailure: true), reason: "status 503")
    try know(store, from: 0, "2")
    let again = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    #expect(again.failures == 1)
    #expect(again.digest == nil)
    let text = "{\"events\":[" + json(fixtures.event(1, recipient: "2")) + "]}"
    #expect(String(decoding: try store.ledger.prepare(again).body, as: UTF8.self) == text)
  }

  @Test func aChunkThatMayHaveBeenTakenKeepsItsBody() throws {
    let (store, run) = try folder.filled([fixtures.event(1, recipient: "1")])
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    let first = try store.ledger.prepare(chunk)
    for outcome in [AttemptOutcome.unknown, .refused] {
      let waiting = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
      let attempt = try store.ledger.begin(waiting, run)
      _ = try store.ledger.end(run, waiting, attempt, outcome, .pending(countsAsFailure: false), reason: "lost")
    }
    try know(store, from: 0, "2")
    let again = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    #expect(again.digest == first.digest)
    #expect(try store.ledger.prepare(again).body == first.body)
  }

  @Test func decision30AnEndOfASessionHasTheIdentityOfItsPause() throws {
    let events = [
      fixtures.event(1, emission: 4, code: "14", recipient: "1"), fixtures.event(2, emission: 5, recipient: "1"),
    ]
    let (store, run) = try folder.filled(events)
    var batch = LocalBatch()
    batch.rows = IdentityRows(moments: [IdentityMoment(device: Array("D1".utf8), emission: 4, asOf: 2)])
    try store.commit(batch, run: run)
    for (from, recipient) in [(2, "7"), (3, "9")] as [(Int64, String)] {
      try know(store, from: from, recipient)
    }
    let expected = [
      fixtures.event(1, emission: 4, code: "14", recipient: "7"), fixtures.event(2, emission: 5, recipient: "9"),
    ]
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    #expect(
      String(decoding: try store.ledger.prepare(chunk).body, as: UTF8.self)
        == "{\"events\":[" + expected.map(json).joined(separator: ",") + "]}")
  }

  @Test func eventsTakeOnTheIdentityOfTheirPeriod() throws {
    let events = [
      fixtures.event(1, emission: 1, recipient: "1"), fixtures.event(2, emission: 2, recipient: "1"),
      fixtures.event(3, emission: 3, recipient: "9", fixed: true), fixtures.event(4, device: "D2", recipient: "1"),
    ]
    let (store, run) = try folder.filled(events)
    try know(store, from: 2, "77", user: "M")
    let expected = [
      events[0], fixtures.event(2, emission: 2, user: "M", recipient: "77"), events[2], events[3],
    ]
    let text = "{\"events\":[" + expected.map(json).joined(separator: ",") + "]}"
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    #expect(String(decoding: try store.ledger.prepare(chunk).body, as: UTF8.self) == text)
    let attempt = try store.ledger.begin(chunk, run)
    _ = try store.ledger.end(run, chunk, attempt, .unknown, .pending(countsAsFailure: false), reason: "timeout")
    try know(store, from: 1, "5")
    let again = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    #expect(String(decoding: try store.ledger.prepare(again).body, as: UTF8.self) == text)
    #expect(again.digest == (try store.ledger.prepare(again)).digest)
  }

  @Test func aChunkThatIdentitiesMadeTooLongBecomesParts() throws {
    let events = (1...4).map { fixtures.event(Int64($0), emission: Int64($0)) }
    let (store, run) = try folder.filled(events)
    let chunk = try store.ledger.pendingChunks(after: nil, limit: 1)[0]
    try know(store, from: 0, "77")
    let tight = RequestLimits(maxEvents: 100, maxBodyBytes: chunk.bodyBytes)
    let prepared = try store.ledger.prepare(chunk, form: 0, limits: tight)
    let receipt = try store.ledger.commit(
      results: [], intents: [(prepared, .fixture)], run: run, limits: tight)
    #expect(receipt.begun == [nil])
    #expect(receipt.parts.map(\.events) == [3, 1])
    #expect(try store.ledger.pendingChunks(after: nil, limit: 9) == receipt.parts)
    #expect(try store.ledger.statusCounts() == [.notPosted: 4])
    #expect(try store.ledger.prepare(receipt.parts[0]).body.count <= chunk.bodyBytes)
  }
}
