import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import FoundationEssentials

extension Pipeline {
  /// Collects the results of parts into a store, from which `post` sends events: the third step of a run in parts.
  ///
  /// - Parameters:
  ///   - folders: results of parts of one partition; at least one.
  ///   - beginsChain: whether the partition may be added even if it does not continue the last one.
  /// - Returns: the outcome, with totals for the added parts. Lines of parts that were already in the store count as
  ///   duplicates, unless the run that added them was killed. The exit is `RunExit.noInput` while parts are missing.
  /// - Throws: ``PartsError`` for results that do not belong together, or do not continue the collected partitions;
  ///   ``CommandError`` for a conflict, a damaged file or another destination, `StoreError`.
  package func collect(_ folders: [String], beginsChain: Bool = false) throws -> RunOutcome {
    try request.checkOutputs(
      against: InputFiles.paths(folders, in: FileManager.default.currentDirectoryPath)
        .map { FileUse("a file in a result folder", $0) })
    let results = try results(folders)
    let clock = ContinuousClock()
    let started = clock.now
    for folder in results { try folder.prove() }
    var request = request
    if let run = try decidingRun(results.first) {
      (request.loaded.job.asOf, request.loaded.job.window) = (run.asOf, run.window)
    }
    try OutputFolder.make(for: request.storePath)
    let store = try EventStore.open(request.storePath, format: request.platform.storeFormat)
    try store.check(against: request.storeDestination, jobFile: request.job.file)
    guard try store.isEmpty || !store.parts.partitions().isEmpty else {
      throw PartsError(
        path: store.path,
        problem: "it has device states from runs; collect parts into a separate store")
    }
    let parts = results.first?.result.parts
    var notes: [String] = []
    let place = try ChainPlace(results, in: store, beginsChain: beginsChain) { notes.append($0) }
    try store.claim(for: request.storeDestination, jobFile: request.job.file)
    let pipeline = Pipeline(request, monitor: monitor, interruption: interruption)
    let run = try pipeline.beginRun(in: store, mode: "collect")
    var outcome = RunOutcome(report: RunReport(request))
    outcome.report.invocation.parts = parts
    for note in notes { monitor.note(note) }
    outcome.report.notes += notes
    var held = 0
    do {
      switch place {
      case .known(let lines): _ = try noteKnown(results, Self.known(lines), &outcome)
      case .next(let here, let reported):
        let known = results.filter { reported.contains($0.result.part) }
        if !known.isEmpty {
          let parts = known.count.counted("part was", "parts were")
          let rest = known.count < results.count ? "" : "; nothing was added"
          held = try noteKnown(known, "\(parts) collected before\(rest)", &outcome)
        }
        let unreported = results.filter { !reported.contains($0.result.part) }
        if let useless = try nothingUsable(unreported, in: store) {
          outcome.report.add(useless.brought)
          // Parts collected earlier are dropped, because their partition cannot be completed.
          let isHalf = try store.parts.dropHalf() != nil
          for folder in isHalf ? results : unreported {
            try store.parts.collectQuarantine(
              folder.store, run: run, limit: request.settings.ingest.quarantineLimit)
          }
          outcome.report.nothingUsable = true
          let summary = useless.all.summary
          throw NothingUsable(summary.records, summary.quarantineReasons, useless.all.quarantine)
        }
        held += try collect(unreported, besides: here, into: store, run, &outcome)
      }
      if try store.parts.partitions().allSatisfy(\.missing.isEmpty) {
        try pipeline.settleRewind(in: store, run, of: store, &outcome)
      }
      try store.ledger.makeIndexes()
      note("Quarantine", try store.quarantine.unkeptNote(of: run), &outcome)
      request.platform.add(outcome.figures, outcome.details, of: request.context, to: &outcome.report)
      try noteMissing(in: store, &outcome)
      if let path = request.eventsOut {
        try EventFile.write(
          [EventSelection(sequences: try sequences(of: place, results.first, in: store), window: request.window)],
          wireForm: request.platform.storeFormat.wireForm, workers: request.ingestOptions.workers,
          to: OutputFile(path, request.storage, check: interruption.check))
      }
    } catch {
      outcome.fail(error)
      outcome.isWhole = false
    }
    outcome.report.knownUntil = try store.runs.knownUntil()
    outcome.report.hasPendingQuarantine = try !store.quarantine.counts().isEmpty
    outcome.report.summary.store = Dictionary(
      uniqueKeysWithValues: try store.ledger.statusCounts().map { ($0.key.name, $0.value) })
    if held > 0 { outcome.report.summary.store[EventStatus.hold.name, default: 0] += held }
    outcome.report.unsent = try request.platform.unsentEvents(in: store)
    outcome.report.summary.durationSeconds = started.duration(to: clock.now).seconds
    outcome.report.exit = outcome.exit
    outcome.report.summary.missed = try pipeline.missedWindows(in: store, run)
    try pipeline.end(run, in: store, outcome)
    outcome.noted = (run, outcome.exit)
    try store.close()
    pipeline.writeReport(&outcome)
    pipeline.noteEnd(&outcome)
    return outcome
  }

  /// Returns the results, sorted by part number.
  private func results(_ folders: [String]) throws -> [ResultFolder] {
    let results = try folders.map { try ResultFolder($0) }.sorted { $0.result.part < $1.result.part }
    guard let first = results.first?.result else { return [] }
    for folder in results {
      let result = folder.result
      func refuse(_ problem: String) throws -> Never { throw PartsError(path: folder.path, problem: problem) }
      guard result.destination.utf8.elementsEqual(request.platform.name.utf8) else {
        try refuse("it is for '\(result.destination)', but the job is not")
      }
      guard result.partition.utf8.elementsEqual(first.partition.utf8), result.parts == first.parts else {
        try refuse("it does not belong to the same partition as the others; collect one partition at a time")
      }
      guard result.configuration.utf8.elementsEqual(first.configuration.utf8) else {
        try refuse("its part was processed with different settings than the others; decide it again")
      }
    }
    for (one, other) in zip(results, results.dropFirst()) where one.result.part == other.result.part {
      throw PartsError(
        path: other.path, problem: "part \(other.result.part) is given twice, here and as \(one.path.printable)")
    }
    return results
  }

  /// Returns the reports of these parts and of the whole partition if the parts complete it but none of its
  /// lines is usable, so that they must not be collected (reference decisions 48); otherwise nil.
  private func nothingUsable(
    _ folders: [ResultFolder], in store: EventStore
  ) throws -> (brought: RunReport, all: RunReport)? {
    guard let first = folders.first?.result else { return nil }
    let known = try store.parts.partitions().first { $0.identity.utf8.elementsEqual(first.partition.utf8) }
    guard Set(known?.here ?? []).union(folders.map(\.result.part)).count == first.parts else { return nil }
    let (whole, come) = (RunReport(request), try reports(folders))
    let before = try (known?.runs ?? []).compactMap { try store.runs.report(of: $0).map(StoredReport.report) }
    let all = (before + come).reduce(into: whole) { $0.add($1) }
    guard try all.summary.records.isUseless(store.hasAccepted()), try !request.isUsableElsewhere() else { return nil }
    return (come.reduce(into: whole) { $0.add($1) }, all)
  }

  private func reports(_ folders: [ResultFolder]) throws -> [RunReport] {
    try folders.compactMap { folder in
      try folder.reading(platform.storeFormat) { try $0.lastReport() }.map(StoredReport.report)
    }
  }

  /// Returns the run that processed a part, with the clock and window that the partition fixed for all parts.
  private func decidingRun(_ result: ResultFolder?) throws -> StoredRun? {
    try result?.reading(platform.storeFormat) { try $0.runs.all().last }
  }

  /// - Returns: the number of held events, which are in the states of these parts and not in the store.
  private func collect(
    _ folders: [ResultFolder], besides here: Set<Int>, into store: EventStore, _ run: RunID,
    _ outcome: inout RunOutcome
  ) throws -> Int {
    var held = 0
    for folder in folders {
      try interruption.check()
      let report = try folder.reading(platform.storeFormat) { part in
        if let known = try part.runs.knownUntil() {
          try store.runs.note(knownUntil: known, reach: RunStorage.reach(of: known, request.settings), by: run)
        }
        try part.timelines.forEachHoldingDevice { held += $0.held }
        return try part.lastReport()
      }
      let result = folder.result
      if !here.contains(result.part) {
        let partition = CollectedPartition(
          identity: result.partition, previous: result.previousPartition, parts: result.parts,
          configuration: result.configuration)
        try store.parts.collect(
          folder.store, part: result.part, of: partition, run: run,
          quarantineLimit: request.settings.ingest.quarantineLimit)
      }
      if let report { outcome.report.add(try StoredReport.report(report)) }
      outcome.figures.merge(result.figures, uniquingKeysWith: +)
      try addDetails(of: folder, to: &outcome)
    }
    return held
  }

  /// Returns the events of the whole partition, including parts that earlier runs added; empty if the store already had
  /// all lines from other parts.
  private func sequences(
    of place: ChainPlace, _ result: ResultFolder?, in store: EventStore
  ) throws -> [BlockSequence] {
    guard case .next = place, let identity = result?.result.partition else { return [] }
    return try store.parts.partitions().filter { $0.identity.utf8.elementsEqual(identity.utf8) }
      .flatMap { try $0.runs.flatMap { try store.ledger.sequences([.stored(by: $0)]) } }
  }

  private static func known(_ lines: Int) -> String {
    guard lines > 0 else { return "these parts have no lines; nothing was added" }
    let all = lines == 1 ? "the only line of these parts is" : "all \(lines.grouped) lines of these parts are"
    return "\(all) already in the store; nothing was added"
  }

  /// Adds the record counts of parts that bring no new lines, with accepted records counted as duplicates.
  ///
  /// - Returns: the number of held events, which are in the states of these parts and not in the store.
  private func noteKnown(_ folders: [ResultFolder], _ note: String, _ outcome: inout RunOutcome) throws -> Int {
    var held = 0
    for folder in folders {
      let report = try folder.reading(platform.storeFormat) { part in
        try part.timelines.forEachHoldingDevice { held += $0.held }
        return try part.lastReport()
      }
      guard let summary = try report.map(StoredReport.report)?.summary else { continue }
      var records = summary.records
      (records.accepted, records.duplicates) = (0, records.duplicates + records.accepted)
      outcome.report.summary.records.add(records)
      outcome.report.summary.quarantineReasons.merge(summary.quarantineReasons, uniquingKeysWith: +)
    }
    self.note("Known", note, &outcome)
    return held
  }

  private func addDetails(of folder: ResultFolder, to outcome: inout RunOutcome) throws {
    guard let text = folder.result.details else { return }
    let details = try ProcessingDetails(portable: text, request.platform.rules(for: request.context))
    if outcome.details == nil { outcome.details = details } else { outcome.details?.add(details) }
  }

  private func noteMissing(in store: EventStore, _ outcome: inout RunOutcome) throws {
    guard let partition = try store.incompletePartition() else { return }
    let error = store.missingParts(of: partition)
    outcome.report.missingParts = partition.missing.count
    outcome.report.notes.append("\(error)")
    outcome.fail(error)
  }
}

extension EventStore {
  /// Returns the report of the last run; nil if it has none.
  fileprivate func lastReport() throws -> [UInt8]? {
    try runs.all().last.flatMap { try runs.report(of: $0.id) }
  }

  /// - Throws: ``CommandError`` if some parts of a partition were collected, but not all.
  package func refuseMissingParts() throws {
    if let partition = try incompletePartition() { throw missingParts(of: partition) }
  }

  fileprivate func incompletePartition() throws -> CollectedPartition? {
    try parts.partitions().first { !$0.missing.isEmpty }
  }

  fileprivate func missingParts(of partition: CollectedPartition) -> CommandError {
    let missing = partition.missing
    return CommandError(
      .noInput,
      "\(path.printable): error: \(missing.count.counted("part")) of \(partition.parts) \(missing.count == 1 ? "is" : "are") missing: "
        + "\(missing.listed); decide and collect \(missing.count == 1 ? "it" : "them") first. "
        + "If \(missing.count == 1 ? "it is" : "they are") lost, drop the collected parts: \(dropCommand)")
  }

  /// - Throws: ``PartsError`` if the store collects parts, because such a store has no device states.
  func refuseCollected() throws {
    guard try !parts.partitions().isEmpty else { return }
    throw PartsError(
      path: path,
      problem:
        "this store collects parts, so the device states are in the parts' results, not here; partition and decide these inputs, then collect the results"
    )
  }
}
