import BatchFoundation
import BatchStore
import DestinationContract
import RecipientModel
import StoreSupport
import Testing

/// Runs from records to requests, of one job on two days, until everything is done: on simulated time, against a simulated service, network
/// and disk, with faults, outages, kills and power cuts between any two steps. `make simulate SEEDS=N` plays many, `SEED=N` one again.
@Suite("Simulated runs") struct RunSimulationTests {
  private static let injections: [Injection] = [.fault, .transport, .lostReply, .doubled, .late]

  @Test("From records to requests every promise is kept", arguments: SimulatedKind.allCases, Simulation.seeds(short: 2))
  func keepsItsPromises(kind: SimulatedKind, seed: UInt64) throws {
    let history = SimulatedHistory(seed: seed, kind)
    let expected = try SimulatedRuns(history, seed: seed)
    try expected.live(days: 1)
    try expected.live(days: 2)
    try check("\(kind.rawValue), \(Simulation.name(of: seed))", try play(history, seed), expected)
  }

  /// Where there is one thread for each thing.
  @Test("A seed plays the same way each time", arguments: [1, 2, 3, 5, 6, 7, 9, 10, 11, 13] as [UInt64])
  func repeats(seed: UInt64) throws {
    let history = SimulatedHistory(seed: seed, seed % 5 == 3 ? .unity : .engageSDK)
    #expect(try play(history, seed).trace == play(history, seed).trace)
  }

  /// Runs the job until nothing is left to do.
  private func play(_ history: SimulatedHistory, _ seed: UInt64) throws -> SimulatedRuns {
    let play = try SimulatedRuns(history, seed: seed)
    var random = SplitMix64(seed: seed &* 17)
    var lives = 0
    var isOver = false
    while !isOver {
      lives += 1
      try #require(lives < 60, "\(Simulation.name(of: seed)): the runs do not come to an end")
      // There is no trouble in the last lives, which have to come to an end.
      let trouble = lives < 16 ? Trouble(lives: lives, Self.injections, &random) : nil
      isOver = try play.live(days: lives == 1 ? 1 : 2, trouble, random.next()) && lives > 1
    }
    return play
  }

  private func check(_ name: String, _ play: SimulatedRuns, _ expected: SimulatedRuns) throws {
    let (end, wanted) = (try play.end(), try expected.end())
    // Every event is in one state, and in the right one.
    func number(_ status: EventStatus) -> Int { end.statuses[status, default: 0] }
    let count = wanted.statuses.values.reduce(0, +)
    #expect(end.statuses.values.reduce(0, +) == count, "\(name): \(end.statuses)")
    #expect(number(.notPosted) + number(.processing) == 0, "\(name): \(end.statuses)")
    let (taken, known) = (play.events.taken, expected.events.taken)
    #expect(Set(taken.keys).isSubset(of: known.keys), "\(name)")
    // Nothing that is called acknowledged is missing, and nothing that is in doubt is called certain.
    #expect(number(.successfullyPosted) <= taken.count, "\(name): \(end.statuses), \(taken.count) taken")
    if play.history.holds {
      #expect(taken.values.allSatisfy { $0 == 1 }, "\(name): an event came twice")
      #expect(taken.count <= number(.successfullyPosted) + number(.unknown), "\(name): \(end.statuses)")
    } else {
      #expect(number(.unknown) == 0, "\(name): \(end.statuses)")
      #expect(taken.values.count { $0 > 1 } <= end.inDoubt, "\(name): duplicates that nobody disclosed")
    }
    // Who is who is what it is without any trouble, and each merge has one row.
    #expect(end.recipients == wanted.recipients, "\(name)")
    #expect(end.rows == wanted.rows, "\(name)")
    #expect(end.waiting == wanted.waiting, "\(name)")
    #expect(end.merges == end.rows.keys.sorted(), "\(name): merges and audit rows differ")
  }
}
