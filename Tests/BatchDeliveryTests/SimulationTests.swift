import BatchDelivery
import BatchFoundation
import BatchStore
import BatchWire
import DestinationContract
import FoundationEssentials
import StoreSupport
import TestSupport
import Testing

/// Deliveries from the first run to the last over one real store, on simulated time, against a simulated service and on a simulated disk,
/// with kills and power cuts between any two steps; after each the promises of docs/guarantees.md are checked. `make simulate SEEDS=N`
/// plays many, `SEED=N` one again.
@Suite("Simulated deliveries") struct SimulationTests {
  /// What ends a program.
  private enum End: CaseIterable {
    case itself
    case killAtRequest
    case killAtWrite
    case fullDisk
  }

  @Test("Every event ends in one state, and in the right one", arguments: Simulation.seeds(short: 12))
  func keepsItsPromises(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 1...400, using: &random)
    let onUnknown = Bool.random(using: &random) ? UnknownOutcomePolicy.hold : .resend
    var settings = DeliverySettings.fixture(
      concurrency: Simulation.hasSeveralThreads(seed) ? Int.random(in: 2...4, using: &random) : 1, onUnknown: onUnknown,
      retryBudget: 100_000
    )
    settings.patience.longest = Milliseconds(Int64.random(in: 0...400_000, using: &random))
    let folder = try TemporaryFolder()
    let disk = LossyDisk(folder.path, seed: seed)
    let filled = try FilledStore(events: count, perChunk: Int.random(in: 1...40, using: &random), in: folder)
    try filled.store.close()
    try disk.start()
    let clock = SimulatedClock()
    let service = SimulatedService(seed: seed, clock: clock, disk: disk)
    var inDoubt = 0
    var isOver = false
    var lives = 0
    while !isOver {
      lives += 1
      try #require(lives < 80, "\(Simulation.name(of: seed)): the delivery does not come to an end")
      let end = lives < 8 ? End.allCases[Int.random(in: 0..<4, using: &random)] : .itself
      let loss = LossyDisk.Loss.allCases[Int.random(in: 0..<3, using: &random)]
      let request = Int.random(in: 0..<60, using: &random)
      let write = Int.random(in: 0..<300, using: &random)
      if end == .killAtWrite { disk.cut(at: write, losing: loss) }
      if end == .fullDisk { disk.fill(at: write) }
      // There is no trouble in the last lives, which have to come to an end.
      let destination = service.start(
        trouble: lives < 16 ? 120 : 0, kill: end == .killAtRequest ? (request, loss) : nil)
      defer { service.end() }
      let report = try live(filled.path, disk) { store in
        let run = try store.runs.begin(job: "j", configurationDigest: "", started: clock.now, asOf: clock.now)
        let report = try Delivery(
          ledger: store.ledger, destination: destination, settings: settings, clock: clock, seed: random.next()
        ).run(run)
        try store.runs.finish(run, at: clock.now, counters: "{}")
        return report
      }
      guard let report else { continue }
      inDoubt += report.eventsInDoubt
      #expect(report.upload.requests == service.requests, "\(Simulation.name(of: seed)), life \(lives)")
      #expect(
        report.upload.requests == report.upload.chunks + report.upload.retries,
        "\(Simulation.name(of: seed)), life \(lives)")
      isOver = report.stop == nil && report.upload.eventsPending == 0
    }
    try check(seed, filled, service, count, onUnknown, inDoubt)
  }

  /// - Returns: nil if the program was killed before its report was kept.
  private func live(
    _ path: String, _ disk: LossyDisk, _ body: (EventStore) throws -> DeliveryReport
  ) throws -> DeliveryReport? {
    var report: DeliveryReport?
    do {
      let store = try EventStore.open(path)
      // Without power it cannot be closed in order.
      defer { try? store.close() }
      report = try body(store)
    } catch StoreError.databaseFile(_, "write (disk full)", _) where disk.isFull {
      // The next run has room again.
    } catch {
      guard disk.isCut else { throw error }
    }
    // What was finished before the power went stays finished.
    try disk.start()
    return report
  }

  private func check(
    _ seed: UInt64, _ filled: FilledStore, _ service: SimulatedService, _ count: Int,
    _ onUnknown: UnknownOutcomePolicy, _ inDoubt: Int
  ) throws {
    let store = try EventStore.open(filled.path)
    defer { #expect(throws: Never.self) { try store.close() } }
    let counts = try store.ledger.statusCounts()
    let taken = service.taken
    let bad = (1...count).filter(service.isBad)
    func number(_ status: EventStatus) -> Int { counts[status, default: 0] }
    #expect(counts.values.reduce(0, +) == count, "\(Simulation.name(of: seed)): \(counts)")
    #expect(number(.notPosted) + number(.processing) == 0, "\(Simulation.name(of: seed)): \(counts)")
    #expect(taken.keys.allSatisfy { !service.isBad($0) }, "\(Simulation.name(of: seed))")
    // What is acknowledged was taken, and what was taken is acknowledged, in doubt, or given up after an answer was lost.
    #expect(number(.successfullyPosted) <= taken.count, "\(Simulation.name(of: seed)): \(counts), \(taken.count) taken")
    switch onUnknown {
    case .hold:
      #expect(taken.values.allSatisfy { $0 == 1 }, "\(Simulation.name(of: seed)): an event came twice")
      #expect(taken.count <= number(.successfullyPosted) + number(.unknown), "\(Simulation.name(of: seed)): \(counts)")
    case .resend:
      #expect(number(.unknown) == 0, "\(Simulation.name(of: seed)): \(counts)")
      #expect(number(.successfullyPosted) + number(.failedPost) == count, "\(Simulation.name(of: seed)): \(counts)")
      #expect(bad.count <= number(.failedPost), "\(Simulation.name(of: seed)): \(counts)")
      #expect(
        taken.values.count { $0 > 1 } <= inDoubt, "\(Simulation.name(of: seed)): duplicates that nobody disclosed")
    }
  }
}
