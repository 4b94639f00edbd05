import BatchConfiguration
package import BatchFoundation
import BatchIngest
package import BatchReport
package import BatchStore

extension RunRequest {
  /// Returns the times for a request that covers everything the store has processed; nil if it has processed nothing.
  ///
  /// - Throws: ``StoreError``.
  package static func known(to store: EventStore) throws -> (from: Instant, to: Instant, asOf: Instant)? {
    guard let span = try store.timelines.processedSpan() else { return nil }
    let deciding = [RunMode.run.name, RunMode.noUpload.name]
    let ends = try store.runs.all().filter { $0.mode.map(deciding.contains) ?? false }.map(\.until)
    let end = Instant(milliseconds: span.last.milliseconds + 1)
    return (span.first, end, max(end, ends.max() ?? end))
  }
}

extension Pipeline {
  /// Processes again everything that the store has processed, from the job's current inputs and with its current
  /// settings. The results replace the unsent events in a span of time. Nothing is sent.
  ///
  /// First, unread lines within the reach of a rewind are imported as in a run, in chronological order. Then the inputs
  /// are processed into a temporary store, from the first record on, because sessions and campaigns depend on earlier
  /// states. This does not change device states, or the checks, plans and questions from earlier runs.
  ///
  /// - Parameters:
  ///   - rerun: the span, and what may happen in it.
  ///   - store: the job's store, open for writing. The request must have the times of
  ///     ``RunRequest/known(to:)`` for this store. A rehearsal works on a copy.
  /// - Throws: ``CommandError`` for missing inputs, before anything is changed, and the errors of a run.
  package func rerun(_ rerun: Rerun, in store: EventStore) throws -> RerunOutcome {
    guard rerun.isRehearsal else { return try carryOut(rerun, in: store) }
    let folder = try TemporaryFolder(below: ingestOptions.temporaryFolder)
    let copy = try store.copied(to: folder.path("rehearsal.sqlite"))
    let outcome = Result { try carryOut(rerun, in: copy) }
    try copy.close()
    return try outcome.get()
  }

  private func carryOut(_ rerun: Rerun, in store: EventStore) throws -> RerunOutcome {
    var request = request
    request.allowsMissing = rerun.allowsMissingInputs
    var preparation = try Pipeline(request, monitor: monitor, interruption: interruption).prepare()
    try judgeUse(in: store, &preparation.options)
    let missing = try missingInputs(preparation.files, store)
    if let first = missing.first, !rerun.allowsMissingInputs {
      let (verb, their, them) = missing.count == 1 ? ("is", "its", "it") : ("are", "their", "them")
      throw CommandError(
        .noInput,
        "error: \(missing.count.counted("file")) that earlier runs read (first: '\(first.printable)') \(verb) not among "
          + "the inputs; \(their) records affect sessions and campaigns of later days. Nothing was changed. Restore \(them), "
          + "or add --allow-missing-inputs if the result is correct without these records")
    }
    let run = try beginRun(in: store, mode: "rerun", window: TimeWindow(from: rerun.from, to: rerun.to))
    var outcome = RunOutcome(report: RunReport(request))
    do {
      // The states of these devices contain held events, which cannot be replaced.
      var devices = try store.holdingDevices()
      let lines = try OrderedLines()
      try add(store, from: rerun.from, to: rerun.to, as: .before, to: lines)
      let taken = try takeIn(rerun, preparation, store, run)
      devices.formUnion(try store.holdingDevices())
      let span = ReplacedSpan(from: rerun.from, to: rerun.to, excluded: devices)
      let counts = try replace(span, rerun, preparation, store, run, lines, &outcome)
      outcome.report.summary.rewind = taken?.rewind ?? RunSummary.Rewind()
      outcome.report.summary.store = Dictionary(
        uniqueKeysWithValues: try store.ledger.statusCounts().map { ($0.key.name, $0.value) })
      // Other lines were counted by the runs that read them first.
      var noted = taken ?? RunSummary()
      noted.store = outcome.report.summary.store
      try store.runs.finish(run, at: .now, counters: noted.json)
      return RerunOutcome(
        counts: counts, records: outcome.report.summary, taken: taken, files: preparation.files.files.count,
        missingFiles: missing.count)
    } catch {
      var noted = RunSummary()
      noted.stopped = "\(error)"
      try store.runs.finish(run, at: .now, exit: RunExit(of: error).rawValue, counters: noted.json)
      throw error
    }
  }

  /// Imports the unread lines in the span that are within the reach of a rewind, and finishes an interrupted rewind.
  ///
  /// - Returns: the figures of these lines; nil if nothing is imported, because no part of the span is within the
  ///   reach, or the store collects parts and has no device states.
  private func takeIn(
    _ rerun: Rerun, _ preparation: RunPreparation, _ store: EventStore, _ run: RunID
  ) throws -> RunSummary? {
    let known = try store.runs.knownUntil()
    guard let reach = RunStorage.reach(of: known, request.settings), reach < rerun.to,
      try store.parts.partitions().isEmpty
    else { return nil }
    var preparation = preparation
    preparation.options.ingest.window = TimeWindow(from: max(rerun.from, reach), to: rerun.to)
    let lines = QuarantinedLines(atMost: 0, request.vocabulary.dictionary)
    let sink = try StoreSink(
      store: store, run: run, earlier: store, quarantined: lines, limit: request.settings.ingest.quarantineLimit)
    let storage = RunStorage(
      store: store, run: run, sink: sink, knownUntil: known, knownBefore: known, quarantined: lines)
    var outcome = RunOutcome(report: RunReport(request))
    // This pipeline shows no messages, because they are part of the rerun's outcome.
    let pipeline = Pipeline(request, interruption: interruption)
    try pipeline.settleRewind(storage, &outcome)
    _ = try pipeline.process(preparation.files, preparation, storage, &outcome)
    _ = try pipeline.settleReplacedLines(preparation.files, store, run)
    try pipeline.settleRewind(storage, &outcome)
    return outcome.report.summary
  }

  private func missingInputs(_ files: InputFiles, _ store: EventStore) throws -> [String] {
    let found = Set(files.files.map { ByteText($0.original) })
    return try store.runs.inputPaths().filter { !found.contains(ByteText($0)) }
  }

  private func replace(
    _ span: ReplacedSpan, _ rerun: Rerun, _ preparation: RunPreparation, _ store: EventStore, _ run: RunID,
    _ lines: OrderedLines, _ outcome: inout RunOutcome
  ) throws -> RerunCounts {
    let (anew, anewRun) = try temporaryResults()
    let quarantined = QuarantinedLines(atMost: 0, request.vocabulary.dictionary)
    let found = Guarded<[any PlatformRows]>([])
    let sink = try StoreSink(store: anew, run: anewRun, earlier: nil, quarantined: quarantined) { batch in
      let rows = try store.reduce(&batch, toNewOf: span)
      if let rows { found.withLock { $0.append(rows) } }
    }
    var preparation = preparation
    preparation.options.remembers = { device, timestamp in
      unsafe span.contains(timestamp) && (span.excluded.isEmpty || !span.excluded.contains(Array(device.bytes)))
    }
    let local = try process(
      preparation.files, preparation,
      RunStorage(store: store, run: run, sink: sink, knownUntil: store.runs.knownUntil(), quarantined: quarantined),
      rewinds: false, &outcome)
    // Otherwise, an export in another format would remove all pending events.
    guard local.isUsable else { throw NothingUsable(local.ingest.counts, request.job.window, []) }
    try add(store, from: rerun.from, to: rerun.to, as: .stored, to: lines)
    try add(anew.ledger.sequences([.stored(by: anewRun)], touching: span), in: span, store, to: lines)
    let limits = platform.limits(request.settings)
    var replacement = EventReplacement(span, sendsAgain: rerun.sendsAgain, platform, limits: limits)
    try store.ledger.replacePending(span, run: run, limits: limits) { insert in
      try replacement.compare(lines) { blocks in
        try interruption.check()
        var batch = LocalBatch()
        batch.events = [blocks]
        try insert(batch)
      }
      try anew.forEachRest(rows: found.withLock { $0 }, insert)
      return replacement.twins
    }
    try anew.close()
    return replacement.counts
  }

  /// Adds the store's events in a span of time.
  private func add(
    _ store: EventStore, from: Instant, to: Instant, as side: EventReplacement.Side, to lines: OrderedLines
  ) throws {
    var series = LineSeries()
    try store.ledger.forEachEvent(from: from, to: to) { device, event, standing in
      device.withText {
        series.add(
          StoredSide.line(event, standing), at: event.timestamp, $0, event.emission, side: side.rawValue)
      }
      if series.isFull { try lines.append(&series) }
    }
    try lines.append(&series)
  }

  /// Adds the new events in a span, as the store would send them now.
  private func add(
    _ anew: [BlockSequence], in span: ReplacedSpan, _ store: EventStore, to lines: OrderedLines
  ) throws {
    let wireForm = platform.storeFormat.wireForm
    let alone = EventBlockCopier(wireForm, RequestLimits(maxEvents: 1, maxBodyBytes: .max))
    var series = LineSeries()
    for sequence in anew {
      while let block = try sequence() {
        let amended = try store.ledger.amended(block)
        for block in amended.map({ blocks in blocks.entries.indices.map(blocks.block) }) ?? [block] {
          let event = try wireForm.reader(of: block)
          while try event.next() {
            guard span.contains(event.timestamp) else { continue }
            alone.append(event)
            series.add(
              alone.finish().block(0), at: event.timestamp, event.device, event.emission,
              side: EventReplacement.Side.anew.rawValue)
          }
        }
        if series.isFull { try lines.append(&series) }
      }
    }
    try lines.append(&series)
  }
}

extension EventStore {
  fileprivate func holdingDevices() throws -> Set<[UInt8]> {
    var devices: Set<[UInt8]> = []
    try timelines.forEachHoldingDevice { devices.insert($0.device) }
    return devices
  }
}

extension EventStore {
  /// Removes from a rerun's results the data that the job's store must not receive: device states, and data
  /// that the store already has.
  ///
  /// - Returns: platform rows for records in the span that the store has never had; nil if there are none.
  func reduce(_ batch: inout LocalBatch, toNewOf span: ReplacedSpan) throws -> (any PlatformRows)? {
    let rows = try batch.rows.flatMap { rows in try read { try rows.unknown(of: span, in: $0) } }
    batch.rows = nil
    batch.devices = DeviceStates()
    batch.digests = try batch.digests.compactMap(unknown)
    // Lines that are not records are left to the next run that reads them.
    batch.quarantine = try batch.quarantine.filter { line in
      guard let block = line.block else { return false }
      return try span.contains(format.wireForm.readerOnFirst(of: block))
    }
    return rows
  }

  /// Returns the digests that the store does not have; nil if it has all of them.
  private func unknown(_ segment: DigestSegment) throws -> DigestSegment? {
    let known = Set(
      try LineDigest.merged(timelines.knownDigests(bucket: segment.bucket, from: segment.first, to: segment.last)))
    var segment = segment
    segment.digests = LineDigest.sortedBytes(LineDigest.merged([segment]).filter { !known.contains($0) })
    return segment.digests.isEmpty ? nil : segment
  }

  /// Passes to `body` everything that is added to the job's store after the events of a rerun: platform rows,
  /// quarantined events, and digests of new lines.
  func forEachRest(rows: [any PlatformRows], _ body: (LocalBatch) throws -> Void) throws {
    func pass(_ fill: (inout LocalBatch) -> Void) throws {
      var batch = LocalBatch()
      fill(&batch)
      try body(batch)
    }
    for rows in rows.reversed() { try pass { $0.rows = rows } }
    var last: Int64?
    while case let events = try quarantine.pendingEvents(after: last, limit: 256), let newest = events.last {
      last = newest.id
      try pass { $0.quarantine = events.map(\.line) }
    }
    for bucket in 0..<RecordIDs.bucket(of: DeviceHash.bucketCount) {
      let segments = try timelines.knownDigests(bucket: bucket, from: Instant(milliseconds: 0), to: .last)
      guard let first = segments.map(\.first).min(), let last = segments.map(\.last).max() else { continue }
      let digests = LineDigest.sortedBytes(LineDigest.merged(segments))
      try pass { $0.digests = [DigestSegment(bucket: bucket, first: first, last: last, digests: digests)] }
    }
  }
}

/// The parameters of a rerun, which processes a window of a store again.
package struct Rerun: Sendable {
  package var from: Instant
  /// The exclusive end of the span.
  package var to: Instant
  /// The sent events to send again; nil for none.
  package var sendsAgain: SentEvents?
  /// Whether files that earlier runs read may be missing.
  package var allowsMissingInputs: Bool
  /// Whether the rerun is only tried, without changing the store.
  package var isRehearsal: Bool

  package init(
    from: Instant, to: Instant, sendsAgain: SentEvents?, allowsMissingInputs: Bool, isRehearsal: Bool
  ) {
    self.from = from
    self.to = to
    self.sendsAgain = sendsAgain
    self.allowsMissingInputs = allowsMissingInputs
    self.isRehearsal = isRehearsal
  }
}

/// The sent events to send again, selected by comparing them with the new events.
package enum SentEvents: String, CaseIterable, Sendable {
  /// The events with different attributes.
  case different
  /// The events with different attributes, and the unchanged events.
  case all
}

/// The results of a rerun, as numbers of events in its span.
package struct RerunCounts: Sendable, Equatable {
  /// The number of events that were, or may have been, sent and that the rerun produced again unchanged. ``different``
  /// counts those that now have different attributes, and ``gone`` those that were not produced again.
  package var same = 0
  package var different = 0
  package var gone = 0
  /// The number of events in ``same``, ``different`` and ``gone`` that the service may or may not have.
  package var inDoubt = 0
  /// The number of pending events removed from the store.
  package var removed = 0
  /// The number of events that are now pending as a result of the rerun.
  package var stored = 0
  /// The number of ``stored`` events that were already pending before, with the same content.
  package var unchanged = 0
  /// The number of events, stored or new, left unchanged because the state of their device contains held events.
  package var heldBack = 0
}

package struct RerunOutcome: Sendable {
  package var counts: RerunCounts
  /// The figures of the inputs, which were processed from the first record on.
  package var records: RunSummary
  /// The figures of unread lines within the reach of a rewind, which were imported first; nil if none could be.
  package var taken: RunSummary?
  /// The number of files read; ``missingFiles`` counts files that earlier runs read and that are missing now.
  package var files: Int
  package var missingFiles: Int
}
