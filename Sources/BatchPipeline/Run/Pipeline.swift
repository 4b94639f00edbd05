import BatchConfiguration
import BatchDelivery
package import BatchFoundation
import BatchHTTP
package import BatchIngest
import BatchPlatform
package import BatchReport
import BatchStore
import DeltaDNADecisions
import DeltaDNAEvents
import DeltaDNAPlatform
import EngageAPI
import EngageDestination
package import EngageIdentity
import EngagePlatform
import FoundationEssentials
import Glibc

/// How a run went, and how it ends for whoever started it.
package struct RunOutcome: Sendable {
  package var report: RunReport
  package var exit: RunExit
  /// Where the report was written; nil if there is none.
  package var reportFolder: String?
  /// `--explain`; nil if no device was to be explained.
  package var explanation: DeviceExplanation?
  /// What a dry run found about the inputs.
  package var findings = Findings()
  /// What the platform's deciders counted.
  var figures: [String: Int] = [:]
  /// What Engage of deltaDNA was asked.
  var decisions = DecisionReport()

  /// Notes what ended the run, or an output that could not be written: what was done stays done, and the run says so with its
  /// figures.
  package mutating func fail(_ error: any Error) {
    report.failure = report.failure.map { "\($0)\n\(error)" } ?? "\(error)"
    if exit == .done { exit = RunFailure.exit(of: error) }
    report.exit = exit
  }
}

/// Whom a run tells what it is doing.
package protocol RunMonitor: Sendable {
  /// A line for people.
  func note(_ text: String)
  /// Called now and then from several threads; throw to stop the run.
  func progress(_ progress: IngestProgress, of total: UInt64)
  /// Called now and then while events are sent.
  func delivered(_ events: Int)
}

/// The stages of a run in their order:
///
///     job + configuration -> records -> timelines per device -> events -> store -> chunks -> delivery
///                                             |                              ^
///                                             +-> identity checks -> merges -+        every stage -> report
package struct Pipeline: Sendable {
  let request: RunRequest
  let monitor: any RunMonitor
  let interruption: Interruption

  package init(_ request: RunRequest, monitor: any RunMonitor, interruption: Interruption = Interruption()) {
    self.request = request
    self.monitor = monitor
    self.interruption = interruption
  }

  package func run() throws -> RunOutcome {
    let clock = ContinuousClock()
    let started = clock.now
    announce()
    var outcome = RunOutcome(report: RunReport(request), exit: .done)
    if request.isDryRun { try dryRun(&outcome) } else { try realRun(&outcome) }
    outcome.report.summary.durationSeconds = started.duration(to: clock.now).seconds
    if !outcome.report.summary.records.isBalanced { throw UnbalancedRecordsError() }
    outcome.report.exit = outcome.exit
    if let folder = request.job.reports {
      do {
        outcome.reportFolder = try ReportFolder.write(outcome.report, below: folder)
      } catch let error as ReportError {
        outcome.fail(error)
      }
    }
    return outcome
  }

  // MARK: - Runs

  /// Reads and decides, and leaves no trace but its report and what it prints.
  private func dryRun(_ outcome: inout RunOutcome) throws {
    let store = try Self.existingStore(request.storePath, request.storeFormat)
    try store?.check(against: request.storeDestination, jobFile: request.job.file)
    if let store { try refuseBackwardRun(store) }
    let findings = request.findingsOut.map { _ in OrderedLines() }
    let spool = try request.eventsOut.map { _ in try EventSpool(folder: ingestOptions.temporaryFolder) }
    let lines = QuarantinedLines(atMost: max(request.findingLimit, QuarantinedLines.shownWithoutStore))
    let files = try inputs()
    var sink = DryRunSink(earlier: try EarlierRuns(store), events: spool, quarantined: lines)
    let rehearsal = try request.planOut.map { _ in try store?.rehearsalCopy() ?? EventStore.temporary() }
    if let rehearsal {
      let run = try rehearsal.beginRun(
        job: request.job.name, configurationDigest: "", started: request.now, asOf: request.asOf)
      sink.identities = DryRunSink.Rehearsal(store: rehearsal, run: run)
    }
    let options = try decisionOptions(findings)
    let stage = DecisionStage(files: files, options: options, sink: sink)
    let local = try outcome.timed(.local) { _ in try stage.run { try progress($0, files) } }
    let first = lines.first
    outcome.findings = Findings(local, files, first, options.vocabulary, limit: request.findingLimit)
    if let rehearsal, let path = request.planOut {
      try outcome.timed(.identity) { _ in try writePlan(to: path, rehearsal, files) }
    }
    // Without a store there is no key to keep; hashes of one dry run agree among themselves.
    let key = try store?.reportKey() ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    outcome.report.add(
      local, files, Array(first.prefix(QuarantinedLines.shownWithoutStore)),
      PersonalData(outcome.report.personalData, key: key))
    add(local, to: &outcome)
    try write(findings, &outcome)
    outcome.report.summary.identity.checks = local.tally.figures["identityChecks", default: 0]
    outcome.report.summary.store = try store?.statusCountsByName() ?? [:]
    outcome.explanation = try explanation(local, files, store)
    outcome.exit = exit(after: local)
    if let spool {
      // A run would also send what an earlier one left (reference decisions 32).
      let backlog = request.skipsUpload ? [] : try store?.sequences([.waiting]) ?? []
      try writeEvents(spool.sequences() + backlog, &outcome)
    }
  }

  /// What the configuration alone shows of events that will not be sent.
  private func announce() {
    guard request.job.destination == .engage, !request.job.identity, !request.skipsInputs else { return }
    monitor.note(
      "Identity: 'identity' is not true, so the session events (12, 13, 14) of a device wait as HOLD until a record names its mobile user id"
    )
  }

  private func realRun(_ outcome: inout RunOutcome) throws {
    // What cannot be right is found before anything is created.
    let service = request.skipsUpload ? nil : try RunService(request)
    let findings = request.findingsOut.map { _ in OrderedLines() }
    let options = try decisionOptions(findings)
    let files = try request.skipsInputs ? InputFiles.none : inputs()
    let proposal = try readPlan(files)
    try OutputFolder.make(for: request.storePath)
    let store = try EventStore.open(request.storePath, format: request.storeFormat)
    try store.check(against: request.storeDestination, jobFile: request.job.file)
    try refuseBackwardRun(store)
    try store.claim(for: request.storeDestination, jobFile: request.job.file)
    let run = try beginRun(in: store)
    var isWhole = true
    do {
      try work(store, run, service, files, options, proposal, &outcome)
      try write(findings, &outcome)
    } catch {
      // What is kept so far stays; the report says how far the run came, and why no further.
      outcome.fail(error)
      isWhole = false
    }
    outcome.report.summary.store = try store.statusCountsByName()
    outcome.report.unsent = try store.unsentEvents()
    outcome.report.stoppedPlans = try store.openPlans().count { $0.state == .conflict || $0.state == .held }
    try end(run, in: store, outcome, isWhole: isWhole)
    try store.close()
  }

  /// Everything of a run that leaves something behind.
  private func work(
    _ store: EventStore, _ run: RunID, _ service: RunService?, _ files: InputFiles, _ options: DecisionStage.Options,
    _ proposal: IdentityProposal?, _ outcome: inout RunOutcome
  ) throws {
    if !request.skipsInputs {
      let lines = QuarantinedLines(atMost: QuarantinedLines.shown)
      let stage = DecisionStage(
        files: files, options: options, sink: try StoreSink(store: store, run: run, quarantined: lines))
      let local = try outcome.timed(.local) { _ in try stage.run { try progress($0, files) } }
      outcome.report.add(
        local, files, lines.first, PersonalData(outcome.report.personalData, key: try store.reportKey()))
      outcome.explanation = try explanation(local, files, store)
      outcome.exit = exit(after: local)
      add(local, to: &outcome)
      if let note = lateNote(local.lateRecords) {
        outcome.report.notes.append(note)
        monitor.note("Late: \(note)")
      }
      let settled = try settleReplacedLines(files, store, run)
      if settled > 0 {
        let note = "\(settled) lines that waited in quarantine were replaced in their files and wait no more"
        outcome.report.notes.append(note)
        monitor.note("Quarantine: \(note)")
      }
      outcome.report.quarantineWaits = try !store.quarantineCounts().isEmpty
    }
    // Input that was refused is kept, but nothing of it is sent.
    if let window = request.window { try store.expire(outOf: window) }
    if let service, outcome.exit == .done {
      switch service {
      case .engage(let service): try connect(service, store, run, proposal, &outcome)
      case .game(let service): try connect(service, store, run, &outcome)
      }
    }
    try writeEvents(
      store.sequences(request.skipsInputs ? [.posted(in: run)] : [.stored(by: run), .posted(in: run)]), &outcome)
  }

  /// Identities first, so that events carry what is found out; then delivery.
  private func connect(
    _ service: EngageService, _ store: EventStore, _ run: RunID, _ proposal: IdentityProposal?,
    _ outcome: inout RunOutcome
  ) throws {
    if request.job.identity {
      monitor.note("Identity: reconciling with \(service.address.origin)")
      let earlier = try store.openPlans().map(\.id)
      let result = try outcome.timed(.identity) { _ in
        try withReconciler(service, store, run) { reconciler in
          try proposal.map { try reconciler.reconcile($0, inputs: $0.inputs) } ?? reconciler.reconcile()
        }
      }
      outcome.report.merges = try merges(store, run, earlier, outcome.report.personalData)
      outcome.report.summary.identity = RunSummary.Identity(result.figures)
      if let failure = result.failure {
        outcome.report.notes.append("identity: \(failure)")
        outcome.report.failure = "identities are unfinished: \(failure)"
        monitor.note("Identity: \(failure); what is unfinished goes on with the next run")
        outcome.exit = failure.exit
        if failure.exit == .credentialsRefused {
          // No later call can do better.
          let counts = try store.statusCounts()
          outcome.report.summary.upload.eventsPending = (counts[.notPosted] ?? 0) + (counts[.expired] ?? 0)
          outcome.report.summary.upload.eventsUnknown = counts[.unknown] ?? 0
          outcome.report.ledger.stop = "\(DeliveryStop.credentials)"
          return
        }
      }
    }
    try hold(store, &outcome)
    monitor.note("Delivery: sending to \(service.address.origin)")
    let destination = EngageDestination(
      service, sendsContactID: request.settings.recipient.sendsContactIdInHeader)
    let delivery = Delivery(store: store, destination: destination, settings: DeliverySettings(request.settings))
    let report = try outcome.timed(.delivery) { _ in
      try interruption.during(
        {
          try delivery.run(
            run, progress: { monitor.delivered($0) }, trouble: { monitor.note("Delivery: \($0.description)") })
        }, end: { delivery.end() })
    }
    outcome.report.summary.upload = RunSummary.Upload(report)
    outcome.report.ledger = UploadLedger(report)
    if let stop = outcome.report.ledger.stop { outcome.report.failure = "sending stopped early: \(stop)" }
    if let signal = interruption.signal {
      outcome.exit = signal == 2 ? .interrupted : .terminated
      return
    }
    if report.exit != .done { outcome.exit = report.exit }
    if report.stop == nil, report.eventsPosted > 0 { try readRejections(destination, store, run, &outcome) }
  }

  /// Events of devices whose identity is unfinished wait, if the configuration says so.
  private func hold(_ store: EventStore, _ outcome: inout RunOutcome) throws {
    let waits = request.job.identity && request.settings.recipient.holdsEventsUntilIdentified
    let held = try store.hold(eventsOf: waits ? store.devicesWithoutIdentity() : [])
    guard held > 0 else { return }
    outcome.report.notes.append("\(held) events wait until the identity of their devices is known")
    monitor.note("Identity: \(held) events wait (Recipient.holdEventsUntilIdentified)")
  }

  /// What the service took and refused later, of this run or an earlier one, goes to quarantine with its words.
  private func readRejections(
    _ destination: EngageDestination, _ store: EventStore, _ run: RunID, _ outcome: inout RunOutcome
  ) throws {
    switch try destination.readRejections(into: store, run: run) {
    case .read(_, let found):
      guard found > 0 else { return }
      outcome.report.summary.upload.eventsFailed += found
      outcome.report.notes.append("\(found) events that the service had taken were refused later; see the quarantine")
    case .unavailable(let reason):
      outcome.report.notes.append("later refusals could not be read: \(reason)")
    }
  }

  // MARK: - Parts

  /// Writes `--events-out`, if it was asked for. A file that cannot be written does not undo what was kept and sent.
  private func writeEvents(_ sequences: [BlockSequence], _ outcome: inout RunOutcome) throws {
    guard let path = request.eventsOut else { return }
    do {
      try outcome.timed(.eventFile) { _ in
        try EventFile.write(sequences, codec: request.storeFormat.codec, within: request.window, to: path)
      }
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  private func inputs() throws -> InputFiles {
    let inputs = request.job.inputs
    let files = try InputFiles.find(
      [.events: inputs.events, .notifications: inputs.notifications, .deepLinks: inputs.deepLinks],
      in: request.job.directory)
    for warning in files.warnings { monitor.note("\(warning)") }
    return files
  }

  var ingestOptions: IngestOptions {
    var options = IngestOptions()
    options.window = TimeWindow(from: request.job.window.from, to: request.job.window.to)
    options.maxLineBytes = request.settings.ingest.maxLineBytes
    options.memoryLimit = request.settings.ingest.memoryLimit
    return options
  }

  func decisionOptions(_ findings: OrderedLines? = nil) throws -> DecisionStage.Options {
    var context = request.context
    context.findings = findings
    let decider = DeciderOptions(limits: request.limits)
    guard let game = request.game else {
      let platform = EngagePlatform()
      return DecisionStage.Options(
        vocabulary: GameRecordsIgnored(in: platform.vocabulary), rules: try platform.rules(for: context),
        asOf: request.asOf, ingest: ingestOptions, decider: decider, explain: request.explain)
    }
    return DecisionStage.Options(
      vocabulary: game.vocabulary, rules: try game.rules(for: context), asOf: request.asOf, ingest: ingestOptions,
      decider: decider, explain: request.explain)
  }

  func progress(_ progress: IngestProgress, _ files: InputFiles) throws {
    try interruption.check()
    monitor.progress(progress, of: files.totalSize)
  }

  private func exit(after local: DecisionResult) -> RunExit {
    guard let limit = request.maxQuarantine, local.quarantined > limit else { return .done }
    return .inputRefused
  }

  private static func existingStore(_ path: String, _ format: StoreFormat) throws -> EventStore? {
    do {
      return try EventStore.openReading(path, format: format)
    } catch StoreError.missing {
      return nil
    }
  }

  static var now: Instant { Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)) }
}

/// The figures of the records do not add up: a fault of this program that must not pass unseen.
package struct UnbalancedRecordsError: Error, CustomStringConvertible {
  package var description: String {
    "internal error: records read are not accepted + duplicates + out of window + quarantined; please report this"
  }
}

extension EventStore {
  func statusCountsByName() throws -> [String: Int] {
    Dictionary(uniqueKeysWithValues: try statusCounts().map { ($0.key.name, $0.value) })
  }
}

extension UploadLedger {
  init(_ report: DeliveryReport) {
    self.init()
    possibleDuplicates = report.eventsInDoubt
    recoveredChunks = report.recoveredChunks
    for (outcome, count) in report.attempts { outcomes[outcome.name] = count }
    stop = report.stop.map { stop in "\(stop)" + (report.stopReason.map { " (\($0))" } ?? "") }
  }
}

extension RunSummary.Upload {
  init(_ report: DeliveryReport) {
    self.init()
    chunks = report.chunks
    eventsPosted = report.eventsPosted
    eventsFailed = report.eventsFailed
    eventsPending = report.eventsPending
    eventsUnknown = report.eventsUnknown
    requests = report.requests
    retries = report.retries
  }
}

extension RunSummary.Identity {
  init(_ figures: IdentityFigures) {
    self.init()
    checks = figures.checks
    created = figures.created
    updated = figures.updated
    merged = figures.merged
    conflicts = figures.conflicts
    decidedByPolicy = figures.decidedByPolicy
    auditRows = figures.auditRows
  }
}

extension RemoteFailure {
  /// How a run ends whose identities could not be finished (reference command-line 4).
  package var exit: RunExit {
    switch self {
    case .stopped(let stop, _): stop.exit
    case .refused: .configuration
    case .uncertain, .absent, .exists, .interrupted: .serviceUnavailable
    }
  }
}

extension Patience {
  static func of(_ settings: Settings, pause: @escaping @Sendable (Milliseconds) -> Void = { rest($0) }) -> Patience {
    Patience(backoff: Backoff(settings), pause: pause)
  }

  /// Holds the thread for that long, or until it is over for another reason, which is looked at ten times a second.
  static func rest(_ span: Milliseconds, unless isOver: () -> Bool = { false }) {
    var left = span.count
    while left > 0, !isOver() {
      let part = min(left, 100)
      var time = timespec(tv_sec: 0, tv_nsec: Int(part) * 1_000_000)
      nanosleep(&time, nil)
      left -= part
    }
  }
}
