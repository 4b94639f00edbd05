import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchReport
package import BatchStore

extension RunRequest {
  /// Lets the request read everything that the store has decided, up to the latest end of known time that a run had.
  ///
  /// - Returns: nil if the store has decided nothing.
  package static func known(to store: EventStore) throws -> (from: Instant, to: Instant, asOf: Instant)? {
    guard let span = try store.timelines.decidedSpan() else { return nil }
    let deciding = [RunMode.run.name, RunMode.noUpload.name]
    let ends = try store.runs.all().filter { $0.mode.map(deciding.contains) ?? false }.map(\.asOf)
    let end = Instant(milliseconds: span.last.milliseconds + 1)
    return (span.first, end, max(end, ends.max() ?? end))
  }
}

extension Pipeline {
  /// Decides all that the store has decided once more, from the job's present inputs and settings, and lets the events of a span that
  /// were not sent give way to what comes of it. Nothing is sent.
  ///
  /// The inputs are decided from the first record on, into a store of their own beside the temporary files, because sessions and
  /// campaigns run from state to state. The states of devices stay as they are, as do checks, plans and questions that earlier runs asked for.
  ///
  /// - Parameters:
  ///   - rerun: the span, and what may happen in it.
  ///   - store: that of the job, open for writing; its request reads what is ``RunRequest/known(to:)``.
  /// - Throws: ``RerunRefusal`` before anything is changed, and whatever a run throws.
  package func rerun(_ rerun: Rerun, in store: EventStore) throws -> RerunOutcome {
    var request = request
    request.allowsMissing = rerun.allowsMissingInputs
    let preparation = try Pipeline(request, monitor: monitor, interruption: interruption).prepare()
    let missing = try missingInputs(preparation.files, store)
    if let first = missing.first, !rerun.allowsMissingInputs {
      throw RerunRefusal.missingInputs(count: missing.count, first: first)
    }
    let run = try rerun.isRehearsal ? nil : beginRun(in: store, mode: "rerun")
    var outcome = RunOutcome(report: RunReport(request))
    do {
      let counts = try replace(rerun, preparation, store, run, &outcome)
      outcome.report.summary.store = Dictionary(
        uniqueKeysWithValues: try store.ledger.statusCounts().map { ($0.key.name, $0.value) })
      if let run { try store.runs.finish(run, at: .now, counters: outcome.report.summary.json) }
      return RerunOutcome(
        counts: counts, records: outcome.report.summary, files: preparation.files.files.count,
        missingFiles: missing.count)
    } catch {
      if let run {
        outcome.fail(error)
        try store.runs.finish(
          run, at: .now, exit: RunFailure.exit(of: error).rawValue, counters: outcome.report.summary.json)
      }
      throw error
    }
  }

  private func missingInputs(_ files: InputFiles, _ store: EventStore) throws -> [String] {
    let found = Set(files.files.map { ByteText($0.original) })
    return try store.runs.inputPaths().filter { !found.contains(ByteText($0)) }
  }

  private func replace(
    _ rerun: Rerun, _ preparation: RunPreparation, _ store: EventStore, _ run: RunID?, _ outcome: inout RunOutcome
  ) throws -> RerunCounts {
    let folder = try TemporaryFolder(below: ingestOptions.temporaryFolder)
    let anew = try EventStore.open(folder.path("decided.sqlite"), format: platform.storeFormat)
    let anewRun = try anew.runs.begin(
      job: request.job.name, configurationDigest: "", started: request.now, asOf: request.asOf)
    var devices: Set<[UInt8]> = []
    try store.timelines.forEachHoldingDevice { devices.insert($0.device) }
    let span = ReplacedSpan(from: rerun.from, to: rerun.to, excluded: devices)
    let lines = QuarantinedLines(atMost: 0)
    let sink = try RerunSink(kept: StoreSink(store: anew, run: anewRun, quarantined: lines), store: store, span: span)
    var preparation = preparation
    preparation.options.remembers = { device, timestamp in
      unsafe span.contains(timestamp) && (span.excluded.isEmpty || !span.excluded.contains(Array(device.bytes)))
    }
    _ = try decided(
      preparation.files, preparation,
      RunStorage(store: store, run: run, sink: sink, knownUntil: store.runs.knownUntil(), quarantined: lines), &outcome)

    let events = try EventSpool(folder: ingestOptions.temporaryFolder)
    for sequence in try anew.ledger.sequences([.stored(by: anewRun)], touching: span) {
      // As they would be sent now.
      try events.append(sequence, changing: store.ledger.amended)
    }
    var replacement = try EventReplacement(
      span, decided: { try narrowed(events.sequences(), platform.storeFormat.codec) },
      stored: narrowed(storedLines(of: span, store).sequences, LineCodec()), sendsAgain: rerun.sendsAgain, platform,
      limits: platform.limits(request.settings))
    var rest = RerunRest(anew, rows: sink.rows)
    try store.ledger.replaceWaiting(span, run: run) {
      try interruption.check()
      guard let blocks = try replacement.next() else { return try rest.next() }
      var batch = LocalBatch()
      batch.events = [blocks]
      return batch
    }
    try anew.close()
    return replacement.counts
  }

  private func storedLines(of span: ReplacedSpan, _ store: EventStore) throws -> OrderedLines {
    let lines = try OrderedLines(folder: ingestOptions.temporaryFolder)
    var series = LineSeries()
    try store.ledger.forEachEvent(from: span.from, to: span.to) { event, standing in
      event.device.withText {
        series.add(StoredSide.line(event, standing), at: event.id.timestamp, $0, event.emission)
      }
      if series.byteCount > DeviceEvents.seriesBytes { try lines.append(&series) }
    }
    try lines.append(&series)
    return lines
  }

  private func narrowed(_ sequences: [BlockSequence], _ codec: any EventCodec) throws -> [BlockSequence] {
    try EventMerge.narrowed(sequences, codec: codec, folder: ingestOptions.temporaryFolder)
  }
}
