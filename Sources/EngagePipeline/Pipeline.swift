import EngageConfiguration
package import EngageIngest
import EngageModel
package import EngageReport
import EngageRules
import EngageStore

/// How a run went: its figures, and how it ends for whoever started it.
package struct RunOutcome: Sendable {
  package var summary: RunSummary
  package var exit: RunExit
  /// What a person should know, in the order in which it happened.
  package var notes: [String] = []
  package var explanation: [String] = []
}

/// The stages of a run in their order:
///
///     job + configuration -> records -> timelines per device -> events -> store -> chunks -> delivery
///                                             |                              ^
///                                             +-> identity checks -> merges -+        every stage -> report
package struct Pipeline: Sendable {
  let request: RunRequest
  let monitor: any RunMonitor

  package init(_ request: RunRequest, monitor: any RunMonitor) {
    self.request = request
    self.monitor = monitor
  }

  package func run() throws -> RunOutcome {
    let clock = ContinuousClock()
    let started = clock.now
    var outcome = try request.isDryRun ? dryRun() : realRun()
    let spent = started.duration(to: clock.now)
    outcome.summary.durationSeconds = Double(spent.components.seconds) + Double(spent.components.attoseconds) / 1e18
    return outcome
  }

  // MARK: - Runs

  /// Reads and decides, and leaves no trace but what it prints.
  private func dryRun() throws -> RunOutcome {
    let store = try Self.existingStore(request.storePath)
    let spool = try request.eventsOut.map { _ in try EventSpool(folder: options().temporaryFolder) }
    let sink = DryRunSink(store: store, events: spool, quarantined: QuarantineSample())
    let files = try inputs()
    let local = try LocalStage(files: files, options: localOptions(), sink: sink).run(progress: monitor.progress)
    if let path = request.eventsOut, let spool { try EventFile.write(spool.sequences(), to: path) }
    var outcome = outcome(of: local, files)
    outcome.summary.identity.checks = local.tally.checks
    outcome.summary.store = try store?.statusCountsByName() ?? [:]
    return outcome
  }

  private func realRun() throws -> RunOutcome {
    let store = try EventStore.open(request.storePath)
    let run = try store.beginRun(
      job: request.job.name, configurationDigest: "", started: request.now, asOf: request.asOf)
    let files = try inputs()
    let local = try LocalStage(files: files, options: localOptions(), sink: StoreSink(store: store, run: run))
      .run(progress: monitor.progress)
    var outcome = outcome(of: local, files)
    if let path = request.eventsOut { try EventFile.write(store.sequences([.stored(by: run)]), to: path) }
    outcome.summary.store = try store.statusCountsByName()
    try store.finish(run, at: request.now, counters: outcome.summary.json)
    try store.close()
    return outcome
  }

  // MARK: - Parts

  private func inputs() throws -> InputFiles {
    let inputs = request.job.inputs
    let files = try InputFiles.find(
      [.events: inputs.events, .notifications: inputs.notifications, .deepLinks: inputs.deepLinks],
      in: request.job.directory)
    for warning in files.warnings { monitor.note("\(warning)") }
    return files
  }

  private func options() -> IngestOptions {
    var options = IngestOptions()
    options.window = TimeWindow(from: request.job.window.from, to: request.job.window.to)
    options.maxLineBytes = request.settings.ingest.maxLineBytes
    options.memoryLimit = request.settings.ingest.memoryLimit
    return options
  }

  private func localOptions() throws -> LocalStage.Options {
    let settings = request.settings
    var limits = BlockLimits()
    limits.maxEvents = settings.upload.maxEventsPerRequest
    limits.maxBodyBytes = settings.upload.maxBytesPerRequest
    let names = Arena()
    return LocalStage.Options(
      rules: RuleSettings(
        settings, identity: request.job.identity, lookups: try lookups(), in: names),
      names: names, links: try DeepLinkRouter(request), asOf: request.asOf, limits: limits, ingest: options(),
      explain: request.explain)
  }

  private func lookups() throws -> [LookupTablePlugin] {
    try request.settings.augmentation.lookupTables.map { table in
      LookupTablePlugin(key: table.keyAttribute, rows: try table.rows(shownFrom: request.job.directory))
    }
  }

  private func outcome(of local: LocalResult, _ files: InputFiles) -> RunOutcome {
    var summary = RunSummary()
    let counts = local.ingest.counts
    summary.records.read = counts.read
    summary.records.accepted = counts.accepted
    summary.records.duplicates = counts.duplicates
    summary.records.outOfWindow = counts.outOfWindow
    summary.records.quarantined = counts.quarantined
    summary.quarantineReasons = counts.reasons
    summary.eventsByType = local.tally.eventsByCode
    summary.sessionsStarted = local.tally.counts.sessionsStarted
    summary.sessionsEnded = local.tally.counts.sessionsEnded
    summary.campaignsSet = local.tally.counts.campaignsSet
    summary.campaignsExpired = local.tally.counts.campaignsExpired
    var outcome = RunOutcome(summary: summary, exit: .done)
    if let limit = request.maxQuarantine, counts.quarantined > limit { outcome.exit = .inputRefused }
    outcome.explanation = local.tally.explanation.flatMap { $0.lines(files) }
    return outcome
  }

  private static func existingStore(_ path: String) throws -> EventStore? {
    do {
      return try EventStore.openReading(path)
    } catch StoreError.missing {
      return nil
    }
  }
}

/// Whom a run tells what it is doing.
package protocol RunMonitor: Sendable {
  /// A line for people.
  func note(_ text: String)
  /// Called now and then from several threads; throw to stop the run.
  func progress(_ progress: IngestProgress) throws
}

extension EventStore {
  func statusCountsByName() throws -> [String: Int] {
    Dictionary(uniqueKeysWithValues: try statusCounts().map { ($0.key.name, $0.value) })
  }
}

extension DeepLinkRouter {
  /// - Throws: ``RouteFileError`` with all faults of the job's route file.
  init(_ request: RunRequest) throws {
    var options = LinkOptions()
    options.ownDomains = request.settings.deepLinks.universalLinkDomains
    options.capturesTracking = request.settings.deepLinks.capturesTracking
    options.routeOrder = request.settings.deepLinks.routeOrder == .file ? .file : .literalFirst
    let routes = try request.job.deepLinkRoutes.map { path in
      try RouteFile.read(InputBytes.read(path), name: path)
    }
    self.init(routes: routes, options: options)
  }
}

extension Explanation.Step {
  func lines(_ files: InputFiles) -> [String] {
    let place =
      timestamp == nil
      ? "end of input" : "\(files.files[Int(position.file)].path):\(position.line): \(record)"
    var lines = ["\(place)\(timestamp.map { " at \($0.rfc3339)" } ?? "")", "  before: \(before)"]
    lines += notes.map { "  - \($0)" }
    lines += events.map { "  event \($0)" }
    lines.append("  after:  \(after)")
    return lines
  }
}
