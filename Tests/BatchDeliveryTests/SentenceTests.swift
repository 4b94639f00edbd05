import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import DestinationContract
import StoreSupport
import Testing

/// Chunks of which a sentence alone says what is wrong (reference decisions 59), and sizes that a service refuses.
@Suite struct SentenceTests {
  private func deliver(_ filled: FilledStore, _ destination: ScriptedDestination, concurrency: Int = 1) throws
    -> DeliveryReport
  {
    try Delivery(
      ledger: filled.store.ledger, destination: destination, settings: .fixture(concurrency: concurrency),
      clock: SimulatedClock(), seed: 3
    ).run(filled.run)
  }

  static let expired = SendOutcome.refused(
    CallFault("the credentials were refused", blamesRequest: true, isSentence: true, stop: .credentials))
  private static let throttled = SendOutcome.refused(
    CallFault("too many requests", isThrottle: true, blamesRequest: true, isSentence: true))

  /// One event ended each run with 77, and nobody's events went.
  @Test(arguments: [true, false])
  func oneEventKeepsNobodyBack(isCredentials: Bool) throws {
    let filled = try FilledStore(events: 80, perChunk: 10)
    let destination = ScriptedDestination { body, _ in
      eventNumbers(body).contains(13) ? (isCredentials ? Self.expired : Self.throttled) : .acknowledged
    }
    let report = try deliver(filled, destination)
    #expect(report.stop == nil)
    #expect([report.upload.eventsPosted, report.upload.eventsFailed] == [79, 1])
    // It was repeated at most once before another was asked.
    let whole = destination.sent.map { $0.count == 10 && $0.contains(13) }
    #expect(!zip(whole, zip(whole.dropFirst(), whole.dropFirst(2))).contains { $0 && $1.0 && $1.1 }, "\(whole)")
  }

  @Test func credentialsThatAreRefusedForAllEndTheRunWithTheSecondChunk() throws {
    let filled = try FilledStore(events: 80, perChunk: 10)
    let destination = ScriptedDestination { _, _ in Self.expired }
    let report = try deliver(filled, destination)
    #expect(report.stop == .credentials)
    #expect(report.upload.requests == 2)
    #expect(report.upload.eventsPending == 80)
  }

  @Test func credentialsThatAreRefusedForTheOnlyChunkEndTheRun() throws {
    let filled = try FilledStore(events: 5, perChunk: 10)
    let report = try deliver(filled, ScriptedDestination { _, _ in Self.expired })
    #expect(report.stop == .credentials)
    #expect(report.upload.requests == 1)
  }

  /// Of 155 requests 65 were refused.
  @Test(arguments: [1, 4])
  func aSizeThatIsRefusedIsLearnt(concurrency: Int) throws {
    let filled = try FilledStore(events: 1000, perChunk: 50)
    let destination = ScriptedDestination { body, _ in
      eventNumbers(body).count > 13 ? .rejected("status 413: too large") : .acknowledged
    }
    let report = try deliver(filled, destination, concurrency: concurrency)
    #expect([report.upload.eventsPosted, report.upload.eventsFailed] == [1000, 0])
    let refused = destination.sent.count { $0.count > 13 }
    // Of two sizes, while nothing is learnt: those that are under way, one of them ahead, and as many that begin as these are refused, before
    // their halves are there. After that halves go first, and each that is refused has one of them under way until both were taken.
    // The four of 25 that have numbers of fewer digits are smaller in bytes than others, from which nothing is learnt about them.
    #expect(refused <= 2 * 2 * (concurrency + 1) + 4, "\(refused) of \(report.upload.requests)")
    #expect(destination.sent.filter { $0.count <= 13 }.allSatisfy { $0.count >= 12 })
  }

  /// What is refused for one of its events says nothing about sizes.
  @Test func anEventThatIsRefusedIsNoSize() throws {
    let filled = try FilledStore(events: 200, perChunk: 20)
    let destination = ScriptedDestination { body, _ in
      eventNumbers(body).contains(7) ? .rejected("status 413: too large") : .acknowledged
    }
    let report = try deliver(filled, destination)
    #expect([report.upload.eventsPosted, report.upload.eventsFailed] == [199, 1])
    #expect(destination.sent.count { $0.count == 20 } == 10)
  }
}

extension DeliveryScheduleTests {
  /// Its answer came last, so that nobody was left to be asked, and each run ended with 77.
  @Test(arguments: [true, false])
  func whatWasTakenMeanwhileSpeaksForTheToken(areTaken: Bool) {
    var schedule = schedule()
    schedule.add((1...4).map { chunk($0) })
    if !areTaken {
      #expect(schedule.start(now: at(0), atMost: 3).count == 3)
      for id: Int64 in 1...3 { #expect(schedule.finish(chunk(id), .acknowledged, now: at(0)) == .posted) }
    }
    let started = schedule.start(now: at(1)).map(\.id)
    for id in started.dropLast() { #expect(schedule.finish(chunk(id), .acknowledged, now: at(2)) == .posted) }
    #expect(schedule.finish(chunk(4), SentenceTests.expired, now: at(3)) == .pending(countsAsFailure: true))
    #expect(schedule.stop == (areTaken ? nil : .credentials))
  }

  /// Two that were refused one after another ended the run while others were under way.
  @Test(arguments: [true, false])
  func thoseUnderWayAreWaitedFor(isTaken: Bool) {
    var schedule = schedule()
    schedule.add((1...9).map { chunk($0) })
    #expect(schedule.start(now: at(0)).map(\.id) == [1, 2, 3, 4])
    for id: Int64 in 1...3 { _ = schedule.finish(chunk(id), SentenceTests.expired, now: at(1)) }
    #expect(schedule.stop == nil)
    _ = schedule.finish(chunk(4), isTaken ? .acknowledged : SentenceTests.expired, now: at(1))
    #expect(schedule.stop == nil)
    if isTaken { return }
    #expect(schedule.start(now: at(2)).map(\.id) == [5, 6, 7, 8])
    _ = schedule.finish(chunk(5), SentenceTests.expired, now: at(3))
    #expect(schedule.stop == .credentials)
  }
}
