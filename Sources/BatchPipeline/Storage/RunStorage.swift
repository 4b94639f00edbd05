import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import FoundationEssentials

/// The source of earlier runs' data and the destination of a run's results.
struct RunStorage {
  /// The job's store; nil in a dry run if the job has no store yet.
  let store: EventStore?
  /// The run in the job's store; nil if the run keeps nothing.
  let run: RunID?
  let sink: StoreSink
  /// The known time of the run, up to which inactivity counts; nil if there is none.
  let knownUntil: Instant?
  /// The known time of the store before the run; nil if nothing was known.
  var knownBefore: Instant?
  let quarantined: QuarantinedLines
  /// Events from earlier runs that a dry run would change.
  var changed = Guarded<Set<EventID>>([])
  /// The lines that a replay imports again, and their results.
  var replay: ReplayedLines?

  /// The store with the run in it; nil if nothing is kept.
  var kept: (store: EventStore, run: RunID)? {
    guard let store, let run else { return nil }
    return (store, run)
  }

  /// Returns the files with their numbers in the store; if the run keeps nothing, with the numbers that they would get.
  func numbered(_ files: InputFiles) throws -> InputFiles {
    var files = files
    guard let (store, run) = kept else {
      files.numbers =
        try store?.runs.foreseenNumbers(ofInputs: files.files.map(\.original))
        ?? files.files.indices.map { UInt32($0) + 1 }
      return files
    }
    if let part = files.part {
      files.numbers = part.numbers
      try store.runs.register(inputs: files.files.map(\.original), as: part.numbers, run: run)
      return files
    }
    files.numbers = try store.runs.numbers(ofInputs: files.files.map(\.original), run: run)
    return files
  }

  /// Marks events that the service would not accept now as expired, and expired ones that it would accept as pending
  /// again; does nothing in a dry run.
  func expire(outOf window: DeliveryWindow?) throws {
    if let kept, let window { try kept.store.ledger.expire(outOf: window) }
  }
}

extension Pipeline {
  /// Opens the storage for the mode of the run.
  ///
  /// - Throws: ``CommandError`` for another destination, ``BackwardRunError``, ``StoreError``.
  func openStorage(_ preparation: RunPreparation) throws -> RunStorage {
    switch request.mode {
    case .dryRun: try openToLookAt(preparation)
    case .replay: try openForReplay()
    case .run, .noUpload, .post, .stream: try openToKeep()
    }
  }

  private func openToLookAt(_ preparation: RunPreparation) throws -> RunStorage {
    let store = request.processesAnew ? nil : try Self.existingStore(request.storePath, platform.storeFormat)
    try store?.check(against: request.storeDestination, jobFile: request.job.file)
    if let store {
      try store.refuseCollected()
      try refuseBackwardRun(store)
    }
    let (isLookedAt, isPlanned) = (request.eventsOut != nil || request.processesAnew, request.planOut != nil)
    let lines = QuarantinedLines(
      atMost: max(request.findingLimit, QuarantinedLines.shownWithoutStore), request.vocabulary.dictionary)
    let (results, run) = try temporaryResults(
      in: isPlanned ? planner(preparation.service).planningStore(of: store) : nil)
    let changed = Guarded<Set<EventID>>([])
    let sink = try StoreSink(store: results, run: run, earlier: store, quarantined: lines) { batch in
      let ids = try batch.changes.compactMap { change in
        try change.before.map { event in
          let number = try store?.ledger.number(of: event, change.device) ?? event.emission
          return change.device.withText { EventID(timestamp: event.timestamp, device: $0, emission: number) }
        }
      }
      changed.withLock { $0.formUnion(ids) }
      var kept = LocalBatch()
      kept.changes = batch.changes
      // Results that are not requested are not written.
      if isLookedAt { kept.events = batch.events }
      if isPlanned { kept.rows = batch.rows }
      batch = kept
    }
    let known = try store?.runs.knownUntil()
    return RunStorage(
      store: store, run: nil, sink: sink, knownUntil: request.knownUntil(after: known), knownBefore: known,
      quarantined: lines, changed: changed)
  }

  /// Returns a store for results that are not kept, with a run in it.
  ///
  /// - Parameter store: the store to use; nil for an empty one.
  func temporaryResults(in store: EventStore? = nil) throws -> (store: EventStore, run: RunID) {
    let store = try store ?? EventStore.temporary(format: platform.storeFormat)
    let run = try store.runs.begin(
      job: request.job.name, configurationDigest: "", started: request.now, asOf: request.asOf)
    return (store, run)
  }

  private func openToKeep() throws -> RunStorage {
    // Opening would create a new store, from which nothing could be sent.
    if request.mode == .post, !FileManager.default.fileExists(atPath: request.storePath) {
      // 'collect' fills the store that the job names; only runs in a sandbox have another one.
      let named = RunRequest.storePath(of: request.job)
      let isOther = !named.utf8.elementsEqual(request.storePath.utf8)
      throw StoreError.missing(
        path: request.storePath, other: isOther && FileManager.default.fileExists(atPath: named) ? named : nil)
    }
    try OutputFolder.make(for: request.storePath)
    let store = try EventStore.open(
      request.storePath, format: platform.storeFormat, isScratch: request.part != nil)
    try store.check(against: request.storeDestination, jobFile: request.job.file)
    if request.mode.readsInputs { try store.refuseCollected() } else { try store.refuseMissingParts() }
    try refuseBackwardRun(store)
    try store.claim(for: request.storeDestination, jobFile: request.job.file)
    if request.mode.readsInputs { try noteChangedMaps(in: store) }
    let run = try beginRun(in: store)
    let lines = QuarantinedLines(atMost: QuarantinedLines.shown, request.vocabulary.dictionary)
    let sink = try StoreSink(
      store: store, run: run, earlier: store, quarantined: lines, limit: request.settings.ingest.quarantineLimit)
    let known = try store.runs.knownUntil()
    return RunStorage(
      store: store, run: run, sink: sink, knownUntil: request.knownUntil(after: known), knownBefore: known,
      quarantined: lines)
  }

  private func openForReplay() throws -> RunStorage {
    // Opening would create a new store.
    guard FileManager.default.fileExists(atPath: request.storePath) else {
      throw StoreError.missing(path: request.storePath)
    }
    let store = try EventStore.open(request.storePath, format: platform.storeFormat)
    // Nothing is sent, so only the platform of the store's destination matters: its rules make the events.
    try store.check(against: StoreDestination(kind: platform.name), jobFile: nil)
    try store.refuseCollected()
    let input = try ReplayInput(
      store, TemporaryFolder(below: ingestOptions.temporaryFolder), longest: ingestOptions.maxLineBytes,
      job: request.job, interruption)
    let lines = QuarantinedLines(atMost: 0, request.vocabulary.dictionary)
    // Without pending lines or events, no run is begun in the store.
    let hasWork = try !input.isEmpty || !store.quarantine.pendingEvents(after: nil, limit: 1).isEmpty
    let results = try hasWork ? (store, beginRun(in: store)) : temporaryResults()
    let replay = ReplayedLines(input, store: hasWork ? store : nil)
    let sink = try StoreSink(
      store: results.0, run: results.1, earlier: hasWork ? store : nil, quarantined: lines,
      limit: request.settings.ingest.quarantineLimit, refuse: replay.refuse)
    let known = try store.runs.knownUntil()
    return RunStorage(
      store: store, run: hasWork ? results.1 : nil, sink: sink, knownUntil: request.knownUntil(after: known),
      knownBefore: known, quarantined: lines, replay: replay)
  }

  private static func existingStore(_ path: String, _ format: StoreFormat) throws -> EventStore? {
    do {
      return try EventStore.openReading(path, format: format)
    } catch StoreError.missing {
      return nil
    }
  }

  /// Adds the store's figures to the report. If the run changes the store, stores the end of the run and closes the
  /// store.
  func conclude(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard let store = storage.store else { return }
    outcome.report.summary.store = Dictionary(
      uniqueKeysWithValues: try store.ledger.statusCounts().map { ($0.key.name, $0.value) })
    guard request.mode.keeps else { return }
    if request.mode.sends { outcome.report.summary.countPending() }
    outcome.report.unsent = try platform.unsentEvents(in: store)
    outcome.report.stoppedPlans = try platform.stoppedPlans(in: store)
    outcome.report.summary.stopped = outcome.report.failure
    if let run = storage.run {
      if request.mode.readsInputs, request.part == nil {
        outcome.report.summary.missed = try missedWindows(in: store, run)
      }
      try end(run, in: store, outcome)
      outcome.noted = (run, outcome.exit)
    }
    if let part = request.part { try store.parts.mark(part: part.number, ofPartition: part.partition) }
    if request.job.reports != nil { outcome.runs = try ListedRun.all(in: store, of: platform) }
    try store.close()
  }
}
