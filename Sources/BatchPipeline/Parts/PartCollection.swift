import BatchConfiguration
import BatchFoundation
import BatchIngest
package import BatchPlatform
import BatchReport
import BatchStore

/// The third step of a run in parts: what was decided of each comes into one store, from which `post` sends it.
package struct PartCollection: Sendable {
  private let request: RunRequest
  private let results: [ResultFolder]
  private let monitor: any RunMonitor
  private let interruption: Interruption

  /// What a store notes as the mode of a run that collected.
  package static let mode = "collect"

  /// - Parameters:
  ///   - request: of a run that sends nothing.
  ///   - folders: results of parts of one partition; at least one.
  ///   - monitor: told what is collected.
  ///   - interruption: ends it between two parts.
  /// - Throws: ``PartsError`` for results that do not belong together.
  package init(
    _ request: RunRequest, _ folders: [String], monitor: any RunMonitor, interruption: Interruption
  ) throws {
    self.request = request
    self.monitor = monitor
    self.interruption = interruption
    results = try folders.map { try ResultFolder($0) }.sorted { $0.result.part < $1.result.part }
    guard let first = results.first?.result else { return }
    for folder in results {
      let result = folder.result
      func refuse(_ problem: String) throws -> Never { throw PartsError(path: folder.path, problem: problem) }
      guard result.destination.utf8.elementsEqual(request.platform.name.utf8) else {
        try refuse("it is of '\(result.destination)', and the job is not")
      }
      guard result.partition.utf8.elementsEqual(first.partition.utf8), result.parts == first.parts else {
        try refuse("it is of another partition than the others; collect one partition after the other")
      }
      guard result.configuration.utf8.elementsEqual(first.configuration.utf8) else {
        try refuse("its part was decided with other settings than the others; decide it again")
      }
    }
  }

  /// - Returns: the sums of the parts that were new to the store; its exit is `RunExit.noInput` while parts are missing.
  /// - Throws: ``PartsError``, ``DamagedCopyError``, ``DestinationMismatch``, `StoreError`.
  package func run() throws -> RunOutcome {
    let clock = ContinuousClock()
    let started = clock.now
    for folder in results { try folder.prove() }
    try OutputFolder.make(for: request.storePath)
    let store = try EventStore.open(request.storePath, format: request.platform.storeFormat)
    try store.check(against: request.storeDestination, jobFile: request.job.file)
    guard try store.isEmpty else {
      throw PartsError(
        path: store.path,
        problem: "it has states of devices, so runs decide on it; collect parts into a store of their own")
    }
    try store.claim(for: request.storeDestination, jobFile: request.job.file)
    let pipeline = Pipeline(request, monitor: monitor, interruption: interruption)
    let run = try pipeline.beginRun(in: store, mode: Self.mode)
    var outcome = RunOutcome(report: RunReport(request))
    var held = 0
    do {
      held = try collect(into: store, run, &outcome)
      try store.indexChunks()
      request.platform.add(outcome.figures, outcome.details, of: request.context, to: &outcome.report)
      try tellMissing(in: store, &outcome)
      if let path = request.eventsOut {
        let stored = EventSelection(sequences: try store.sequences([.stored(by: run)]), window: request.window)
        try EventFile.write(
          [stored], codec: request.platform.storeFormat.codec, workers: request.ingestOptions.workers, to: path)
      }
    } catch {
      outcome.fail(error)
      outcome.isWhole = false
    }
    outcome.report.knownUntil = try store.knownUntil()
    outcome.report.quarantineWaits = try !store.quarantineCounts().isEmpty
    outcome.report.summary.store = Dictionary(
      uniqueKeysWithValues: try store.statusCounts().map { ($0.key.name, $0.value) })
    if held > 0 { outcome.report.summary.store[EventStatus.hold.name, default: 0] += held }
    outcome.report.unsent = try request.platform.unsentEvents(in: store)
    outcome.report.summary.durationSeconds = started.duration(to: clock.now).seconds
    outcome.report.exit = outcome.exit
    try pipeline.end(run, in: store, outcome)
    try store.close()
    pipeline.writeReport(&outcome)
    return outcome
  }

  /// - Returns: events that the states of these parts hold back, which no store has.
  private func collect(into store: EventStore, _ run: RunID, _ outcome: inout RunOutcome) throws -> Int {
    var held = 0
    let here = try Set(store.collectedParts(of: results.first?.result.partition ?? ""))
    for folder in results where !here.contains(folder.result.part) {
      try interruption.check()
      // Its digest was right, so its pages are.
      let part = try EventStore.openReading(folder.store, format: request.platform.storeFormat, checksPages: false)
      let report = try part.runs().last.flatMap { try part.report(of: $0.id) }
      if let known = try part.knownUntil() { try store.note(knownUntil: known, by: run) }
      try part.forEachHoldingDevice { held += $0.held }
      try part.close()
      try store.collect(
        folder.store,
        CollectedPart(partition: folder.result.partition, number: folder.result.part, of: folder.result.parts),
        run: run)
      if let report { outcome.report.add(try StoredReport.report(report)) }
      outcome.figures.merge(folder.result.figures, uniquingKeysWith: +)
      try addDetails(of: folder, to: &outcome)
    }
    let known = results.count { here.contains($0.result.part) }
    if known > 0 { monitor.note("\(known.counted("part was", "parts were")) collected before") }
    return held
  }

  private func addDetails(of folder: ResultFolder, to outcome: inout RunOutcome) throws {
    guard let text = folder.result.details,
      let details = try request.platform.details(portable: text, of: request.context)
    else { return }
    if outcome.details == nil { outcome.details = details } else { outcome.details?.add(details) }
  }

  private func tellMissing(in store: EventStore, _ outcome: inout RunOutcome) throws {
    do {
      try store.refuseMissingParts()
    } catch let error as MissingPartsError {
      outcome.report.notes.append("\(error)")
      outcome.fail(error)
    }
  }
}

extension EventStore {
  /// - Throws: ``MissingPartsError`` where some parts of a partition were collected, and others not yet.
  func refuseMissingParts() throws {
    for partition in try collectedPartitions() {
      let here = try Set(collectedParts(of: partition.identity))
      let missing = (0..<partition.parts).filter { !here.contains($0) }
      if !missing.isEmpty { throw MissingPartsError(store: path, missing: missing, parts: partition.parts) }
    }
  }

  /// - Throws: ``PartsError`` where parts were collected, whose states are not in this store.
  func refuseCollected() throws {
    guard try !collectedPartitions().isEmpty else { return }
    throw PartsError(
      path: path,
      problem:
        "it collects parts, and the states of their devices are beside it; partition and decide these inputs, then collect"
    )
  }
}
