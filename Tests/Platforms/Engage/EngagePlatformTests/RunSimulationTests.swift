import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchReport
import BatchStore
import DestinationContract
import EngageIdentity
import FoundationEssentials
import RecipientModel
import StoreSupport
import TestSupport
import Testing

@testable import BatchPipeline
@testable import EngagePlatform

/// Runs from records to requests, of one job on two days, until everything is done: on simulated time, against a simulated service, network
/// and disk, with faults, outages, kills and power cuts between any two steps. `make simulate SEEDS=N` plays many, `SEED=N` one again.
@Suite("Simulated runs") struct RunSimulationTests {
  @Test("From records to requests every promise is kept", arguments: Simulation.seeds(short: 6))
  func keepsItsPromises(seed: UInt64) throws {
    let history = SimulatedHistory(seed: seed)
    let expected = try Play(history, seed: seed)
    try expected.live(days: 1)
    try expected.live(days: 2)
    try check(seed, try play(history, seed), expected)
  }

  /// Where there is one thread for each thing.
  @Test("A seed plays the same way each time", arguments: [1, 2, 3, 5, 6, 7, 9, 10, 11, 13] as [UInt64])
  func repeats(seed: UInt64) throws {
    let history = SimulatedHistory(seed: seed)
    #expect(try play(history, seed).trace == play(history, seed).trace)
  }

  /// Runs the job until nothing is left to do.
  private func play(_ history: SimulatedHistory, _ seed: UInt64) throws -> Play {
    let play = try Play(history, seed: seed)
    var random = SplitMix64(seed: seed &* 17)
    play.recipients.change { $0.addsOnlyUnknown = true }
    var lives = 0
    var isOver = false
    while !isOver {
      lives += 1
      try #require(lives < 60, "\(Simulation.name(of: seed)): the runs do not come to an end")
      // There is no trouble in the last lives, which have to come to an end.
      let trouble = lives < 16 ? Trouble(lives: lives, &random) : nil
      isOver = try play.live(days: lives == 1 ? 1 : 2, trouble, random.next()) && lives > 1
    }
    return play
  }

  private func check(_ seed: UInt64, _ play: Play, _ expected: Play) throws {
    let (end, wanted) = (try play.end(), try expected.end())
    // Every event is in one state, and in the right one.
    func number(_ status: EventStatus) -> Int { end.statuses[status, default: 0] }
    let count = wanted.statuses.values.reduce(0, +)
    #expect(end.statuses.values.reduce(0, +) == count, "\(Simulation.name(of: seed)): \(end.statuses)")
    #expect(number(.notPosted) + number(.processing) == 0, "\(Simulation.name(of: seed)): \(end.statuses)")
    let (taken, known) = (play.events.taken, expected.events.taken)
    #expect(Set(taken.keys).isSubset(of: known.keys), "\(Simulation.name(of: seed))")
    // Nothing that is called acknowledged is missing, and nothing that is in doubt is called certain.
    #expect(
      number(.successfullyPosted) <= taken.count, "\(Simulation.name(of: seed)): \(end.statuses), \(taken.count) taken")
    if play.history.holds {
      #expect(taken.values.allSatisfy { $0 == 1 }, "\(Simulation.name(of: seed)): an event came twice")
      #expect(
        taken.count <= number(.successfullyPosted) + number(.unknown), "\(Simulation.name(of: seed)): \(end.statuses)")
    } else {
      #expect(number(.unknown) == 0, "\(Simulation.name(of: seed)): \(end.statuses)")
      #expect(
        taken.values.count { $0 > 1 } <= end.inDoubt, "\(Simulation.name(of: seed)): duplicates that nobody disclosed")
    }
    // Who is who is what it is without any trouble, and each merge has one row.
    #expect(end.recipients == wanted.recipients, "\(Simulation.name(of: seed))")
    #expect(end.rows == wanted.rows, "\(Simulation.name(of: seed))")
    #expect(end.waiting == wanted.waiting, "\(Simulation.name(of: seed))")
    #expect(end.merges == end.rows.keys.sorted(), "\(Simulation.name(of: seed)): merges and audit rows differ")
  }
}

/// What goes wrong in one life of the program.
private struct Trouble {
  var loss: LossyDisk.Loss
  /// The write at which the power goes, or the disk is full.
  var write: Int?
  var fills: Bool
  /// The request at which the program is killed.
  var request: Int?
  var calls: [Int: Injection] = [:]

  init(lives: Int, _ random: inout SplitMix64) {
    loss = LossyDisk.Loss.allCases[Int.random(in: 0..<3, using: &random)]
    let end = lives < 8 ? Int.random(in: 0..<4, using: &random) : 0
    // Most writes are early or late, whatever the number of records.
    write = end == 1 || end == 2 ? Int.random(in: 0..<250, using: &random) : nil
    fills = end == 2
    request = end == 3 ? Int.random(in: 0..<10, using: &random) : nil
    for call in 1...200 where Int.random(in: 0..<12, using: &random) == 0 {
      calls[call] = [.fault, .transport, .lostReply, .doubled, .late][Int.random(in: 0..<5, using: &random)]
    }
  }
}

/// A job with its files, its store on a lossy disk, and the service.
private final class Play {
  struct End {
    var statuses: [EventStatus: Int]
    var recipients: [String: [String: String]]
    var rows: [String: [String: String]]
    /// Keys of the merges that were made, sorted.
    var merges: [String]
    /// Plans that wait for an operator, sorted, and the number of checks that are not finished.
    var waiting: [String]
    /// What the reports that the store kept of its runs call possibly twice, together.
    var inDoubt: Int
  }

  private static let now = Instant(milliseconds: 1_767_398_400_000)

  let history: SimulatedHistory
  let recipients: ModelService
  let events: SimulatedService
  /// How far each life came: writes, requests, calls about recipients.
  private(set) var trace: [[Int]] = []
  private let seed: UInt64
  private let folder: TestSupport.TemporaryFolder
  private let job: LoadedJob
  private let disk: LossyDisk
  private let clock = SimulatedClock()

  init(_ history: SimulatedHistory, seed: UInt64) throws {
    self.history = history
    self.seed = seed
    folder = try TestSupport.TemporaryFolder(["job.json": history.job])
    job = try ConfigurationLoader(
      environment: [:], currentDirectory: folder.path, destinations: ["engage"], now: Self.now
    ).load(job: "job.json", CommandLineChanges(settings: []))
    try FileManager.default.createDirectory(atPath: folder.path + "/store", withIntermediateDirectories: true)
    disk = LossyDisk(folder.path + "/store", seed: seed)
    recipients = ModelService(history.recipients)
    events = SimulatedService(seed: seed, clock: clock, disk: disk, events: SimulatedHistory.events)
    let disk = disk
    // Nobody hears what a dead program asks.
    recipients.change { $0.fails = { _ in disk.isCut } }
  }

  /// Runs the job once.
  ///
  /// - Returns: whether nothing is left to do.
  @discardableResult
  func live(days: Int, _ trouble: Trouble? = nil, _ pauses: UInt64 = 0) throws -> Bool {
    for day in 0..<days { try folder.write("in/\(day).ndjson", history.days[day]) }
    if let write = trouble?.write {
      if trouble?.fills == true { disk.fill(at: write) } else { disk.cut(at: write, losing: trouble?.loss ?? .nothing) }
    }
    recipients.restart(trouble?.calls ?? [:])
    let destination = events.start(
      trouble: trouble == nil ? 0 : 120, kill: trouble?.request.map { ($0, trouble?.loss ?? .nothing) })
    let service = SimulatedEngage(recipients: recipients, destination: destination)
    var isOver = false
    do {
      let outcome = try run(SimulatedPlatform(service), pauses)
      isOver = [RunExit.done, .protocolRefused].contains(outcome.exit) && outcome.isWhole
      isOver = isOver && outcome.report.summary.upload.eventsPending == 0
      if !disk.isCut, !disk.isFull, outcome.isWhole {
        #expect(outcome.report.summary.upload.requests == events.requests, "\(Simulation.name(of: seed))")
      }
      if !outcome.isWhole, !disk.isCut, !disk.isFull {
        Issue.record("\(Simulation.name(of: seed)): \(outcome.report.failure ?? "")")
      }
    } catch {
      // The next run has power and room again.
      guard disk.isCut || disk.isFull else { throw error }
    }
    events.end()
    isOver = isOver && !disk.isCut && !disk.isFull
    trace.append([disk.operations, events.requests, recipients.calls.count])
    try disk.start()
    return isOver
  }

  private func run(_ platform: SimulatedPlatform, _ pauses: UInt64) throws -> RunOutcome {
    let request = try RunRequest(loaded: job, of: Platforms([platform]), mode: .run, now: Self.now)
    return try Pipeline(request, monitor: Silence(), clock: clock, seed: pauses).run()
  }

  func end() throws -> End {
    let store = try EventStore.open(folder.path + "/store/j.sqlite", format: .engage)
    let plans = try store.merges.plans()
    let end = End(
      statuses: try store.ledger.statusCounts(), recipients: recipients.recipients, rows: recipients.rows,
      merges: plans.filter { $0.state == .done && $0.index(of: .audit) != nil }.map(\.key).sorted(),
      waiting: plans.filter { !$0.state.isEnded }.map { "\($0.device): \($0.reason)" }.sorted()
        + ["\(try store.identities.pendingCheckCount()) checks"],
      inDoubt: try store.runs.all().reduce(0) { count, run in
        guard let report = try store.runs.report(of: run.id) else { return count }
        return try count + StoredReport.report(report).ledger.possibleDuplicates
      })
    try store.close()
    return end
  }
}

private struct Silence: RunMonitor {
  func note(_ text: String) {}
  func progress(_ progress: IngestProgress, of total: UInt64) {}
  func delivered(_ events: Int, of total: Int) {}
}
