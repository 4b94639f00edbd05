import BatchDelivery
import BatchFoundation
import BatchStore
import DestinationContract
import Engage
import FoundationEssentials
import Glibc
import RecipientModel
import StoreSupport
import TestSupport
import Testing

/// Runs against services that lie: they answer about somebody else and to earlier questions, fail at single events, take what they say they
/// did not, and say secrets again. What an answer shows is never believed, and what docs/guarantees.md promises of events holds.
@Suite("Simulated runs against hostile services") struct HostileSimulationTests {
  private static let injections: [Injection] = [
    .fault, .transport, .lostReply, .doubled, .late, .stranger, .repeated, .echo,
  ]
  /// What the service's faults say: what it was told, in each way that is known.
  private static let said =
    SimulatedRuns.secrets + [
      Data(SimulatedRuns.secrets[1].utf8).base64EncodedString(),
      SimulatedRuns.secrets[2].utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined(),
      "ada.kolibri@example.org",
    ]

  @Test(
    "Whatever a service says, nobody else is touched, and every event has its end",
    arguments: SimulatedKind.allCases, Simulation.seeds(short: 2))
  func keepsItsPromises(kind: SimulatedKind, seed: UInt64) throws {
    let name = "\(kind.rawValue), \(Simulation.name(of: seed))"
    let history = SimulatedHistory(seed: seed, kind)
    let isKeyed = seed % 2 == 0
    let expected = try SimulatedRuns(history, seed: seed)
    if isKeyed { expected.recipients.change { $0.key = ["Mobile User Id"] } }
    try settle(expected, name)
    let play = try hostile(history, seed)
    if isKeyed { play.recipients.change { $0.key = ["Mobile User Id"] } }
    try finish(play, seed, name)
    try checkPeople(name, play, expected)
    try checkEvents(name, play, expected, seed)
    try checkWords(name, play)
    // Which of several threads asked on which connection is chance.
    if !Simulation.hasSeveralThreads(seed) {
      #expect(play.recipients.callsOnWrong == 0, "\(name): a connection that answered wrongly was asked again")
    }
  }

  /// Runs the job without trouble until another run changes nothing, at the service either: what is refused is asked again in each, and may
  /// find what refused it gone.
  private func settle(_ expected: SimulatedRuns, _ name: String) throws {
    try expected.live(days: 1)
    for _ in 0..<20 {
      let last = try expected.end()
      try expected.live(days: 2)
      if try expected.end() == last { return }
    }
    Issue.record("\(name): the runs without trouble do not come to an end")
  }

  /// Attempts after which a chunk is suspected, where the destination does not say: `Networking.maxNumRetries`.
  private static let mostFailures = 3

  /// Runs the job until nothing is left to do and nothing that was refused goes through any more, or as many runs without trouble changed
  /// nothing as a chunk has attempts: what waits is then for the service to take.
  private func finish(_ play: SimulatedRuns, _ seed: UInt64, _ name: String) throws {
    var random = SplitMix64(seed: seed &* 19)
    var last: [EventStatus: Int]?
    var over: SimulatedRuns.End?
    var unchanged = 0
    for lives in 1..<60 {
      let trouble = lives < 10 ? Trouble(lives: lives, Self.injections, &random) : nil
      if try play.live(days: lives == 1 ? 1 : 2, trouble, random.next()) && lives > 1 {
        let end = try play.end()
        if end.waiting == ["0 checks"] || end == over { return }
        over = end
      } else {
        over = nil
      }
      let statuses = lives > 10 ? try play.end().statuses : nil
      unchanged = statuses != nil && statuses == last ? unchanged + 1 : 0
      if unchanged > Self.mostFailures { return }
      last = statuses
    }
    Issue.record("\(name): the runs do not come to an end")
  }

  @Test(
    "What a service refuses for good or answers wrongly twice has a name, and others go on",
    arguments: [SimulatedKind.engageSDK, .acousticMobile], Simulation.seeds(short: 2))
  func namesWhatItCannotDo(kind: SimulatedKind, seed: UInt64) throws {
    let name = "\(kind.rawValue), \(Simulation.name(of: seed))"
    let history = SimulatedHistory(seed: seed, kind)
    let play = try hostile(history, seed)
    var random = SplitMix64(seed: seed &* 23)
    var named: Set<String> = []
    for lives in 1..<6 {
      let trouble = Trouble(lives: lives, [.refused, .stranger, .stranger, .repeated, .lostReply], gap: 1, &random)
      try play.live(days: lives == 1 ? 1 : 2, trouble, random.next())
      try checkWaiting(name, play, &named)
    }
    // Each run asks again for what was refused, and gets it.
    for _ in 0..<3 { try play.live(days: 2, nil, random.next()) }
    #expect(play.refused == 0, "\(name)")
    try checkWaiting(name, play, &named)
    try checkWords(name, play)
    let end = try play.end()
    checkStrangers(name, end)
    #expect(Set(end.merges).isSubset(of: end.rows.keys), "\(name): a merge has no audit row")
    if end.waiting.count == 1 {
      #expect(end.waiting == ["0 checks"], "\(name)")
      #expect(end.merges == end.rows.keys.sorted(), "\(name): merges and audit rows differ")
      #expect(end.statuses[.hold, default: 0] == 0, "\(name): \(end.statuses)")
    }
  }

  /// Whoever waits has a plan with a reason, and only events of such devices are held.
  ///
  /// - Parameter named: devices with a name when it was settled last whose events wait.
  private func checkWaiting(_ name: String, _ play: SimulatedRuns, _ named: inout Set<String>) throws {
    let store = try play.open()
    defer { #expect(throws: Never.self) { try store.close() } }
    let plans = try store.merges.openPlans()
    for plan in plans where plan.state != .open && plan.state != .undoing {
      #expect(!plan.device.isEmpty && !plan.reason.isEmpty, "\(name): \(plan.state)")
    }
    let refused = try Set(store.identities.awaiting().map(\.device))
    // A run lets events go when all identities were worked on, and one that was cut off may have set a device up without coming so far.
    named = play.exit == nil ? named.union(refused) : refused
    try store.ledger.forEachEvent(status: .hold) { event in
      let device = String(decoding: event.device, as: UTF8.self)
      #expect(named.contains(device), "\(name): \(device) is held without a name")
      return true
    }
  }

  /// Of a third of the seeds the service is out now and then, in one way or another.
  private static func outage(_ seed: UInt64) -> SimulatedService.Outage? {
    let kinds = SimulatedService.Outage.allCases
    return seed % 3 == 2 ? kinds[Int(seed / 3 % UInt64(kinds.count))] : nil
  }

  private func hostile(_ history: SimulatedHistory, _ seed: UInt64) throws -> SimulatedRuns {
    let play = try SimulatedRuns(
      history, seed: seed,
      .hostile(Self.outage(seed)) { body in
        let quoted = body.contains(SimulatedHistory.word) ? SimulatedHistory.word : ""
        return #"{"message":"\#(Self.said.joined(separator: " ")) \#(quoted)"}"#
      })
    play.recipients.change {
      $0.namedByAdditions = SimulatedHistory.firstRecipient
      $0.echo = Self.said.joined(separator: " ")
    }
    return play
  }

  private func checkStrangers(_ name: String, _ end: SimulatedRuns.End) {
    for (id, columns) in SimulatedHistory.strangers {
      #expect(end.recipients[id] == columns, "\(name): a stranger was written to")
      #expect(end.recipients.values.allSatisfy { !$0.values.contains(id) }, "\(name): somebody went up in a stranger")
    }
  }

  private func checkPeople(_ name: String, _ play: SimulatedRuns, _ expected: SimulatedRuns) throws {
    let (end, wanted) = (try play.end(), try expected.end())
    checkStrangers(name, end)
    #expect(end.recipients == wanted.recipients, "\(name)")
    #expect(end.rows == wanted.rows, "\(name)")
    #expect(end.waiting == wanted.waiting, "\(name)")
    #expect(end.merges == end.rows.keys.sorted(), "\(name): merges and audit rows differ")
    // An event may go before its recipient is known, and with no one's but its device's.
    func pairs(_ runs: SimulatedRuns) -> Set<[String]> {
      Set(runs.sent.withLock { $0 }.filter { !$0.recipient.isEmpty }.map { [$0.device, $0.recipient] })
    }
    // One that waited for the service goes with whom its device became meanwhile, where the undisturbed one went before.
    let others = pairs(play).subtracting(try pairs(expected).union(becoming(in: expected)))
    #expect(others.isEmpty, "\(name): \(others)")
  }

  /// Whom merges made of the devices.
  private func becoming(in runs: SimulatedRuns) throws -> Set<[String]> {
    let store = try runs.open()
    defer { #expect(throws: Never.self) { try store.close() } }
    return try store.runs.all().reduce(into: []) { pairs, run in
      for plan in try store.merges.plans(of: run.id, or: [], limit: .max) where plan.state == .done {
        pairs.insert([plan.device, plan.winner])
      }
    }
  }

  /// What the reason of a last attempt at an event may say: how the service failed at it, or at everything.
  private func words(of poison: SimulatedService.Poison, _ outage: SimulatedService.Outage?) -> [String] {
    let own = poison == .dropped ? "connection lost" : "\(poison.rawValue)"
    return [own] + (outage.map { [$0 == .dropped ? "connection lost" : "503"] } ?? [])
  }

  private func checkEvents(
    _ name: String, _ play: SimulatedRuns, _ expected: SimulatedRuns, _ seed: UInt64
  ) throws {
    let holds = play.history.holds
    let (taken, denied) = (play.events.taken, play.events.denied)
    let outage = Self.outage(seed)
    let inDoubt = try holds ? 0 : play.end().inDoubt
    let count = try expected.end().statuses.values.reduce(0, +)
    let store = try play.open()
    defer { #expect(throws: Never.self) { try store.close() } }
    let events = try SimulatedHistory.events(in: store)
    for (event, number) in events {
      let attempts = try store.ledger.attempts(of: event.chunk)
      let what =
        "\(name): \(event.status), \(event.reason ?? "no reason"), \(play.events.poison(number).map { "\($0)" } ?? "innocent")"
      switch (event.status, play.events.poison(number)) {
      case (.successfullyPosted, nil): #expect(taken[number] != nil, "\(what)")
      case (.failedPost, let poison?):
        #expect(words(of: poison, outage).contains { event.reason?.contains($0) == true }, "\(what)")
      // In an outage the service fails at it as well: as often as a chunk may, or at the whole so often and then at the event alone.
      case (.failedPost, nil) where outage != nil:
        let failures = attempts.filter { [.refused, .unknown].contains($0.outcome) && $0.reason != "crash" }
        let most = play.history.kind.traits.mostAttempts ?? Self.mostFailures
        let own = failures.count { $0.chunk == event.chunk }
        #expect(own >= most || own > 0 && failures.count > most, "\(what)")
      case (.unknown, _) where holds: #expect(attempts.contains { $0.outcome == .unknown }, "\(what)")
      // Nothing shows that it is to blame.
      case (.notPosted, _?): #expect(attempts.last?.reason != nil, "\(what)")
      default: Issue.record("\(what)")
      }
      // What is said about data, in refusing it, is kept as it was said.
      for attempt in attempts where attempt.outcome != .rejected {
        #expect(attempt.reason?.contains(SimulatedHistory.word) != true, "\(what)")
      }
    }
    #expect(events.count == count, "\(name)")
    let twice = taken.filter { $0.value > 1 && !denied.contains($0.key) }
    #expect(twice.count <= inDoubt, "\(name): \(twice.count) came twice, \(inDoubt) are said to")
  }

  private func checkWords(_ name: String, _ play: SimulatedRuns) throws {
    let told = Array(play.words.joined(separator: "\n").utf8)
    for text in Self.said + [SimulatedHistory.word] where Self.hold(told, text) {
      Issue.record("\(name): \(text) is told")
    }
    let folder = play.folder.path + "/store"
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let kept = Array(try Data(contentsOf: URL(filePath: "\(folder)/\(file)")))
      for secret in Self.said where Self.hold(kept, secret) { Issue.record("\(name): \(secret) is in \(file)") }
    }
  }

  private static func hold(_ bytes: [UInt8], _ text: String) -> Bool {
    let wanted = Array(text.utf8)
    return bytes.withUnsafeBytes { all in
      guard var at = all.baseAddress else { return false }
      let end = at + all.count
      while end - at >= wanted.count, let found = memchr(at, Int32(wanted[0]), end - at - wanted.count + 1) {
        if memcmp(found, wanted, wanted.count) == 0 { return true }
        at = UnsafeRawPointer(found) + 1
      }
      return false
    }
  }
}
