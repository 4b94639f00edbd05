import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import DestinationContract
import StoreSupport
import Testing

/// Chunks that fail in front of others, and what an outage sends how often.
@Suite("Head of the queue") struct QueueHeadTests {
  private static let failure = SendOutcome.refused(CallFault("status 500", blamesRequest: true))

  /// One run after the other.
  ///
  /// - Returns: how many events were taken after each.
  private func deliver(
    _ filled: FilledStore, concurrency: Int, nights: Int, isBad: @escaping @Sendable (Int) -> Bool
  ) throws -> [Int] {
    let destination = ScriptedDestination { body, _ in
      eventNumbers(body).contains(where: isBad) ? Self.failure : .acknowledged
    }
    return try (1...nights).map { night in
      _ = try Delivery(
        ledger: filled.store.ledger, destination: destination, settings: .fixture(concurrency: concurrency),
        clock: SimulatedClock(), seed: UInt64(night)
      ).run(filled.run)
      return try filled.store.ledger.statusCounts()[.successfullyPosted, default: 0]
    }
  }

  @Test(
    "More bad chunks at the head of the queue than end a run, and than are read at a time, keep nobody behind them back",
    arguments: [20, 200], [(1, 4), (3, 1)])
  func badHead(bad: Int, _ how: (perChunk: Int, concurrency: Int)) throws {
    let perChunk = how.perChunk
    let filled = try FilledStore(events: (bad + 100) * perChunk, perChunk: perChunk)
    let taken = try deliver(filled, concurrency: how.concurrency, nights: 2) { $0 <= bad * perChunk }
    // Of a long queue the last chunks go in the first run.
    #expect(taken[0] >= (bad > 100 ? 64 : 99) * perChunk)
    #expect(taken[1] == 100 * perChunk)
  }

  @Test("Bad chunks at both ends of the queue keep back those in the middle for some runs only", arguments: [1, 4])
  func badEnds(concurrency: Int) throws {
    let filled = try FilledStore(events: 50, perChunk: 1)
    let taken = try deliver(filled, concurrency: concurrency, nights: 20) { $0 <= 20 || $0 > 30 }
    #expect(taken.last == 10, "\(taken)")
  }

  /// docs/guarantees.md has the numbers.
  @Test(
    "Where every answer is lost, an event goes out as often in a run as its chunk may fail and can be halved",
    arguments: [1, 5, 20], [(100, 10), (10, 7), (1, 3)])
  func copies(chunks: Int, _ how: (perChunk: Int, most: Int)) throws {
    let filled = try FilledStore(events: chunks * how.perChunk, perChunk: how.perChunk)
    for night in 1...3 {
      let destination = ScriptedDestination { _, _ in .unknown(CallFault("time-out", blamesRequest: true)) }
      let report = try Delivery(
        ledger: filled.store.ledger, destination: destination, settings: .fixture(), clock: SimulatedClock(), seed: 3
      ).run(filled.run)
      let events = destination.sent.flatMap { $0 }
      let copies = Dictionary(events.map { ($0, 1) }, uniquingKeysWith: +)
      #expect(copies.values.max() ?? 0 <= how.most, "night \(night)")
      if chunks == 1, how.perChunk > 1 { #expect(copies.values.max() == how.most, "night \(night)") }
      // Also of parts that were halved without an attempt of their own, each event counts once.
      #expect(report.eventsInDoubt == copies.count, "night \(night)")
    }
  }
}
