import BatchConfiguration
import BatchFoundation
package import BatchIngest
import BatchReport
import BatchStore

/// What became of quarantined lines and events that were tried again.
package struct ReplayOutcome: Sendable, Equatable {
  /// Lines that were tried, with what they turned out to be; and events that were checked again.
  package var counts = IngestCounts()
  /// Lines whose bytes could not be had: cut in the store and changed or gone in their file.
  package var unavailable = 0
  package var events = 0
  /// Records from before what was decided of their devices meanwhile.
  package var late = 0

  package init() {}
}

extension Pipeline {
  /// Takes the lines and events in that wait in quarantine, by the job's present configuration.
  ///
  /// Each line goes through everything that a line of a file goes through. What is a record now, a duplicate of one, or out of
  /// the window leaves the quarantine; what still is none stays there, with the reason that holds now. Marking comes last, so
  /// a kill in between leaves lines to be found as duplicates the next time.
  ///
  /// Events are kept and not sent; the next run does that.
  func replay(
    _ lines: ReplaySink, _ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    var replay = ReplayOutcome()
    replay.unavailable = lines.input.unavailable
    defer { outcome.replay = replay }
    guard let (store, run) = storage.kept else { return }
    try replayEvents(preparation.options, store, run, &replay)
    guard !lines.input.isEmpty else { return }
    let local = try decided(lines.input.files, preparation, storage, &outcome)
    replay.counts += local.ingest.counts
    replay.late = local.late.count
    if let note = lateNote(local.late, preparation.options.rules, lines.input.files, store) {
      monitor.note("Late: \(note)")
    }
    replay.events += local.tally.events.total
    try lines.finishNotes()
    try lines.forEachTaken { try store.quarantine.markReplayed($0, by: run) }
  }

  /// Events are not lines: they are what they are, with their ids, and only checked again.
  ///
  /// Events and marks are stored together, so a replay that is killed can be repeated and nothing comes twice.
  private func replayEvents(
    _ options: DecisionStage.Options, _ store: EventStore, _ run: RunID, _ outcome: inout ReplayOutcome
  ) throws {
    var last: Int64?
    while true {
      let waiting = try store.quarantine.waitingEvents(after: last, limit: 1000)
      guard let newest = waiting.last else { break }
      last = newest.id
      let checked = try options.rules.recheck(waiting, limits: options.decider.limits)
      var batch = LocalBatch()
      if let blocks = checked.blocks { batch.events = [blocks] }
      batch.replayed = waiting.map(\.id).filter { checked.refused[$0] == nil }
      try store.commit(batch, run: run)
      try store.quarantine.note(checked.refused.mapValues { (.schemaInvalid, $0) })
      outcome.counts.read += waiting.count
      outcome.counts.accepted += batch.replayed.count
      if !checked.refused.isEmpty {
        outcome.counts.quarantined += checked.refused.count
        outcome.counts.reasons[.schemaInvalid, default: 0] += checked.refused.count
      }
      outcome.events += batch.replayed.count
    }
    try store.ledger.makeIndexes()
  }
}
