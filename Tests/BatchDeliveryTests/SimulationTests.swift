import BatchDelivery
import BatchFoundation
import BatchStore
import BatchThreads
import DestinationContract
import FoundationEssentials
import StoreSupport
import Synchronization
import TestSupport
import Testing

/// Deliveries from the first run to the last over one real store, on simulated time, against a simulated service and with kills between any two
/// requests; after each the promises of docs/guarantees.md are checked. `make simulate SEEDS=N` plays many, `SEED=N` one again.
@Suite("Simulated deliveries") struct SimulationTests {
  private static let variables = ProcessInfo.processInfo.environment

  private static let seeds: [UInt64] = {
    if let one = variables["ENGAGE_SIMULATE_SEED"].flatMap({ UInt64($0) }) { return [one] }
    guard let count = variables["ENGAGE_SIMULATE_SEEDS"].flatMap({ Int($0) }) else { return Array(1...12) }
    let first = UInt64.random(in: 1...1_000_000_000)
    return (0..<count).map { first + UInt64($0) }
  }()

  @Test("Every event ends in one state, and in the right one", arguments: seeds)
  func keepsItsPromises(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 1...400, using: &random)
    let onUnknown = Bool.random(using: &random) ? DeliverySettings.OnUnknown.hold : .resend
    var settings = DeliverySettings.fixture(
      concurrency: Int.random(in: 1...4, using: &random), onUnknown: onUnknown, retryBudget: 100_000)
    settings.patience = Milliseconds(Int64.random(in: 0...400_000, using: &random))
    let filled = try FilledStore(events: count, perChunk: Int.random(in: 1...40, using: &random))
    try filled.store.close()
    let clock = SimulatedClock()
    let service = SimulatedService(seed: seed, clock: clock)
    var inDoubt = 0
    var undisclosed: Set<Int> = []
    var isOver = false
    var lives = 0
    while !isOver {
      lives += 1
      try #require(lives < 60, "seed \(seed): the delivery does not come to an end")
      let isKilled = lives < 6 && Bool.random(using: &random)
      let snapshot = try FilledStore(events: 1, perChunk: 1)
      try snapshot.store.close()
      service.trouble.withLock { $0 = lives < 12 ? 120 : 0 }
      let (source, target) = (filled.path, snapshot.path)
      let request = Int.random(in: 0..<60, using: &random)
      service.kill.withLock { kill in
        kill = isKilled ? (request, { Files.copyStore(source, target) }) : nil
      }
      service.restart()
      let store = try EventStore.open(filled.path)
      let run = try store.beginRun(job: "j", configurationDigest: "", started: clock.now, asOf: clock.now)
      let report = try Delivery(
        store: store, destination: service, settings: settings, clock: clock, seed: random.next()
      ).run(run)
      try store.close()
      if Files.exists(target + "-killed") {
        Files.restore(target, to: source)
        // What the dead run would have said of lost answers nobody has heard.
        undisclosed.formUnion(service.lost)
        continue
      }
      inDoubt += report.eventsInDoubt
      #expect(report.requests == service.requests, "seed \(seed), life \(lives)")
      #expect(report.requests == report.chunks + report.retries, "seed \(seed), life \(lives)")
      isOver = report.stop == nil && report.eventsPending == 0
    }
    try check(seed, filled, service, count, onUnknown, inDoubt + undisclosed.count)
  }

  private func check(
    _ seed: UInt64, _ filled: FilledStore, _ service: SimulatedService, _ count: Int,
    _ onUnknown: DeliverySettings.OnUnknown, _ inDoubt: Int
  ) throws {
    let store = try EventStore.open(filled.path)
    defer { #expect(throws: Never.self) { try store.close() } }
    let counts = try store.statusCounts()
    let taken = service.taken
    let bad = (1...count).filter(service.isBad)
    func number(_ status: EventStatus) -> Int { counts[status, default: 0] }
    #expect(counts.values.reduce(0, +) == count, "seed \(seed): \(counts)")
    #expect(number(.notPosted) + number(.processing) == 0, "seed \(seed): \(counts)")
    #expect(taken.keys.allSatisfy { !service.isBad($0) }, "seed \(seed)")
    // What is acknowledged was taken, and what was taken is acknowledged, in doubt, or given up after an answer was lost.
    #expect(number(.successfullyPosted) <= taken.count, "seed \(seed): \(counts), \(taken.count) taken")
    switch onUnknown {
    case .hold:
      #expect(taken.values.allSatisfy { $0 == 1 }, "seed \(seed): an event came twice")
      #expect(taken.count <= number(.successfullyPosted) + number(.unknown), "seed \(seed): \(counts)")
    case .resend:
      #expect(number(.unknown) == 0, "seed \(seed): \(counts)")
      #expect(number(.successfullyPosted) + number(.failedPost) == count, "seed \(seed): \(counts)")
      #expect(bad.count <= number(.failedPost), "seed \(seed): \(counts)")
      #expect(taken.values.count { $0 > 1 } <= inDoubt, "seed \(seed): duplicates that nobody disclosed")
    }
  }
}

/// Files of a store as a kill leaves them.
private enum Files {
  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  static func copyStore(_ source: String, _ target: String) {
    for end in ["", "-wal"] { copy(source + end, target + end) }
    #expect(FileManager.default.createFile(atPath: target + "-killed", contents: nil))
  }

  static func restore(_ source: String, to target: String) {
    for end in ["", "-wal"] { copy(source + end, target + end) }
    // It belongs to the files that the run after the kill wrote, which never were.
    guard exists(target + "-shm") else { return }
    #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: target + "-shm") }
  }

  private static func copy(_ source: String, _ target: String) {
    #expect(throws: Never.self) {
      let bytes = exists(source) ? try Data(contentsOf: URL(filePath: source)) : Data()
      try bytes.write(to: URL(filePath: target))
    }
  }
}
