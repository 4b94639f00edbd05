import BatchDelivery
import BatchFoundation
import BatchWire
import DestinationContract
import StoreSupport
import Testing

@testable import BatchStore

@Suite struct DeliveryScheduleTests {
  func chunk(_ id: Int64, failures: Int = 0) -> PendingChunk {
    PendingChunk(
      id: id, first: Instant(milliseconds: id), events: 10, bodyBytes: 100, failures: failures, digest: nil, form: 0,
      pack: 1, offset: 0, length: 1, rank: 0)
  }

  func part(_ id: Int64, of whole: Int64) -> PendingChunk {
    var part = chunk(id)
    part.parent = whole
    part.events = 1
    return part
  }

  func schedule(_ change: (inout DeliverySettings) -> Void = { _ in }) -> DeliverySchedule {
    var settings = DeliverySettings.fixture(concurrency: 4)
    change(&settings)
    return DeliverySchedule(settings, random: SplitMix64(seed: 7))
  }

  func at(_ milliseconds: Int64) -> Milliseconds { Milliseconds(milliseconds) }

  static let lost = SendOutcome.notSent(CallFault("no connection"))
  static let failing = SendOutcome.refused(CallFault("status 500", blamesRequest: true))

  @Test func startsAsManyAsMayBeUnderWay() {
    var schedule = schedule()
    schedule.add((1...6).map { chunk($0) })
    #expect(schedule.start(now: at(0)).map(\.id) == [1, 2, 3, 4])
    #expect(schedule.start(now: at(0)) == [])
    #expect(schedule.finish(chunk(1), .acknowledged, now: at(1)) == .posted)
    #expect(schedule.start(now: at(1)).map(\.id) == [5])
  }

  @Test func theHardLimitIsEight() {
    #expect(DeliverySettings.fixture(concurrency: 100).concurrency == 8)
    #expect(DeliverySettings.fixture(concurrency: 0).concurrency == 1)
  }

  @Test func aRetryWaitsARandomPartOfASpanThatDoubles() {
    var schedule = schedule {
      $0.failuresInARow = 100
    }
    var random = SplitMix64(seed: 7)
    schedule.add([chunk(1)])
    var now = Int64(0)
    #expect(schedule.start(now: at(now)).count == 1)
    for span: Int64 in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
      #expect(schedule.finish(chunk(1), Self.lost, now: at(now)) == .pending(countsAsFailure: false))
      now += Int64.random(in: 0...span, using: &random)
      #expect(schedule.nextStart() == at(now))
      #expect(now == 0 || schedule.start(now: at(now - 1)) == [])
      #expect(schedule.start(now: at(now)).map(\.id) == [1])
    }
  }

  @Test func nothingStartsBeforeTheServiceWantsIt() {
    var schedule = schedule()
    schedule.add([chunk(1), chunk(2)])
    _ = schedule.start(now: at(0), atMost: 1)
    let fault = CallFault("status 429", retryAfter: Milliseconds(5000), isThrottle: true)
    #expect(schedule.finish(chunk(1), .refused(fault), now: at(10)) == .pending(countsAsFailure: false))
    #expect(schedule.start(now: at(5009)) == [])
    #expect(schedule.nextStart() == at(5010))
    #expect(schedule.start(now: at(5010)).isEmpty == false)
  }

  @Test(arguments: [(Int64.max / 2, Int64(900_000)), (-5000, 0)])
  func aRetryAfterIsBounded(asked: Int64, pause: Int64) {
    var schedule = schedule()
    schedule.add([chunk(1), chunk(2)])
    _ = schedule.start(now: at(0), atMost: 1)
    _ = schedule.finish(
      chunk(1), .refused(CallFault("status 503", retryAfter: Milliseconds(asked), isThrottle: true)), now: at(0))
    #expect(schedule.nextStart() == at(pause))
  }

  @Test func throttlingHalvesTheRequestsAtOnceAndSuccessRestoresThem() {
    var schedule = schedule()
    schedule.add((1...100).map { chunk($0) })
    let first = schedule.start(now: at(0))
    _ = schedule.finish(first[0], .refused(CallFault("too many", isThrottle: true)), now: at(0))
    #expect(schedule.limit == 2)
    _ = schedule.finish(first[1], .refused(CallFault("too many", isThrottle: true)), now: at(0))
    _ = schedule.finish(first[2], .refused(CallFault("too many", isThrottle: true)), now: at(0))
    #expect(schedule.limit == 1)
    _ = schedule.finish(first[3], .acknowledged, now: at(0))
    for _ in 0..<23 {
      for chunk in schedule.start(now: at(100_000), atMost: 1) {
        _ = schedule.finish(chunk, .acknowledged, now: at(100_000))
      }
    }
    #expect(schedule.limit == 4)
    #expect(schedule.stop == nil)
  }

  @Test func aChunkThatFailsWhileOthersGoThroughIsGivenUp() {
    var schedule = schedule()
    schedule.add([chunk(1)])
    for failures in 0..<2 {
      #expect(schedule.start(now: at(1_000_000)).map(\.id) == [1])
      #expect(
        schedule.finish(chunk(1, failures: failures), Self.failing, now: at(0)) == .pending(countsAsFailure: true))
    }
    #expect(schedule.start(now: at(1_000_000)).first?.failures == 2)
    schedule.add([chunk(2)])
    #expect(schedule.start(now: at(1_000_000)).map(\.id) == [2])
    #expect(schedule.finish(chunk(2), .acknowledged, now: at(0)) == .posted)
    #expect(schedule.finish(chunk(1, failures: 2), Self.failing, now: at(0)) == .pending(countsAsFailure: true))
    #expect(schedule.takeChanges() == [.halve(chunk(1, failures: 3))])
    #expect(schedule.stop == nil)
  }

  @Test func aServiceThatFailsForEveryChunkStopsTheRunAndLosesNothing() {
    var schedule = schedule()
    schedule.add([chunk(1)])
    var verdicts: [ChunkVerdict] = []
    for failures in 0..<3 {
      #expect(schedule.start(now: at(1_000_000)).count == 1)
      verdicts.append(schedule.finish(chunk(1, failures: failures), Self.failing, now: at(0)))
    }
    #expect(verdicts == Array(repeating: .pending(countsAsFailure: true), count: 3))
    #expect(schedule.stop == nil)
    // Nothing else is there to show whether it is the chunk: its halves are.
    #expect(schedule.takeChanges() == [.halve(chunk(1, failures: 3))])
    let halves = [part(2, of: 1), part(3, of: 1)]
    schedule.addFirst(halves)
    // One after the other: what has not been tried may have to show that the service works.
    for half in halves {
      #expect(schedule.start(now: at(1_000_000)) == [half])
      _ = schedule.finish(half, Self.failing, now: at(0))
    }
    #expect(schedule.takeChanges() == [.join([2, 3], of: chunk(1, failures: 3), isOutage: true)])
    #expect(schedule.stop == .unreachable(.everyRequest))
    #expect(schedule.isIdle)
  }

  @Test func whatTheServiceTurnedAwayIsNotHeld() {
    var schedule = schedule { $0.onUnknown = .hold }
    schedule.add([chunk(1)])
    _ = schedule.start(now: at(0))
    #expect(schedule.finish(chunk(1), Self.failing, now: at(0)) == .pending(countsAsFailure: true))
  }

  @Test(arguments: [0, 1])
  func aChunkThatIsGivenUpAfterOneFailureDoesNotHoldUpTheOthers(maxFailures: Int) {
    var schedule = schedule {
      $0.concurrency = 1; $0.maxFailures = maxFailures
    }
    schedule.add([chunk(1), chunk(2), chunk(3)])
    #expect(schedule.start(now: at(0)).map(\.id) == [1])
    #expect(schedule.finish(chunk(1), Self.failing, now: at(0)) == .pending(countsAsFailure: true))
    #expect(schedule.start(now: at(1_000_000)).map(\.id) == [2])
    #expect(schedule.finish(chunk(2), .acknowledged, now: at(0)) == .posted)
    // Another was taken: it is the chunk that fails, unless it goes through now.
    #expect(schedule.start(now: at(1_000_000)).map(\.id) == [1])
    #expect(schedule.finish(chunk(1, failures: 1), Self.failing, now: at(0)) == .pending(countsAsFailure: true))
    #expect(schedule.takeChanges() == [.halve(chunk(1, failures: 2))])
    schedule.addFirst([])
    #expect(schedule.start(now: at(1_000_000)).map(\.id) == [3])
    #expect(schedule.finish(chunk(3), .acknowledged, now: at(0)) == .posted)
    schedule.endUnlessDone()
    #expect(schedule.stop == nil && schedule.isIdle)
  }

  @Test func failuresInARowStopTheRun() {
    var schedule = schedule()
    schedule.add((1...20).map { chunk($0) })
    var count = 0
    while schedule.stop == nil {
      for chunk in schedule.start(now: at(1_000_000)) where schedule.stop == nil {
        _ = schedule.finish(chunk, Self.lost, now: at(0))
        count += 1
      }
    }
    #expect(count == 10)
    #expect(schedule.stop == .unreachable(.failuresInARow(10)))
  }

  /// Once a retry cost five and a success gave one back, so that 1000 allowed two hundred.
  @Test(arguments: [0, 1, 50, 1000])
  func aBudgetOfRetriesAllowsExactlySoMany(budget: Int) {
    var schedule = schedule {
      $0.retryBudget = budget; $0.concurrency = 1
    }
    schedule.add((1...3000).map { chunk($0) })
    var seen: Set<Int64> = []
    var retries = 0
    while schedule.stop == nil, let chunk = schedule.start(now: at(1_000_000_000), atMost: 1).first {
      let isFirst = seen.insert(chunk.id).inserted
      if !isFirst { retries += 1 }
      _ = schedule.finish(chunk, isFirst ? Self.lost : .acknowledged, now: at(0))
    }
    #expect(schedule.stop == .unreachable(.retryBudget(budget)))
    #expect(retries == budget)
  }

  // MARK: - Temporary refusals

  static let busy = SendOutcome.refused(CallFault("status 503", isTemporary: true, blamesRequest: true))

  /// Sends until the schedule stops or `isOver` says so, always when the next may begin, each answered at once.
  private func play(
    _ schedule: inout DeliverySchedule, from start: Int64 = 0, _ answer: (PendingChunk, Int64) -> SendOutcome
  ) -> (requests: Int, now: Int64) {
    var now = start
    var requests = 0
    while schedule.stop == nil, !schedule.isIdle {
      let started = schedule.start(now: at(now))
      for change in schedule.takeChanges() {
        switch change {
        case .halve(let whole): schedule.addFirst([1, 2].map { part(whole.id * 10_000 + $0, of: whole.id) })
        case .join(_, let whole, _): schedule.takeBack([chunk(whole.id)])
        case .quarantine, .giveUp: break
        }
      }
      if started.isEmpty { now = max(now, schedule.nextStart()?.count ?? now) }
      for chunk in started {
        requests += 1
        _ = schedule.finish(chunk, answer(chunk, now), now: at(now))
      }
    }
    return (requests, now)
  }

  @Test(arguments: [(Int64(600_000), Int64(30_000)), (20_000, 20_000), (0, 0)])
  func aServiceThatTakesNothingIsWaitedForAsLongAsPatienceSays(patience: Int64, end: Int64) {
    var schedule = schedule { $0.patience.longest = Milliseconds(patience) }
    schedule.add((1...500).map { chunk($0) })
    let played = play(&schedule) { _, _ in Self.busy }
    #expect(schedule.stop == .unreachable(.patience(Milliseconds(end))))
    #expect(played.now == end)
    #expect(played.requests < 40)
  }

  /// With a delay of zero, requests that asked whether it was over spent the budget of repetitions in a moment.
  @Test func anOutageIsWaitedOutWhereRepetitionsHaveNoPause() {
    var schedule = schedule { $0.patience.backoff = Backoff(first: .zero, longest: .zero) }
    schedule.add((1...500).map { chunk($0) })
    _ = schedule.finish(schedule.start(now: at(0), atMost: 1)[0], .acknowledged, now: at(0))
    let played = play(&schedule) { _, now in now < 590_000 ? Self.busy : .acknowledged }
    #expect(schedule.stop == nil)
    #expect(played.now == 590_000)
    // Two of each lane that found it out, then one a second, and the chunks.
    #expect(played.requests == 8 + 589 + 499)
  }

  @Test func anOutageInTheMiddleIsWaitedOutAndDoesNotCountForAnyChunk() {
    var schedule = schedule()
    schedule.add((1...500).map { chunk($0) })
    let played = play(&schedule) { _, now in (1..<500_000).contains(now) ? Self.busy : .acknowledged }
    // Everything is answered at once, so nothing reaches the outage.
    #expect(played.requests == 500)
    schedule.add((501...600).map { chunk($0) })
    let rest = play(&schedule, from: 1) { _, now in now < 500_000 ? Self.busy : .acknowledged }
    #expect(schedule.stop == nil)
    #expect(schedule.isIdle)
    #expect((500_000..<600_002).contains(rest.now))
    #expect(rest.requests < 160)
  }

  @Test func aChunkThatIsTemporarilyRefusedLikeOthersIsNotGivenUp() {
    var schedule = schedule()
    schedule.add((1...400).map { chunk($0) })
    var refusals: [Int64: Int] = [:]
    var taken: Set<Int64> = []
    var random = SplitMix64(seed: 3)
    _ = play(&schedule) { chunk, _ in
      guard Double.random(in: 0..<1, using: &random) < 0.5 else {
        taken.insert(chunk.id)
        return .acknowledged
      }
      refusals[chunk.id, default: 0] += 1
      return Self.busy
    }
    #expect(schedule.stop == nil)
    #expect(refusals.values.count { $0 > 3 } > 10)
    // A chunk that was tried in halves when no other was left came as two.
    func whole(_ id: Int64) -> Int64 { id > 400 ? whole(id / 10_000) : id }
    #expect(Set(taken.map(whole)).count == 400)
  }

  @Test func aChunkThatAloneIsTemporarilyRefusedIsSuspected() {
    var schedule = schedule()
    schedule.add((1...40).map { chunk($0) })
    var posts = 0
    var verdicts: [ChunkVerdict] = []
    // The last one is kept: it may have to show whether it is the chunk.
    while posts < 3 || schedule.readyCount > 1 || schedule.inFlight > 0 {
      for started in schedule.start(now: at(1_000_000_000)) {
        let verdict = schedule.finish(started, started.id == 7 ? Self.busy : .acknowledged, now: at(0))
        if started.id == 7 {
          posts += 1
          verdicts.append(verdict)
        }
      }
    }
    #expect(posts == 3)
    #expect(schedule.takeChanges() == [.halve(chunk(7, failures: 3))])
    #expect(schedule.stop == nil)
  }

  @Test func refusedCredentialsStopTheRun() {
    var schedule = schedule()
    schedule.add([chunk(1), chunk(2)])
    _ = schedule.start(now: at(0), atMost: 1)
    let verdict = schedule.finish(chunk(1), .refused(CallFault("status 401", stop: .credentials)), now: at(0))
    #expect(verdict == .pending(countsAsFailure: false))
    #expect(schedule.stop == .credentials)
    #expect(schedule.start(now: at(1_000_000)) == [])
  }

  @Test func anUnknownOutcomeIsHeldIfTheOperatorWantsIt() {
    var schedule = schedule { $0.onUnknown = .hold }
    schedule.add([chunk(1)])
    _ = schedule.start(now: at(0))
    #expect(schedule.finish(chunk(1), .unknown(CallFault("connection lost")), now: at(0)) == .unknown)
    #expect(schedule.isIdle)
  }
}
