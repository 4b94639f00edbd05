import BatchFoundation
import BatchReport
import BatchStore
import Engage
import RecipientModel
import StoreSupport
import TestSupport
import Testing

/// Identities from the first run to the last over one real store on a simulated disk, against a simulated service, with lost, late and
/// doubled calls, lost answers, answers about somebody else, kills and power cuts between any two steps. `make simulate SEEDS=N` plays many, `SEED=N` one again.
@Suite("Simulated identities") struct IdentitySimulationTests {
  @Test(
    "Whatever fails, and whenever the power goes, all ends as it does undisturbed",
    arguments: Simulation.seeds(short: 8))
  func endsAlike(seed: UInt64) throws {
    let export = Export(seed: seed)
    let expected = try export.outcome(lanes: 1, delays: 0, kills: [])
    var random = SplitMix64(seed: seed &* 31)
    let folder = try TemporaryFolder()
    let path = folder.path + "/store.sqlite"
    let service = ModelService(export.recipients)
    let settings = try export.settings(
      lanes: Simulation.hasSeveralThreads(seed) ? Int.random(in: 2...4, using: &random) : 1)
    let disk = LossyDisk(folder.path, seed: random.next())
    let first = try Bench(settings: settings, service: service, store: .open(path, format: .engage))
    try export.fill(first)
    try first.store.close()
    try disk.start()
    // An added recipient whose answer was lost is found again; nobody hears what a dead program asks.
    service.change {
      $0.addsOnlyUnknown = true
      $0.fails = { _ in disk.isCut }
    }
    var isOver = false
    var lives = 0
    while !isOver {
      lives += 1
      try #require(lives < 40, "\(Simulation.name(of: seed)): the work does not come to an end")
      if lives < 9, Int.random(in: 0..<4, using: &random) > 0 {
        let loss = LossyDisk.Loss.allCases[Int.random(in: 0..<3, using: &random)]
        let write = Int.random(in: 0..<250, using: &random)
        if Bool.random(using: &random) { disk.cut(at: write, losing: loss) } else { disk.fill(at: write) }
      }
      service.restart(Self.faults(&random))
      isOver = try live(path, disk, service, settings)
    }
    let last = try Bench(settings: settings, service: service, store: .open(path, format: .engage))
    let outcome = try export.outcome(last)
    #expect(outcome.recipients == expected.recipients, "\(Simulation.name(of: seed))")
    #expect(outcome.rows == expected.rows, "\(Simulation.name(of: seed))")
    #expect(outcome.devices == expected.devices, "\(Simulation.name(of: seed))")
    #expect(outcome.merges == expected.merges, "\(Simulation.name(of: seed))")
    #expect(outcome.merges == outcome.rows.keys.sorted(), "\(Simulation.name(of: seed)): merges and audit rows differ")
    #expect(outcome.waiting == expected.waiting, "\(Simulation.name(of: seed))")
    try last.store.close()
  }

  /// One call in twelve goes wrong. No question is answered wrongly twice: that holds one device, and lets others overtake it.
  private static func faults(_ random: inout SplitMix64) -> [Int: Injection] {
    var faults: [Int: Injection] = [:]
    var nextStranger = 1
    for call in 1...600 where Int.random(in: 0..<12, using: &random) == 0 {
      let fault: Injection =
        [.fault, .transport, .lostReply, .doubled, .late, .stranger][Int.random(in: 0..<6, using: &random)]
      if fault == .stranger {
        guard call >= nextStranger else { continue }
        nextStranger = call + 32
      }
      faults[call] = fault
    }
    return faults
  }

  /// - Returns: whether the program lived, and finished everything.
  private func live(
    _ path: String, _ disk: LossyDisk, _ service: ModelService, _ settings: IdentitySettings
  ) throws -> Bool {
    var isFinished = false
    do {
      let store = try EventStore.open(path, format: .engage)
      // Without power it cannot be closed in order.
      defer { try? store.close() }
      var bench = try Bench(settings: settings, service: service, store: store)
      bench.tries = 20
      // What was answered wrongly twice is asked again by the next run.
      let result = try bench.reconcile()
      isFinished = result.failure == nil && result.figures.refused == 0
    } catch StoreError.databaseFile(_, "write (disk full)", _) where disk.isFull {
      // The next run has room again.
    } catch {
      guard disk.isCut else { throw error }
    }
    isFinished = isFinished && !disk.isCut
    try disk.start()
    return isFinished
  }
}
