import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import DestinationContract
import StoreSupport
import Testing

@Suite struct DeliveryTests {
  static let failing = SendOutcome.refused(CallFault("status 500", blamesRequest: true))

  func deliver(
    _ filled: FilledStore, _ destination: ScriptedDestination, concurrency: Int = 4,
    onUnknown: UnknownOutcomePolicy = .resend
  ) throws -> DeliveryReport {
    let settings = DeliverySettings.fixture(concurrency: concurrency, onUnknown: onUnknown)
    return try Delivery(
      ledger: filled.store.ledger, destination: destination, settings: settings, clock: SimulatedClock(), seed: 3
    ).run(filled.run)
  }

  @Test func sendsEverythingOnce() throws {
    let filled = try FilledStore(events: 1050, perChunk: 10)
    let destination = ScriptedDestination { _, _ in .acknowledged }
    let report = try deliver(filled, destination)
    #expect(report.upload.chunks == 105)
    #expect(report.upload.eventsPosted == 1050)
    #expect(report.upload.requests == 105)
    #expect(report.upload.retries == 0)
    #expect(report.upload.eventsPending == 0)
    #expect(report.exit == .done)
    #expect(destination.sent.flatMap { $0 }.sorted() == Array(1...1050))
    #expect(destination.mostInFlight <= 4)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 1050])
    let again = try deliver(filled, destination)
    #expect(again.upload.requests == 0)
    #expect(again.upload.chunks == 0)
  }

  @Test func oneAtATimeGoesInTheOrderOfTheEvents() throws {
    let filled = try FilledStore(events: 95, perChunk: 10)
    let destination = ScriptedDestination { _, _ in .acknowledged }
    _ = try deliver(filled, destination, concurrency: 1)
    #expect(destination.sent.flatMap { $0 } == Array(1...95))
  }

  @Test func anAttemptIsDurableBeforeItIsSent() throws {
    let filled = try FilledStore(events: 3, perChunk: 3)
    let path = filled.path
    let seen = Guarded<[EventStatus: Int]>([:])
    let destination = ScriptedDestination { _, _ in
      let counts = Result { try EventStore.openReading(path).ledger.statusCounts() }
      if case .success(let counts) = counts { seen.withLock { $0 = counts } }
      return .acknowledged
    }
    _ = try deliver(filled, destination)
    #expect(seen.withLock { $0 } == [.processing: 3])
  }

  @Test func sendsTheSameBytesAgainUntilTheyAreTaken() throws {
    let filled = try FilledStore(events: 4, perChunk: 4)
    let destination = ScriptedDestination { _, number in
      switch number {
      case 0: .notSent(CallFault("no connection"))
      case 1: .refused(CallFault("status 429", isThrottle: true))
      case 2, 3: .unknown(CallFault("connection lost"))
      default: .acknowledged
      }
    }
    let report = try deliver(filled, destination)
    #expect(report.upload.requests == 4)
    #expect(report.upload.retries == 3)
    #expect(report.upload.chunks == 1)
    #expect(report.upload.eventsPosted == 4)
    // Two answers were lost, but of the same events.
    #expect(report.eventsInDoubt == 4)
    #expect(report.attempts == [.notSent: 1, .refused: 1, .unknown: 2, .acknowledged: 1])
    #expect(Set(destination.bodies).count == 1)
  }

  @Test func aPauseTakesBackWhatWasBegunAhead() throws {
    let filled = try FilledStore(events: 400, perChunk: 10)
    let destination = ScriptedDestination { _, number in
      number % 7 == 3
        ? .refused(CallFault("status 429", retryAfter: Milliseconds(5000), isThrottle: true)) : .acknowledged
    }
    let report = try deliver(filled, destination)
    #expect(report.stop == nil)
    #expect(report.upload.chunks == 40)
    #expect(report.upload.eventsPosted == 400)
    #expect(report.eventsInDoubt == 0)
    #expect(report.upload.requests == 40 + report.upload.retries)
    #expect(Set(destination.sent.flatMap { $0 }).count == 400)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 400])
  }

  /// It waited for fifteen minutes, and then said that it had waited for as long as patience.
  @Test(arguments: [UnknownOutcomePolicy.resend, .hold])
  func aServiceThatAsksForMoreThanPatienceIsLeftAtOnceAndInItsWords(onUnknown: UnknownOutcomePolicy) throws {
    let filled = try FilledStore(events: 400, perChunk: 10)
    let destination = ScriptedDestination { _, _ in
      .refused(CallFault("status 503, retry after 3600s", retryAfter: Milliseconds(3_600_000), isTemporary: true))
    }
    let report = try deliver(filled, destination, onUnknown: onUnknown)
    #expect(report.stop == .unreachable(.longerPause(Milliseconds(30_000))))
    #expect(report.stopReason == "status 503, retry after 3600s")
    #expect(report.exit == .serviceUnavailable)
    // A lane whose request ended may have begun its next one before the answer was looked at.
    #expect((4..<8).contains(report.upload.requests))
    #expect(report.upload.eventsPending == 400)
    #expect(try filled.store.ledger.statusCounts() == [.notPosted: 400])
  }

  @Test func eventsInDoubtAreCountedOnceAlsoInParts() throws {
    let filled = try FilledStore(events: 7, perChunk: 7)
    let destination = ScriptedDestination { body, number in
      let lost = SendOutcome.unknown(CallFault("connection lost"))
      return switch number {
      case 0: lost
      case 1: .rejected("no such attribute")
      case 2, 3: lost
      default: .acknowledged
      }
    }
    let report = try deliver(filled, destination, concurrency: 1)
    #expect(report.upload.eventsPosted == 7)
    #expect(report.eventsInDoubt == 7)
    #expect(report.upload.requests == destination.bodies.count)
    #expect(report.upload.requests == report.upload.chunks + report.upload.retries)
  }

  @Test(arguments: [UnknownOutcomePolicy.resend, .hold])
  func aServiceThatTurnsEverythingAwayLeavesEverythingQueued(onUnknown: UnknownOutcomePolicy) throws {
    let filled = try FilledStore(events: 70, perChunk: 10)
    let destination = ScriptedDestination { _, _ in Self.failing }
    let report = try deliver(filled, destination, onUnknown: onUnknown)
    #expect(report.exit == .serviceUnavailable)
    #expect(report.upload.eventsUnknown == 0)
    #expect(report.eventsInDoubt == 0)
    #expect(report.upload.eventsPending == 70)
    #expect(report.upload.requests == destination.bodies.count)
    #expect(report.attempts == [.refused: report.upload.requests])
    #expect(try filled.store.ledger.statusCounts() == [.notPosted: 70])
  }

  @Test func badEventsEndAloneInQuarantine() throws {
    let filled = try FilledStore(events: 300, perChunk: 100)
    let bad: Set<Int> = [7, 150, 151, 300]
    let destination = ScriptedDestination { body, _ in
      bad.isDisjoint(with: eventNumbers(body)) ? .acknowledged : .rejected("no such attribute")
    }
    let report = try deliver(filled, destination)
    #expect(report.upload.eventsPosted == 296)
    #expect(report.upload.eventsFailed == 4)
    #expect(report.exit == .done)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 296, .failedPost: 4])
    var found: [Int] = []
    try filled.store.quarantine.forEachLine(all: false) { entry in
      #expect(entry.line.reason == .rejectedByService)
      #expect(entry.line.detail == "no such attribute")
      found += eventNumbers(String(decoding: entry.line.raw, as: UTF8.self))
    }
    #expect(found.sorted() == bad.sorted())
  }

  @Test func aServiceThatRefusesEveryEventStopsTheRunAndEverythingStaysQueued() throws {
    let filled = try FilledStore(events: 1000, perChunk: 100)
    let destination = ScriptedDestination { body, _ in
      .rejected("status 400: 'Event \(eventNumbers(body)[0])' of App 1.0, device D1234: no such schema")
    }
    let report = try deliver(filled, destination)
    #expect(report.stop == .rejecting)
    #expect(report.exit == .serviceUnavailable)
    #expect(report.stopReason == "status 400: '…' of … …, device …: no such schema")
    #expect(report.upload.eventsFailed == 0)
    #expect(report.upload.eventsPending == 1000)
    #expect(destination.bodies.count < 150)
    #expect(try filled.store.ledger.statusCounts() == [.notPosted: 1000])
    #expect(try filled.store.quarantine.counts().isEmpty)
  }

  @Test func aFewEventsThatAreRefusedAloneAreSetAsideAlthoughNothingWasTaken() throws {
    let filled = try FilledStore(events: 5, perChunk: 5)
    let report = try deliver(filled, ScriptedDestination { _, _ in .rejected("no such attribute") })
    #expect(report.stop == nil)
    #expect(report.upload.eventsFailed == 5)
    #expect(try filled.store.ledger.statusCounts() == [.failedPost: 5])
  }

  @Test func manyBadEventsInARowDoNotStopARunWhoseOthersAreTaken() throws {
    let filled = try FilledStore(events: 300, perChunk: 100)
    let destination = ScriptedDestination { body, _ in
      eventNumbers(body).allSatisfy { $0 > 60 } ? .acknowledged : .rejected("no such attribute")
    }
    let report = try deliver(filled, destination, concurrency: 1)
    #expect(report.stop == nil)
    #expect(report.upload.eventsFailed == 60)
    #expect(report.upload.eventsPosted == 240)
    #expect(report.upload.requests == destination.bodies.count)
  }

  @Test func aDozenTemporaryRefusalsAreWaitedOut() throws {
    let filled = try FilledStore(events: 1000, perChunk: 10)
    let destination = ScriptedDestination { _, number in
      // One is taken before: how many refusals fit into the patience at the start depends on which thread is faster.
      (1...12).contains(number)
        ? .refused(CallFault("status 503", isTemporary: true, blamesRequest: true)) : .acknowledged
    }
    let report = try deliver(filled, destination)
    #expect(report.stop == nil)
    #expect(report.upload.eventsPosted == 1000)
    #expect(report.upload.requests == 112)
    #expect(report.upload.retries == 12)
  }

  @Test func holdSendsNothingTwice() throws {
    let filled = try FilledStore(events: 100, perChunk: 10)
    let destination = ScriptedDestination { body, _ in
      eventNumbers(body).contains(35) ? .unknown(CallFault("connection lost")) : .acknowledged
    }
    let report = try deliver(filled, destination, onUnknown: .hold)
    #expect(report.upload.eventsUnknown == 10)
    #expect(report.upload.eventsPosted == 90)
    #expect(report.exit == .protocolRefused)
    #expect(destination.sent.flatMap { $0 }.sorted() == Array(1...100))
    #expect(try filled.store.ledger.requeue([.unknown]) == 10)
  }

  @Test func aDeadServiceEndsTheRunAndEverythingStaysQueued() throws {
    let filled = try FilledStore(events: 1000, perChunk: 10)
    let destination = ScriptedDestination { _, _ in .notSent(CallFault("no connection")) }
    let report = try deliver(filled, destination)
    #expect(report.stop == .unreachable(.failuresInARow(10)))
    #expect(report.exit == .serviceUnavailable)
    #expect(report.upload.requests == 0)
    #expect(report.upload.eventsPending == 1000)
    #expect(destination.bodies.count < 20)
    #expect(try filled.store.ledger.statusCounts() == [.notPosted: 1000])
  }

  @Test func anEndLetsRequestsFinishAndLeavesTheRest() throws {
    let filled = try FilledStore(events: 1000, perChunk: 10)
    let holder = Guarded<Delivery?>(nil)
    let destination = ScriptedDestination { _, number in
      if number == 20 { holder.withLock { $0?.end() } }
      return .acknowledged
    }
    let delivery = Delivery(
      ledger: filled.store.ledger, destination: destination, settings: DeliverySettings.fixture(),
      clock: SimulatedClock(),
      seed: 1)
    holder.withLock { $0 = delivery }
    let report = try delivery.run(filled.run)
    holder.withLock { $0 = nil }
    #expect(report.stop == .interrupted)
    #expect(report.upload.eventsPosted == destination.bodies.count * 10)
    #expect(report.upload.eventsPending == 1000 - report.upload.eventsPosted)
    #expect(try filled.store.ledger.statusCounts()[.processing] == nil)
    let rest = try deliver(filled, destination)
    #expect(rest.upload.eventsPosted + report.upload.eventsPosted == 1000)
  }

  @Test(arguments: 1...12)
  func whateverHappensEveryEventIsAccountedFor(seed: UInt64) throws {
    let filled = try FilledStore(events: 400, perChunk: 7)
    let destination = ScriptedDestination { body, number in
      var random = SplitMix64(seed: seed &* 1000 + UInt64(number))
      switch Int.random(in: 0..<20, using: &random) {
      case 0: return .notSent(CallFault("no connection"))
      case 1: return .refused(CallFault("status 429", isThrottle: true))
      case 2: return .unknown(CallFault("connection lost"))
      case 3: return Self.failing
      default: return eventNumbers(body).contains { $0 % 61 == 0 } ? .rejected("bad") : .acknowledged
      }
    }
    let hold = seed % 2 == 0
    var report = try deliver(filled, destination, onUnknown: hold ? .hold : .resend)
    while report.stop != nil { report = try deliver(filled, destination, onUnknown: hold ? .hold : .resend) }
    let counts = try filled.store.ledger.statusCounts()
    #expect(counts.values.reduce(0, +) == 400)
    #expect(counts[.notPosted] == nil)
    #expect(counts[.processing] == nil)
    if !hold { #expect(counts[.unknown] == nil) }
  }
}
