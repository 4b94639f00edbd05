import BatchDelivery
import BatchFoundation
import BatchThreads
import DestinationContract
import StoreSupport
import TestSupport

/// A service and the network before it, on simulated time. What goes wrong follows from the seed, the events of a request and how often they
/// were sent, not from the order in which threads come by, so a seed goes wrong the same way each time.
final class SimulatedService: Sendable {
  private struct State {
    /// How often each event was taken.
    var taken: [Int: Int] = [:]
    /// Requests of the program's life at hand.
    var requests = 0
    var tries: [[Int]: Int] = [:]
    /// Programs that were started; only the last one lives.
    var lives = 0
  }

  let seed: UInt64
  private let clock: SimulatedClock
  private let disk: LossyDisk
  private let state = Guarded(State())

  init(seed: UInt64, clock: SimulatedClock, disk: LossyDisk) {
    self.seed = seed
    self.clock = clock
    self.disk = disk
  }

  var taken: [Int: Int] { state.withLock { $0.taken } }
  var requests: Int { state.withLock { $0.requests } }

  /// The service as a program sees it that starts now.
  ///
  /// - Parameters:
  ///   - trouble: faults per thousand requests.
  ///   - kill: the request at which the program is killed, before the service sees it, and what that does to the disk.
  func start(trouble: Int, kill: (request: Int, losing: LossyDisk.Loss)?) -> any Destination {
    let number = state.withLock { state in
      state.lives += 1
      state.requests = 0
      return state.lives
    }
    return Life(service: self, number: number, trouble: trouble, kill: kill)
  }

  /// Events that the service refuses for what they are.
  func isBad(_ event: Int) -> Bool { SplitMix64.mix(seed &* 31 &+ UInt64(event)) % 97 == 0 }

  private struct Life: Destination {
    let form = 0
    let service: SimulatedService
    let number: Int
    let trouble: Int
    let kill: (request: Int, losing: LossyDisk.Loss)?

    func send(_ body: [UInt8], group: Int) -> SendOutcome { service.send(body, self) }

    func abort() {}
  }

  private func send(_ body: [UInt8], _ life: Life) -> SendOutcome {
    let events = eventNumbers(String(decoding: body, as: UTF8.self))
    return state.withLock { state in
      // All lanes stop at once: nobody else is served meanwhile.
      if let kill = life.kill, state.lives == life.number, state.requests >= kill.request {
        disk.cut(losing: kill.losing)
      }
      guard state.lives == life.number, !disk.isCut else { return .notSent(SendFault("dead")) }
      let count = state.tries[events, default: 0]
      state.tries[events] = count + 1
      return answer(events, try: count, life.trouble, &state)
    }
  }

  private func answer(_ events: [Int], try count: Int, _ trouble: Int, _ state: inout State) -> SendOutcome {
    var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(events.first ?? 0) &* 8191 &+ UInt64(count))
    let draw = Int.random(in: 0..<1000, using: &random)
    let fault = draw < trouble ? Int.random(in: 0..<9, using: &random) : -1
    if fault == 0 { return .notSent(SendFault("no connection")) }
    state.requests += 1
    // A quarter of each simulated ten minutes the service is out.
    if trouble > 0, clock.uptime.count / 150_000 % 4 == Int64(seed % 4) {
      return .refused(SendFault("status 503", isForNow: true, isServiceFailure: true))
    }
    func take() { for event in events { state.taken[event, default: 0] += 1 } }
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
}
