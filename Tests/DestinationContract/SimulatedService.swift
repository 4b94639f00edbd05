package import BatchDelivery
import BatchFoundation
package import BatchWire
package import StoreSupport
import TestSupport

/// A service and the network before it, on simulated time. What goes wrong follows from the seed, the events of a request and how often they
/// were sent, not from the order in which threads come by, so a seed goes wrong the same way each time.
package final class SimulatedService: Sendable {
  package enum Temper: Sendable {
    /// It refuses one event of a hundred. Any request may meet a fault, an outage, or lose its answer.
    case troubled
    /// There are events that it cannot digest, each at which it fails in a way of its own. It also takes requests and denies it. It has no
    /// fault but these, and its outages, for an event that it has seen before: whom it fails at otherwise is an innocent.
    ///
    /// Its faults say words that may depend on the body.
    case hostile(Outage?, words: @Sendable (_ body: String) -> String)
    /// It refuses events for what they are or for how long they are, and requests for how many events they have. What it took may lose
    /// its answer, once for an event. A program may meet it while it turns everything away, whatever it is.
    case refusing(words: @Sendable (_ body: String) -> String)
  }

  /// What a service that is out does with a request.
  package enum Outage: CaseIterable, Sendable {
    case unavailable
    /// It says when to come again.
    case throttled
    case dropped
  }

  /// What the service does at an event that it cannot digest.
  package enum Poison: Int, CaseIterable, Sendable {
    case refused = 400
    case fails = 500
    case badGateway = 502
    case unavailable = 503
    case dropped = 0

    /// Whether it says that it took nothing.
    package var isCertain: Bool { self == .refused || self == .unavailable }
  }

  private struct State {
    /// How often each event was taken.
    var taken: [Int: Int] = [:]
    /// Events that were taken although the service said that they were not.
    var denied: Set<Int> = []
    /// Events that were in a request that could meet a fault.
    var seen: Set<Int> = []
    /// Requests of the program's life at hand.
    var requests = 0
    /// Those of them that were turned away whatever they were.
    var denials = 0
    var tries: [[Int]: Int] = [:]
    /// Requests that the network carries out later, and the number of the try before which it does.
    var late: [(try: Int, events: [Int])] = []
    var allTries = 0
    /// Programs that were started; only the last one lives.
    var lives = 0

    mutating func take(_ events: [Int]) { for event in events { taken[event, default: 0] += 1 } }

    mutating func takeLate(before number: Int = .max) {
      for request in late where request.try <= number { take(request.events) }
      late.removeAll { $0.try <= number }
    }
  }

  package let seed: UInt64
  private let temper: Temper
  private let traits: DeliveryTraits
  private let clock: SimulatedClock
  private let disk: LossyDisk
  /// The events of a request, each by a number that stays the same.
  private let events: @Sendable (_ body: String) -> [Int]
  /// What an answer means.
  private let read: @Sendable (HTTPOutcome, _ body: [UInt8]) -> SendOutcome
  private let state = Guarded(State())

  /// - Parameter traits: of one that drops what it has already, the events count once.
  package init(
    seed: UInt64, clock: SimulatedClock, disk: LossyDisk, temper: Temper = .troubled,
    traits: DeliveryTraits = DeliveryTraits(), events: @escaping @Sendable (String) -> [Int] = { eventNumbers($0) },
    read: @escaping @Sendable (HTTPOutcome, [UInt8]) -> SendOutcome = { answer, _ in SendOutcome(simulated: answer) }
  ) {
    self.seed = seed
    self.temper = temper
    self.traits = traits
    self.events = events
    self.read = read
    self.clock = clock
    self.disk = disk
  }

  /// How often each event was taken, and will be by requests that the network still has.
  package var taken: [Int: Int] {
    state.withLock { state in
      state.takeLate()
      return traits.isIdempotent ? state.taken.mapValues { min($0, 1) } : state.taken
    }
  }
  package var denied: Set<Int> { state.withLock { $0.denied } }
  package var requests: Int { state.withLock { $0.requests } }
  package var denials: Int { state.withLock { $0.denials } }

  /// The service as a program sees it that starts now.
  ///
  /// - Parameters:
  ///   - trouble: faults per thousand requests.
  ///   - kill: the request at which the program is killed, before the service sees it, and what that does to the disk.
  ///   - denial: the status with which a refusing service turns everything away from a request on; nil if it does not.
  package func start(
    trouble: Int, kill: (request: Int, losing: LossyDisk.Loss)?, denial: (request: Int, status: Int)? = nil
  ) -> any Destination {
    let number = state.withLock { state in
      state.lives += 1
      (state.requests, state.denials) = (0, 0)
      state.takeLate()
      return state.lives
    }
    clock.begin(number)
    return Life(service: self, number: number, trouble: trouble, kill: kill, denial: denial)
  }

  /// Nobody hears what the last program still sends.
  package func end() {
    clock.begin(
      state.withLock { state in
        state.lives += 1
        return state.lives
      })
  }

  /// The status with which a refusing service refuses an event, also alone; nil for one that it takes.
  package func refusal(_ event: Int) -> Int? {
    switch SplitMix64.mix(seed &* 41 &+ UInt64(event)) % 23 {
    case 0: 400
    case 1: 413
    default: nil
    }
  }

  /// So many events of a request are too much for a refusing service.
  private var tooMany: Int { 2 + Int(seed % 5) }

  /// Events that a troubled service refuses for what they are.
  package func isBad(_ event: Int) -> Bool { SplitMix64.mix(seed &* 31 &+ UInt64(event)) % 97 == 0 }

  /// How a hostile service fails at an event; nil for one that it takes.
  package func poison(_ event: Int) -> Poison? {
    let number = SplitMix64.mix(seed &* 37 &+ UInt64(event))
    return number % 17 == 0 ? Poison.allCases[Int(number / 17 % UInt64(Poison.allCases.count))] : nil
  }

  private struct Life: Destination {
    let form = 0
    let service: SimulatedService
    let number: Int
    let trouble: Int
    let kill: (request: Int, losing: LossyDisk.Loss)?
    let denial: (request: Int, status: Int)?

    var traits: DeliveryTraits { service.traits }

    func send(_ body: [UInt8], group: Int) -> SendOutcome { service.read(service.send(body, self), body) }

    func abort() {}
  }

  private func send(_ body: [UInt8], _ life: Life) -> HTTPOutcome {
    clock.pass(life.number)
    let body = String(decoding: body, as: UTF8.self)
    let events = events(body)
    return state.withLock { state in
      // All lanes stop at once: nobody else is served meanwhile.
      if let kill = life.kill, state.lives == life.number, state.requests >= kill.request {
        disk.cut(losing: kill.losing)
      }
      guard state.lives == life.number, !disk.isCut else { return .notSent(HTTPFault(.connect)) }
      state.allTries += 1
      state.takeLate(before: state.allTries)
      let count = state.tries[events, default: 0]
      state.tries[events] = count + 1
      var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(events.first ?? 0) &* 8191 &+ UInt64(count))
      let draw = Int.random(in: 0..<1000, using: &random)
      let fault = draw < life.trouble ? Int.random(in: 0..<10, using: &random) : -1
      if fault == 0 { return .notSent(HTTPFault(.connect)) }
      state.requests += 1
      switch temper {
      case .troubled: return answer(events, fault, hasOutages: life.trouble > 0, &state)
      case .hostile(let outage, let words):
        if let outage, life.trouble > 0, isOut { return outage.answer(words(body)) }
        return answer(events, fault, words(body), &state)
      case .refusing(let words):
        if let denial = life.denial, state.requests > denial.request {
          state.denials += 1
          return .status(denial.status, words(body))
        }
        return answer(refusing: events, fault, words(body), &state)
      }
    }
  }

  /// A quarter of each simulated ten minutes the service is out.
  private var isOut: Bool { clock.uptime.count / 150_000 % 4 == Int64(seed % 4) }

  private func answer(_ events: [Int], _ fault: Int, hasOutages: Bool, _ state: inout State) -> HTTPOutcome {
    if hasOutages, isOut { return .status(503) }
    switch fault {
    case 1: return .status(500)
    case 2: return .status(503)
    case 3: return .status(429, retryAfter: "20")
    case 4, 5: return .noAnswer(HTTPFault(.cut))
    case 6, 7, 8:
      if !events.contains(where: isBad) { state.take(events) }
      return .noAnswer(HTTPFault(.cut))
    case 9:
      if !events.contains(where: isBad) { state.late.append((state.allTries + 3, events)) }
      return .noAnswer(HTTPFault(.cut))
    default:
      if events.contains(where: isBad) { return .status(400, "no such schema") }
      state.take(events)
      return .status(200)
    }
  }

  private func answer(refusing events: [Int], _ fault: Int, _ words: String, _ state: inout State) -> HTTPOutcome {
    if events.count >= tooMany { return .status(413, words) }
    if let status = events.lazy.compactMap(refusal).first { return .status(status, words) }
    // Who is dropped again and again is to blame.
    let isNew = state.seen.isDisjoint(with: events)
    state.seen.formUnion(events)
    switch isNew ? fault : -1 {
    case 1: return .status(429, retryAfter: "20")
    case 2, 3: return .noAnswer(HTTPFault(.cut))
    case 4: state.late.append((state.allTries + 3, events))
    default: state.take(events)
    }
    return isNew && 4...6 ~= fault ? .noAnswer(HTTPFault(.cut)) : .status(200)
  }

  private func answer(_ events: [Int], _ fault: Int, _ words: String, _ state: inout State) -> HTTPOutcome {
    let isNew = state.seen.isDisjoint(with: events)
    state.seen.formUnion(events)
    switch events.lazy.compactMap(poison).first {
    case nil: break
    case .dropped: return .noAnswer(HTTPFault(.cut))
    case let poison?: return .status(poison.rawValue, words)
    }
    guard isNew else {
      state.take(events)
      return .status(200)
    }
    switch fault {
    case 1: return .status(500, words)
    case 2: return .status(503, words)
    case 3: return .noAnswer(HTTPFault(.cut))
    case 4:
      state.late.append((state.allTries + 3, events))
      return .noAnswer(HTTPFault(.cut))
    default: state.take(events)
    }
    switch fault {
    case 5: return .noAnswer(HTTPFault(.cut))
    case 6: return .status(502, words)
    case 7...9:
      // An event that is refused alone is given up.
      guard fault < 9 || events.count > 1 else { return .status(200) }
      state.denied.formUnion(events)
      return fault == 7 ? .status(503, words) : fault == 8 ? .status(429, retryAfter: "20") : .status(400, words)
    default: return .status(200)
    }
  }
}

extension SimulatedService.Outage {
  fileprivate func answer(_ words: String) -> HTTPOutcome {
    switch self {
    case .unavailable: .status(503, words)
    case .throttled: .status(503, words, retryAfter: "20")
    case .dropped: .noAnswer(HTTPFault(.cut))
    }
  }
}

extension HTTPOutcome {
  fileprivate static func status(_ status: Int, _ words: String = "", retryAfter: String? = nil) -> HTTPOutcome {
    .answer(HTTPAnswer(status: status, fields: retryAfter.map { ["retry-after": $0] } ?? [:], body: Array(words.utf8)))
  }
}

extension SendOutcome {
  /// What docs/guarantees.md makes of an answer, for deliveries without a platform.
  package init(simulated outcome: HTTPOutcome) {
    switch outcome {
    case .notSent(let fault): self = .notSent(CallFault("\(fault)", blamesRequest: fault.mayBeTheRequest))
    case .noAnswer(let fault): self = .unknown(CallFault("\(fault)", blamesRequest: fault.mayBeTheRequest))
    case .answer(let answer):
      let isTemporary = answer.status == 503
      let wait = answer.retryAfter.flatMap { Int64($0) }.map { Milliseconds($0 * 1000) }
      let fault = CallFault(
        "status \(answer.status)", retryAfter: wait, isThrottle: answer.status == 429, isTemporary: isTemporary,
        blamesRequest: answer.status >= 500 && wait == nil)
      switch answer.status {
      case 200..<300: self = .acknowledged
      case 429, 503: self = .refused(fault)
      case 500...: self = .unknown(fault)
      default: self = .rejected("status \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
      }
    }
  }
}
