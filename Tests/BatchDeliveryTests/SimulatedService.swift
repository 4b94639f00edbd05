import BatchDelivery
import BatchFoundation
import BatchThreads
import DestinationContract
import StoreSupport
import Synchronization
import TestSupport

/// A service and the network before it, on simulated time. What goes wrong follows from the seed, the events of a request and how often they
/// were sent, not from the order in which threads come by, so a seed goes wrong the same way each time.
final class SimulatedService: Destination {
  struct Ledger {
    /// How often each event was taken.
    var taken: [Int: Int] = [:]
    /// Requests since the last start of the program.
    var requests = 0
    /// Events of which an answer was lost since then.
    var lost: Set<Int> = []
    var tries: [[Int]: Int] = [:]
    /// The program is dead: nothing that it still does counts.
    var isDead = false
  }

  let form = 0
  let seed: UInt64
  private let clock: SimulatedClock
  private let ledger = Guarded(Ledger())
  /// Faults per thousand requests; none in the last life of a simulation, which has to come to an end.
  let trouble = Guarded(0)
  /// The request at which the program is killed, before the service sees it, and what a kill does.
  let kill = Guarded<(request: Int, action: @Sendable () -> Void)?>(nil)

  init(seed: UInt64, clock: SimulatedClock) {
    self.seed = seed
    self.clock = clock
  }

  var taken: [Int: Int] { ledger.withLock { $0.taken } }
  var requests: Int { ledger.withLock { $0.requests } }
  var lost: Set<Int> { ledger.withLock { $0.lost } }

  func restart() {
    ledger.withLock {
      $0.isDead = false
      $0.requests = 0
      $0.lost = []
    }
  }

  /// Events that the service refuses for what they are.
  func isBad(_ event: Int) -> Bool { SplitMix64.mix(seed &* 31 &+ UInt64(event)) % 97 == 0 }

  func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let events = eventNumbers(String(decoding: body, as: UTF8.self))
    return ledger.withLock { ledger in
      if ledger.isDead { return .notSent(SendFault("dead")) }
      if let kill = kill.withLock({ $0 }), ledger.requests >= kill.request {
        // All lanes stop at once: the lock is held while the files are taken as they are.
        kill.action()
        ledger.isDead = true
        return .notSent(SendFault("dead"))
      }
      let count = ledger.tries[events, default: 0]
      ledger.tries[events] = count + 1
      let outcome = answer(events, try: count, &ledger)
      if case .unknown = outcome { ledger.lost.formUnion(events) }
      return outcome
    }
  }

  private func answer(_ events: [Int], try count: Int, _ ledger: inout Ledger) -> SendOutcome {
    var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(events.first ?? 0) &* 8191 &+ UInt64(count))
    let draw = Int.random(in: 0..<1000, using: &random)
    let limit = trouble.withLock { $0 }
    let fault = draw < limit ? Int.random(in: 0..<9, using: &random) : -1
    if fault == 0 { return .notSent(SendFault("no connection")) }
    ledger.requests += 1
    // A quarter of each simulated ten minutes the service is out.
    if limit > 0, clock.uptime.count / 150_000 % 4 == Int64(seed % 4) {
      return .refused(SendFault("status 503", isForNow: true, isServiceFailure: true))
    }
    func take() { for event in events { ledger.taken[event, default: 0] += 1 } }
    switch fault {
    case 1: return .refused(SendFault("status 500", isServiceFailure: true))
    case 2: return .refused(SendFault("status 503", isForNow: true, isServiceFailure: true))
    case 3: return .refused(SendFault("status 429", retryAfter: Milliseconds(20_000), isThrottle: true))
    case 4, 5: return .unknown(SendFault("connection lost"))
    case 6, 7, 8:
      if events.contains(where: isBad) { return .unknown(SendFault("connection lost")) }
      take()
      return .unknown(SendFault("connection lost behind the request"))
    default:
      if events.contains(where: isBad) { return .rejected("status 400: no such schema") }
      take()
      return .acknowledged
    }
  }

  func abort() {}
}

/// Passes as fast as threads come by: what is waited for is there at once.
final class SimulatedClock: DeliveryClock {
  private let time = Atomic<Int64>(0)

  var now: Instant { Instant(milliseconds: 1_767_225_600_000 + uptime.count) }
  var uptime: Milliseconds { Milliseconds(time.load(ordering: .relaxed)) }

  func wait(for signal: DeliverySignal, until limit: Milliseconds) {
    if signal.wait(Milliseconds(2)) { return }
    time.store(max(limit.count, uptime.count), ordering: .relaxed)
  }
}
