package import BatchDelivery
import BatchFoundation
package import StoreSupport
import TestSupport

/// A service and the network before it, on simulated time. What goes wrong follows from the seed, the events of a request and how often they
/// were sent, not from the order in which threads come by, so a seed goes wrong the same way each time.
package final class SimulatedService: Sendable {
  private struct State {
    /// How often each event was taken.
    var taken: [Int: Int] = [:]
    /// Requests of the program's life at hand.
    var requests = 0
    var tries: [[Int]: Int] = [:]
    /// Requests that the network carries out later, and the number of the try before which it does.
    var late: [(try: Int, events: [Int])] = []
    var allTries = 0

    mutating func take(_ events: [Int]) { for event in events { taken[event, default: 0] += 1 } }

    mutating func takeLate(before number: Int = .max) {
      for request in late where request.try <= number { take(request.events) }
      late.removeAll { $0.try <= number }
    }
    /// Programs that were started; only the last one lives.
    var lives = 0
  }

  package let seed: UInt64
  private let clock: SimulatedClock
  private let disk: LossyDisk
  /// The events of a request, each by a number that stays the same.
  private let events: @Sendable (_ body: String) -> [Int]
  private let state = Guarded(State())

  package init(
    seed: UInt64, clock: SimulatedClock, disk: LossyDisk,
    events: @escaping @Sendable (String) -> [Int] = { eventNumbers($0) }
  ) {
    self.seed = seed
    self.events = events
    self.clock = clock
    self.disk = disk
  }

  /// How often each event was taken, and will be by requests that the network still has.
  package var taken: [Int: Int] {
    state.withLock { state in
      state.takeLate()
      return state.taken
    }
  }
  package var requests: Int { state.withLock { $0.requests } }

  /// The service as a program sees it that starts now.
  ///
  /// - Parameters:
  ///   - trouble: faults per thousand requests.
  ///   - kill: the request at which the program is killed, before the service sees it, and what that does to the disk.
  package func start(trouble: Int, kill: (request: Int, losing: LossyDisk.Loss)?) -> any Destination {
    let number = state.withLock { state in
      state.lives += 1
      state.requests = 0
      state.takeLate()
      return state.lives
    }
    clock.begin(number)
    return Life(service: self, number: number, trouble: trouble, kill: kill)
  }

  /// Nobody hears what the last program still sends.
  package func end() {
    clock.begin(
      state.withLock { state in
        state.lives += 1
        return state.lives
      })
  }

  /// Events that the service refuses for what they are.
  package func isBad(_ event: Int) -> Bool { SplitMix64.mix(seed &* 31 &+ UInt64(event)) % 97 == 0 }

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
    clock.pass(life.number)
    let events = events(String(decoding: body, as: UTF8.self))
    return state.withLock { state in
      // All lanes stop at once: nobody else is served meanwhile.
      if let kill = life.kill, state.lives == life.number, state.requests >= kill.request {
        disk.cut(losing: kill.losing)
      }
      guard state.lives == life.number, !disk.isCut else { return .notSent(SendFault("dead")) }
      state.allTries += 1
      state.takeLate(before: state.allTries)
      let count = state.tries[events, default: 0]
      state.tries[events] = count + 1
      return answer(events, try: count, life.trouble, &state)
    }
  }

  private func answer(_ events: [Int], try count: Int, _ trouble: Int, _ state: inout State) -> SendOutcome {
    var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(events.first ?? 0) &* 8191 &+ UInt64(count))
    let draw = Int.random(in: 0..<1000, using: &random)
    let fault = draw < trouble ? Int.random(in: 0..<10, using: &random) : -1
    if fault == 0 { return .notSent(SendFault("no connection")) }
    state.requests += 1
    // A quarter of each simulated ten minutes the service is out.
    if trouble > 0, clock.uptime.count / 150_000 % 4 == Int64(seed % 4) {
      return .refused(SendFault("status 503", isForNow: true, countsAgainstChunk: true))
    }
    switch fault {
    case 1: return .refused(SendFault("status 500", countsAgainstChunk: true))
    case 2: return .refused(SendFault("status 503", isForNow: true, countsAgainstChunk: true))
    case 3: return .refused(SendFault("status 429", retryAfter: Milliseconds(20_000), isThrottle: true))
    case 4, 5: return .unknown(SendFault("connection lost"))
    case 6, 7, 8:
      if events.contains(where: isBad) { return .unknown(SendFault("connection lost")) }
      state.take(events)
      return .unknown(SendFault("connection lost behind the request"))
    case 9:
      if !events.contains(where: isBad) { state.late.append((state.allTries + 3, events)) }
      return .unknown(SendFault("connection lost before the request arrived"))
    default:
      if events.contains(where: isBad) { return .rejected("status 400: no such schema") }
      state.take(events)
      return .acknowledged
    }
  }
}
