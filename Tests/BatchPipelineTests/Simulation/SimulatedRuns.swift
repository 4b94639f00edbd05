import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import DestinationContract
import FoundationEssentials
import RecipientModel
import StoreSupport
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Engage

/// What goes wrong in one life of the program.
struct Trouble {
  var loss: LossyDisk.Loss
  /// The write at which the power goes, or the disk is full.
  var write: Int?
  var fills: Bool
  /// The request at which the program is killed.
  var request: Int?
  var calls: [Int: Injection] = [:]
  /// The request from which the service turns everything away, and the status that says so.
  var denial: (request: Int, status: Int)?

  /// - Parameters:
  ///   - injections: what may be done to calls about recipients.
  ///   - gap: calls between two lies. If no question is answered wrongly twice, no device is held and overtaken by others.
  init(lives: Int, _ injections: [Injection], gap: Int = 32, _ random: inout SplitMix64) {
    loss = LossyDisk.Loss.allCases[Int.random(in: 0..<3, using: &random)]
    let end = lives < 8 ? Int.random(in: 0..<4, using: &random) : 0
    // Most writes are early or late, whatever the number of records.
    write = end == 1 || end == 2 ? Int.random(in: 0..<250, using: &random) : nil
    fills = end == 2
    request = end == 3 ? Int.random(in: 0..<10, using: &random) : nil
    var nextLie = 1
    for call in 1...200 where Int.random(in: 0..<12, using: &random) == 0 {
      let injection = injections[Int.random(in: 0..<injections.count, using: &random)]
      if injection == .stranger || injection == .repeated {
        guard call >= nextLie else { continue }
        nextLie = call + gap
      }
      calls[call] = injection
    }
  }
}

/// A job with its files, its store on a lossy disk, and the service.
final class SimulatedRuns {
  struct End: Equatable {
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
  /// What the service says again, which nobody may read.
  static let secrets = ["client-4711", "s3cr&t/of+us", "refresh 0815 token"]

  let history: SimulatedHistory
  let recipients: ModelService
  let events: SimulatedService
  /// What was sent of each event.
  let sent = Guarded(Set<SimulatedHistory.Sent>())
  /// How far each life came: writes, requests, calls about recipients.
  private(set) var trace: [[Int]] = []
  /// All that the runs said, with their reports.
  private(set) var words: [String] = []
  /// What the service refused in the last run for good, or answered wrongly twice.
  private(set) var refused = 0
  /// How the last run ended; nil for one that was killed, or had no room on the disk.
  private(set) var exit: RunExit?
  private let seed: UInt64
  let folder: TestSupport.TemporaryFolder
  private let job: LoadedJob
  private let disk: LossyDisk
  private let clock = SimulatedClock()

  init(_ history: SimulatedHistory, seed: UInt64, _ temper: SimulatedService.Temper = .troubled) throws {
    self.history = history
    self.seed = seed
    folder = try TestSupport.TemporaryFolder(["job.json": history.job])
    let environment = [
      "ENGAGE_BASE_URL": "https://simulated.example.com", "ENGAGE_CLIENT_ID": Self.secrets[0],
      "ENGAGE_SECRET": Self.secrets[1], "ENGAGE_REFRESH_TOKEN": Self.secrets[2],
    ]
    job = try ConfigurationLoader(
      environment: environment, currentDirectory: folder.path, destinations: [history.kind.destination], now: Self.now
    ).load(job: "job.json", CommandLineChanges(settings: []))
    try FileManager.default.createDirectory(atPath: folder.path + "/store", withIntermediateDirectories: true)
    disk = LossyDisk(folder.path + "/store", seed: seed)
    recipients = ModelService(history.recipients)
    let (kind, sent) = (history.kind, sent)
    events = SimulatedService(seed: seed, clock: clock, disk: disk, temper: temper, traits: kind.traits) { body in
      let events = SimulatedHistory.sent(body)
      sent.withLock { $0.formUnion(events) }
      return events.map(\.number)
    } read: {
      kind.outcome($0, to: $1)
    }
    let disk = disk
    recipients.change {
      // Nobody hears what a dead program asks.
      $0.fails = { _ in disk.isCut }
      // An added recipient whose answer was lost is found again.
      $0.addsOnlyUnknown = true
    }
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
      trouble: trouble == nil ? 0 : 120, kill: trouble?.request.map { ($0, trouble?.loss ?? .nothing) },
      denial: trouble?.denial)
    var isOver = false
    exit = nil
    do {
      let outcome = try run(destination, pauses)
      isOver = [RunExit.done, .protocolRefused].contains(outcome.exit) && outcome.isWhole
      isOver = isOver && outcome.report.summary.upload.eventsPending == 0
      if !disk.isCut, !disk.isFull { exit = outcome.exit }
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

  private func run(_ destination: any Destination, _ pauses: UInt64) throws -> RunOutcome {
    let (kind, recipients) = (history.kind, recipients)
    let platform = SimulatedPlatform(platform: kind.platform) { context in
      var engage = kind.isGame ? nil : try EngageConnection(context)
      engage?.recipients = recipients
      return SimulatedConnection(destination: destination, engage: engage)
    }
    let request = try RunRequest(loaded: job, of: Platforms([platform]), mode: .run, now: Self.now)
    let listener = Listener()
    let outcome = try Pipeline(request, monitor: listener, clock: clock, seed: pauses).run()
    words += listener.heard
    refused = outcome.report.summary.identity.refused
    if refused > 0 {
      #expect(outcome.exit != .done, "\(Simulation.name(of: seed))")
      #expect(
        outcome.report.merges.count { $0.state == "refused" && !$0.refusal.isEmpty } > 0, "\(Simulation.name(of: seed))"
      )
    }
    words.append(String(decoding: try StoredReport.bytes(outcome.report), as: UTF8.self))
    return outcome
  }

  func open() throws -> EventStore {
    try EventStore.open(folder.path + "/store/j.sqlite", format: history.kind.platform.storeFormat)
  }

  func end() throws -> End {
    let store = try open()
    let plans = history.kind.isGame ? [] : try store.merges.plans()
    let checks = history.kind.isGame ? 0 : try store.identities.pendingCheckCount()
    let end = End(
      statuses: try store.ledger.statusCounts(), recipients: recipients.recipients, rows: recipients.rows,
      merges: plans.filter { $0.state == .done && $0.index(of: .audit) != nil }.map(\.key).sorted(),
      waiting: plans.filter { !$0.state.isEnded }.map { "\($0.device): \($0.reason)" }.sorted() + ["\(checks) checks"],
      inDoubt: try store.runs.all().reduce(0) { count, run in
        guard let report = try store.runs.report(of: run.id) else { return count }
        return try count + StoredReport.report(report).ledger.possibleDuplicates
      })
    try store.close()
    return end
  }
}

/// Keeps what a run says.
private final class Listener: RunMonitor {
  private let lines = Guarded([String]())

  var heard: [String] { lines.withLock { $0 } }

  func note(_ text: String) { lines.withLock { $0.append(text) } }
  func progress(_ progress: IngestProgress, of total: UInt64) {}
  func delivered(_ events: Int, of total: Int) {}
}
