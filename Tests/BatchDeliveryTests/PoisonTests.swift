import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import DestinationContract
import StoreSupport
import TestSupport
import Testing

/// Events at which a service fails, whatever comes along with them (reference decisions 38).
@Suite("Poison") struct PoisonTests {
  /// How a service fails at a request.
  struct Failure: Sendable, CustomTestStringConvertible {
    let name: String
    let outcome: SendOutcome

    var testDescription: String { name }

    static let refused = Failure(
      name: "500 of Collect", outcome: .refused(CallFault("status 500", blamesRequest: true)))
    static let busy = Failure(
      name: "503", outcome: .refused(CallFault("status 503", isTemporary: true, blamesRequest: true)))
    static let failing = Failure(name: "502", outcome: .unknown(CallFault("status 502", blamesRequest: true)))
    static let dropped = Failure(
      name: "drop", outcome: .unknown(CallFault("connection lost", blamesRequest: true)))
    static let all = [refused, busy, failing, dropped]
  }

  enum Kind: CaseIterable { case engage, collect, collectAtOnce }

  private func destination(
    _ kind: Kind, _ answer: @escaping @Sendable (_ events: [Int], _ number: Int) -> SendOutcome
  ) -> ScriptedDestination {
    let traits =
      kind == .engage ? DeliveryTraits() : DeliveryTraits(isIdempotent: true, isOrdered: true, mostAttempts: 3)
    return ScriptedDestination(traits) { body, number in answer(eventNumbers(body), number) }
  }

  private func deliver(
    _ filled: FilledStore, _ destination: ScriptedDestination, _ kind: Kind = .engage,
    onUnknown: UnknownOutcomePolicy = .resend
  ) throws -> DeliveryReport {
    let settings = DeliverySettings.fixture(concurrency: kind == .collect ? 1 : 4, onUnknown: onUnknown)
    return try Delivery(
      ledger: filled.store.ledger, destination: destination, settings: settings, clock: SimulatedClock(), seed: 3
    ).run(filled.run)
  }

  @Test(
    "One event stands alone at the end, and all others arrive, however many chunks there are",
    arguments: Failure.all.flatMap { failure in Kind.allCases.map { (failure, $0) } }, Sweep.cases([100, 10], short: 1))
  func oneEvent(_ how: (Failure, Kind), perChunk: Int) throws {
    let (failure, kind) = how
    let filled = try FilledStore(events: 100, perChunk: perChunk)
    let destination = destination(kind) { events, _ in events.contains(37) ? failure.outcome : .acknowledged }
    let report = try deliver(filled, destination, kind)
    #expect(report.stop == nil)
    #expect(report.upload.eventsPosted == 99)
    #expect(report.upload.eventsFailed == 1)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 99, .failedPost: 1])
    #expect(destination.bodies.count < 30)
    // The others came once.
    let others = destination.sent.filter { !$0.contains(37) }.flatMap { $0 }
    #expect(others.sorted() == (1...100).filter { $0 != 37 })
    let isDoubt = if case .unknown = failure.outcome { kind == .engage } else { false }
    #expect(report.eventsInDoubt == (isDoubt ? perChunk : 0))
    let refused = try filled.store.ledger.requeue([.failedPost])
    #expect(refused == 1)
  }

  @Test(
    "A service that fails at everything ends the run, and each chunk is whole again",
    arguments: Sweep.cases(Failure.all.flatMap { failure in Kind.allCases.map { (failure, $0) } }, short: 4), [100, 1])
  func outage(_ how: (Failure, Kind), perChunk: Int) throws {
    let (failure, kind) = how
    let filled = try FilledStore(events: 100, perChunk: perChunk)
    let before = try filled.store.ledger.pendingChunks(after: nil, limit: 200).map(\.events)
    let bad = destination(kind) { _, _ in failure.outcome }
    for _ in 0..<2 {
      let report = try deliver(filled, bad, kind)
      #expect(report.exit == .serviceUnavailable)
      #expect(report.upload.eventsFailed == 0)
      #expect(report.upload.eventsPending == 100)
    }
    #expect(try filled.store.ledger.pendingChunks(after: nil, limit: 200).map(\.events) == before)
    let good = destination(kind) { _, _ in .acknowledged }
    let report = try deliver(filled, good, kind)
    #expect(report.stop == nil)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 100])
    #expect(good.sent.flatMap { $0 }.sorted() == Array(1...100))
    #expect(good.sent.map(\.count).sorted() == before.sorted())
  }

  @Test(
    "Several events in several chunks: each is found", arguments: Failure.all,
    [[37, 84], [1, 2, 3], [10, 50, 51], [3, 44, 59], [196, 197, 198, 199, 200]])
  func severalEvents(_ failure: Failure, _ bad: [Int]) throws {
    let filled = try FilledStore(events: 200, perChunk: 20)
    let destination = destination(.engage) { events, _ in
      events.contains(where: bad.contains) ? failure.outcome : .acknowledged
    }
    var report = try deliver(filled, destination)
    if report.stop != nil { report = try deliver(filled, destination) }
    #expect(report.stop == nil)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 200 - bad.count, .failedPost: bad.count])
  }

  @Test(
    "Many events of one chunk, wherever they are: each is found, and the others arrive once",
    arguments: [Failure.busy, .dropped], Sweep.cases([Poison.any(8, 1), .any(20, 3), .row(0), .row(71)], short: 2))
  func manyEvents(_ failure: Failure, _ poison: Poison) throws {
    for kind in Kind.allCases {
      let filled = try FilledStore(events: 100, perChunk: 100)
      let destination = destination(kind) { events, _ in
        events.contains(where: poison.events.contains) ? failure.outcome : .acknowledged
      }
      var runs = 1
      while try deliver(filled, destination, kind).stop != nil, runs < 4 { runs += 1 }
      #expect(
        try filled.store.ledger.statusCounts()
          == [.successfullyPosted: 100 - poison.events.count, .failedPost: poison.events.count], "\(kind)")
      let others = destination.sent.filter { $0.allSatisfy { !poison.events.contains($0) } }.flatMap { $0 }
      #expect(others.sorted() == (1...100).filter { !poison.events.contains($0) }, "\(kind)")
    }
  }

  /// Which of a hundred events are bad.
  enum Poison: Sendable {
    /// So many, drawn by a seed.
    case any(Int, UInt64)
    /// Twenty neighbours after so many others.
    case row(Int)

    var events: Set<Int> {
      switch self {
      case .any(let count, let seed):
        var random = SplitMix64(seed: seed)
        return Set((1...100).shuffled(using: &random).prefix(count))
      case .row(let before): return Set(before + 1...before + 20)
      }
    }
  }

  @Test(
    "Where every chunk has such events and nothing was ever taken, one chunk is searched before the service counts as down",
    arguments: Failure.all, Sweep.cases([4, 1], short: 1))
  func everyChunk(_ failure: Failure, concurrency: Int) throws {
    let filled = try FilledStore(events: 400, perChunk: 20)
    let destination = destination(.engage) { events, _ in
      events.contains { $0 % 10 == 3 } ? failure.outcome : .acknowledged
    }
    var runs = 0
    var isOver = false
    while !isOver, runs < 6 {
      let report = try Delivery(
        ledger: filled.store.ledger, destination: destination, settings: .fixture(concurrency: concurrency),
        clock: SimulatedClock(), seed: 3
      ).run(filled.run)
      runs += 1
      isOver = report.stop == nil
    }
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 360, .failedPost: 40])
  }

  @Test(
    "An outage that begins while the parts of a chunk are tried fails nobody but the one that is bad",
    arguments: [Failure.refused, .busy], Sweep.cases(1..<26, short: 6))
  func outageInBetween(_ failure: Failure, from request: Int) throws {
    let filled = try FilledStore(events: 100, perChunk: 50)
    let answers: @Sendable ([Int], Bool) -> SendOutcome = { events, isOut in
      isOut || events.contains(37) ? failure.outcome : .acknowledged
    }
    var report = try deliver(filled, destination(.engage) { events, number in answers(events, number >= request) })
    for _ in 0..<3 where report.stop != nil {
      #expect(report.exit == .serviceUnavailable)
      report = try deliver(filled, destination(.engage) { events, _ in answers(events, false) })
    }
    #expect(try filled.store.ledger.statusCounts()[.successfullyPosted] == 99)
  }

  @Test("One that fails once while the other half is bad is tried again after something else was taken")
  func bystander() throws {
    let filled = try FilledStore(events: 40, perChunk: 20)
    let failures = Guarded(0)
    let destination = destination(.engage) { events, _ in
      if events == [7] { failures.change { $0 += 1 } }
      let isBystander = events == [7] && failures.withLock { $0 } == 1
      return isBystander || events.contains(8) ? Failure.refused.outcome : .acknowledged
    }
    _ = try deliver(filled, destination)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 39, .failedPost: 1])
  }

  @Test("Where nothing may overtake them, several events of one chunk are found as well", arguments: Failure.all)
  func inOrder(_ failure: Failure) throws {
    let filled = try FilledStore(events: 200, perChunk: 100)
    let destination = destination(.collect) { events, _ in
      events.contains(where: [30, 31, 80].contains) ? failure.outcome : .acknowledged
    }
    let report = try deliver(filled, destination, .collect)
    #expect(report.stop == nil)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 197, .failedPost: 3])
  }

  @Test("Under 'hold' an unknown outcome holds the whole chunk, and what was certainly not taken is halved")
  func hold() throws {
    for failure in Failure.all {
      let filled = try FilledStore(events: 100, perChunk: 20)
      let destination = destination(.engage) { events, _ in events.contains(37) ? failure.outcome : .acknowledged }
      let report = try deliver(filled, destination, onUnknown: .hold)
      let isUnknown = if case .unknown = failure.outcome { true } else { false }
      #expect(
        try filled.store.ledger.statusCounts()
          == (isUnknown
            ? [.successfullyPosted: 80, .unknown: 20] : [.successfullyPosted: 99, .failedPost: 1]),
        "\(failure.name)")
      #expect(report.exit == (isUnknown ? .protocolRefused : .done))
    }
  }

  @Test("Under 'hold' a chunk that was in doubt before is held whole, and not halved")
  func holdAfterDoubt() throws {
    let filled = try FilledStore(events: 100, perChunk: 20)
    _ = try deliver(
      filled,
      destination(.engage) { events, number in
        events.contains(37)
          ? .unknown(CallFault("connection lost", blamesRequest: true))
          : .refused(CallFault("status 401", stop: .credentials))
      })
    let report = try deliver(
      filled, destination(.engage) { events, _ in events.contains(37) ? Failure.busy.outcome : .acknowledged },
      onUnknown: .hold)
    #expect(report.upload.eventsFailed == 0)
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 80, .unknown: 20])
  }

  @Test("What counts is kept over runs, and a throttled request never counts")
  func overRuns() throws {
    let filled = try FilledStore(events: 20, perChunk: 10)
    let ends = SendOutcome.refused(CallFault("status 401", stop: .credentials))
    for _ in 0..<2 {
      _ = try deliver(
        filled, destination(.collect) { _, number in number == 0 ? Failure.refused.outcome : ends }, .collect)
    }
    #expect(try filled.store.ledger.chunk(1)?.failures == 2)
    let throttled = destination(.collect) { _, number in
      .refused(CallFault("status 429", retryAfter: Milliseconds(10), isThrottle: true))
    }
    #expect(try deliver(filled, throttled, .collect).stop == .unreachable(.attempts(3)))
    #expect(Set(throttled.sent) == [Array(1...10)])
    #expect(try filled.store.ledger.chunk(1)?.failures == 2)
    let poisoned = destination(.collect) { events, _ in
      events.contains(5) ? Failure.refused.outcome : .acknowledged
    }
    let report = try deliver(filled, poisoned, .collect)
    #expect(poisoned.sent.filter { $0.count == 10 && $0.contains(5) }.count == 1)
    #expect(report.upload.eventsPosted == 19)
    #expect(report.upload.eventsFailed == 1)
  }

  @Test("An event whose chunk has no other is given up only when something else was taken")
  func singleEvents() throws {
    for kind in Kind.allCases {
      let filled = try FilledStore(events: 10, perChunk: 1)
      let report = try deliver(
        filled, destination(kind) { events, _ in events == [1] ? Failure.refused.outcome : .acknowledged }, kind)
      #expect(report.stop == nil, "\(kind)")
      #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 9, .failedPost: 1], "\(kind)")
    }
  }

  @Test("Parts of a chunk that was refused as wrong are not to blame in an outage that follows", arguments: Failure.all)
  func outageAfterRefusal(_ failure: Failure) throws {
    let filled = try FilledStore(events: 4, perChunk: 4)
    for _ in 0..<4 {
      let report = try deliver(
        filled,
        destination(.engage) { events, _ in
          events.count > 1 && events.contains(1) ? .rejected("status 400: no such schema") : failure.outcome
        })
      #expect(report.exit == .serviceUnavailable)
    }
    #expect(try filled.store.ledger.statusCounts() == [.notPosted: 4])
    _ = try deliver(filled, destination(.engage) { _, _ in .acknowledged })
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 4])
  }

  @Test(
    "Chunks of nothing but bad events do not keep the last one back, in no more runs than there are attempts",
    arguments: Failure.all, [1, 2, 5])
  func lastChunk(_ failure: Failure, perChunk: Int) throws {
    let (bad, concurrency) = (perChunk * 2, 1)
    let filled = try FilledStore(events: bad + 1, perChunk: perChunk)
    let settings = DeliverySettings.fixture(concurrency: concurrency)
    var runs = 0
    var isOver = false
    while !isOver, runs <= settings.maxFailures {
      let clock = SimulatedClock()
      let destination = destination(.engage) { events, _ in
        // Answers come only while the delivery waits for one, so that each run has the same order.
        clock.pass(0)
        return events.contains { $0 <= bad } ? failure.outcome : .acknowledged
      }
      let report = try Delivery(
        ledger: filled.store.ledger, destination: destination, settings: settings, clock: clock, seed: 3
      ).run(filled.run)
      runs += 1
      isOver = report.stop == nil
    }
    #expect(try filled.store.ledger.statusCounts() == [.successfullyPosted: 1, .failedPost: bad], "\(runs) runs")
  }

  @Test("A run that is killed between halves goes on with them", arguments: Sweep.cases(0..<24, short: 8))
  func killed(at request: Int) throws {
    let filled = try FilledStore(events: 100, perChunk: 50)
    let holder = Holder()
    let destination = destination(.engage) { events, number in
      if number == request { holder.end() }
      return events.contains(37) ? Failure.dropped.outcome : .acknowledged
    }
    let delivery = Delivery(
      ledger: filled.store.ledger, destination: destination, settings: .fixture(concurrency: 1),
      clock: SimulatedClock(),
      seed: 3)
    holder.set(delivery)
    _ = try delivery.run(filled.run)
    holder.set(nil)
    _ = try deliver(filled, destination)
    // Alone in a run of its own nothing shows whether it is the event or the service.
    #expect(try filled.store.ledger.statusCounts()[.successfullyPosted] == 99)
  }
}
