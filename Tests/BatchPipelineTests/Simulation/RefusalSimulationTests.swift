import BatchFoundation
import BatchStore
import DestinationContract
import RecipientModel
import StoreSupport
import Testing

/// Runs against services that refuse: single events and long ones, requests that are too long, and for a while everything, because of the
/// credentials or the address. Each service has its own meaning of that, and nobody else's events suffer.
@Suite("Simulated runs that are refused") struct RefusalSimulationTests {
  private static let injections: [Injection] = [.fault, .transport, .lostReply, .doubled, .late]
  private static let denials = [401, 403, 404]

  @Test(
    "What is refused is given up alone, and what is turned away is sent later",
    arguments: SimulatedKind.allCases, Simulation.seeds(short: 1))
  func givesUpWhatIsRefused(kind: SimulatedKind, seed: UInt64) throws {
    let name = "\(kind.rawValue), \(Simulation.name(of: seed))"
    let history = SimulatedHistory(seed: seed, kind)
    let expected = try SimulatedRuns(history, seed: seed)
    try expected.live(days: 1)
    try expected.live(days: 2)
    let play = try SimulatedRuns(history, seed: seed, .refusing { _ in "refused" })
    var random = SplitMix64(seed: seed &* 29)
    var lives = 0
    var isOver = false
    while !isOver {
      lives += 1
      try #require(lives < 60, "\(name): the runs do not come to an end")
      var trouble = lives < 10 ? Trouble(lives: lives, Self.injections, &random) : nil
      if let status = Self.denials.randomElement(using: &random), Bool.random(using: &random) {
        trouble?.denial = (Int.random(in: 0..<4, using: &random), status)
      }
      isOver = try play.live(days: lives == 1 ? 1 : 2, trouble, random.next()) && lives > 1
      if let denial = trouble?.denial { checkDenial("\(name), life \(lives)", play, denial.status, seed) }
    }
    try checkEvents(name, play, expected)
    let (end, wanted) = (try play.end(), try expected.end())
    #expect(end.recipients == wanted.recipients, "\(name)")
    #expect(end.rows == wanted.rows, "\(name)")
    #expect(end.waiting == wanted.waiting, "\(name)")
    #expect(end.merges == end.rows.keys.sorted(), "\(name): merges and audit rows differ")
  }

  /// A run that is turned away says why in its exit code, and asks no more than was on its way.
  private func checkDenial(_ name: String, _ play: SimulatedRuns, _ status: Int, _ seed: UInt64) {
    guard play.events.denials > 0 else { return }
    #expect(play.events.denials <= (Simulation.hasSeveralThreads(seed) ? 4 : 1), "\(name): asked on")
    // DeltaDNA's address has the key of the environment.
    let isAddress = status == 404 && play.history.kind != .deltadna
    if let exit = play.exit {
      #expect(exit == (isAddress ? .configuration : .credentialsRefused), "\(name): \(status)")
    }
  }

  private func checkEvents(_ name: String, _ play: SimulatedRuns, _ expected: SimulatedRuns) throws {
    let (holds, taken) = (play.history.holds, play.events.taken)
    let (count, end) = (try expected.end().statuses.values.reduce(0, +), try play.end())
    let store = try play.open()
    defer { #expect(throws: Never.self) { try store.close() } }
    let events = try SimulatedHistory.events(in: store)
    for (event, number) in events {
      let refusal = play.events.refusal(number)
      let what = "\(name): \(event.status), \(event.reason ?? "no reason"), \(refusal.map { "\($0)" } ?? "innocent")"
      switch (event.status, refusal) {
      case (.successfullyPosted, nil): #expect(taken[number] != nil, "\(what)")
      case (.failedPost, let status?): #expect(event.reason?.contains("status \(status)") == true, "\(what)")
      case (.unknown, _) where holds:
        #expect(try store.ledger.attempts(of: event.chunk).contains { $0.outcome == .unknown }, "\(what)")
      default: Issue.record("\(what)")
      }
    }
    #expect(events.count == count, "\(name)")
    #expect(taken.keys.allSatisfy { play.events.refusal($0) == nil }, "\(name)")
    if holds {
      #expect(taken.values.allSatisfy { $0 == 1 }, "\(name): an event came twice")
    } else {
      #expect(taken.values.count { $0 > 1 } <= end.inDoubt, "\(name): duplicates that nobody disclosed")
    }
  }
}
