import BatchDelivery
import BatchFoundation
import BatchStore
import Glibc
import Synchronization

/// A store in a folder of its own, filled with events of one run.
final class FilledStore {
  let path: String
  let store: EventStore
  let run: RunID
  private let folder: String

  /// - Parameter events: numbered from 1, one a millisecond, of one device; their names are `event <number>`.
  init(events: Int, perChunk: Int) throws {
    var template = Array("/tmp/engage-delivery-XXXXXX".utf8CString)
    mkdtemp(&template)
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    path = folder + "/store.sqlite"
    store = try EventStore.open(path)
    run = try store.beginRun(
      job: "j", configurationDigest: "", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    let arena = Arena()
    let list = (1...events).map { Self.event($0, in: arena) }
    var encoder = EventBlockEncoder(limits: BlockLimits(maxEvents: perChunk, maxBodyBytes: 1_000_000))
    var batch = LocalBatch()
    batch.events = [list.withUnsafeBufferPointer { encoder.encode($0) }]
    try store.commit(batch, run: run)
  }

  deinit {
    // The test may have closed it; a store that does not close leaves files that nobody reads.
    try? store.close()
    for end in ["", "-wal", "-shm", ".lock"] { unlink(path + end) }
    rmdir(folder)
  }

  private static func event(_ number: Int, in arena: Arena) -> Event {
    let values = ["iPhone", "iPhone7,2", "iOS", "8.1", "App", "1.0", "D1", "", "", "4711"]
    let list = arena.allocate(11 * MemoryLayout<Attribute>.stride).bindMemory(to: Attribute.self, capacity: 11)
    for (index, value) in values.enumerated() {
      (list + index).initialize(to: Attribute(CoreAttribute.allCases[index].name, arena.text(value)))
    }
    (list + 10).initialize(to: Attribute("Event Name", arena.text("event \(number)")))
    return Event(
      code: "17", timestamp: Instant(milliseconds: Int64(number)), device: "D1", emission: Int64(number),
      attributes: UnsafeBufferPointer(start: list, count: 11))
  }
}

/// Answers as the test says, in place of a service.
final class ScriptedDestination: Destination {
  private struct State {
    var bodies: [[UInt8]] = []
    var inFlight = 0
    var mostInFlight = 0
    var aborted = false
  }

  private let state = Mutex(State())
  private let answer: @Sendable (_ body: String, _ number: Int) -> SendOutcome
  let form = 0

  /// - Parameter answer: called with each body and how many requests had been sent before.
  init(_ answer: @escaping @Sendable (String, Int) -> SendOutcome) { self.answer = answer }

  func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let number = state.withLock { state in
      state.bodies.append(body)
      state.inFlight += 1
      state.mostInFlight = max(state.mostInFlight, state.inFlight)
      return state.bodies.count - 1
    }
    let outcome = answer(String(decoding: body, as: UTF8.self), number)
    state.withLock { $0.inFlight -= 1 }
    return outcome
  }

  func abort() { state.withLock { $0.aborted = true } }

  var isAborted: Bool { state.withLock { $0.aborted } }
  var mostInFlight: Int { state.withLock { $0.mostInFlight } }
  var bodies: [String] { state.withLock { $0.bodies.map { String(decoding: $0, as: UTF8.self) } } }

  /// The numbers of the events of each request.
  var sent: [[Int]] { bodies.map(eventNumbers) }
}

func eventNumbers(_ body: String) -> [Int] {
  body.split(separator: "\"event ").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
}

/// Time that passes at once when there is nothing else to wait for.
final class HastyClock: DeliveryClock {
  private let time = Atomic<Int64>(0)

  var now: Instant { Instant(milliseconds: 1_767_225_600_000 + uptime.count) }
  var uptime: Milliseconds { Milliseconds(time.load(ordering: .relaxed)) }

  func wait(for signal: DeliverySignal, until limit: Milliseconds) {
    if signal.wait(Milliseconds(20)) { return }
    time.store(max(limit.count, uptime.count), ordering: .relaxed)
  }
}

extension DeliverySettings {
  /// Small enough that a test ends soon.
  static func fixture(
    concurrency: Int = 4, onUnknown: OnUnknown = .resend, retryBudget: Int = 1000
  ) -> DeliverySettings {
    DeliverySettings(
      concurrency: concurrency, limits: BlockLimits(), onUnknown: onUnknown, maxFailures: 3,
      backoff: Backoff(first: Milliseconds(1000), longest: Milliseconds(60_000)), failuresInARow: 8,
      retryBudget: retryBudget)
  }
}
