import BatchFoundation
package import BatchIngest
import BatchReport
import BatchStore

package struct ReplayOutcome: Sendable, Equatable {
  /// The numbers of lines and events that were tried again, by result.
  package var counts = IngestCounts()
  /// The number of lines whose bytes are not available: truncated in the store, and changed or missing in their file.
  package var unavailable = 0
  package var events = 0
  /// The number of late records: earlier than those that were processed for their devices in the meantime.
  package var late = 0

  package init() {}
}

extension Pipeline {
  /// Imports the quarantined lines and events again, with the job's current configuration.
  ///
  /// Each line is processed like a line in a file. A line that is now a record, a duplicate or out of window leaves the
  /// quarantine. A line that is still refused remains there with its new reason. Lines are marked as replayed last: if
  /// the replay is killed before that, the next one finds duplicates.
  ///
  /// Events are stored but not sent; the next run sends them.
  func replay(
    _ lines: ReplayedLines, _ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    var replay = ReplayOutcome()
    replay.unavailable = lines.input.unavailable
    defer { outcome.replay = replay }
    guard let (store, run) = storage.kept else { return }
    try replayEvents(preparation.options, store, run, &replay)
    guard !lines.input.isEmpty else { return }
    let local = try process(lines.input.files, preparation, storage, &outcome)
    replay.counts += local.ingest.counts
    replay.late = local.late.count
    if let note = lateNote(local.late, preparation.options.rules, lines.input.files, store) {
      monitor.note("Late: \(note)")
    }
    replay.events += local.tally.events.total
    try lines.finishNotes()
    try lines.forEachTaken { try store.quarantine.markReplayed($0, by: run) }
  }

  /// Validates quarantined events again. Unlike lines, they are not processed: those that pass keep their content and
  /// id.
  ///
  /// Events are stored and marked in one transaction, so a killed replay can be repeated without duplicates.
  private func replayEvents(
    _ options: ProcessingStage.Options, _ store: EventStore, _ run: RunID, _ outcome: inout ReplayOutcome
  ) throws {
    let form = platform.storeFormat.wireForm
    let decider = options.rules.makeDecider(options.decider)
    var last: Int64?
    while true {
      let pending = try store.quarantine.pendingEvents(after: last, limit: 1000)
      guard let newest = pending.last else { break }
      last = newest.id
      var batch = LocalBatch()
      var refused: [Int64: String] = [:]
      var sent: [EventBlockReader] = []
      for quarantined in pending {
        guard let event = try quarantined.line.block.map({ try EventBlockReader($0, form) }), try event.next() else {
          throw StoreError.damagedBlock
        }
        refused[quarantined.id] = try decider.refusal(of: event)
        if refused[quarantined.id] != nil { continue }
        sent.append(event)
        batch.replayed.append(quarantined.id)
      }
      sent.sort { ($0.timestamp, $0.device, $0.emission) < ($1.timestamp, $1.device, $1.emission) }
      var writer = EventBlockWriter(form, limits: options.decider.limits, isCopying: true)
      for event in sent { event.copy(to: &writer) }
      if !sent.isEmpty { batch.events = [writer.take()] }
      try store.commit(batch, run: run)
      try store.quarantine.note(refused.mapValues { (.schemaInvalid, $0) })
      outcome.counts.read += pending.count
      outcome.counts.accepted += batch.replayed.count
      if !refused.isEmpty {
        outcome.counts.quarantined += refused.count
        outcome.counts.reasons[.schemaInvalid, default: 0] += refused.count
      }
      outcome.events += batch.replayed.count
    }
    try store.ledger.makeIndexes()
  }
}
