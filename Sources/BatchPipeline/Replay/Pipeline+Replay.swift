import BatchConfiguration
import BatchFoundation
package import BatchIngest
import BatchReport
import BatchStore

package struct ReplayOutcome: Sendable, Equatable {
  /// The lines tried by result, and the events checked again.
  package var counts = IngestCounts()
  /// The number of lines without available bytes: cut in the store and changed or missing in their file.
  package var unavailable = 0
  package var events = 0
  /// The number of records from before what has meanwhile been processed of their devices.
  package var late = 0

  package init() {}
}

extension Pipeline {
  /// Imports the quarantined lines and events again, by the job's present configuration.
  ///
  /// Each line is handled like a line of a file. One that is now a record, a duplicate of one, or out of the window
  /// leaves the quarantine; one that is still not a record stays there, with the present reason. Marking comes last, so
  /// after a kill in between the lines are found as duplicates the next time.
  ///
  /// Events are kept but not sent; the next run does that.
  func replay(
    _ lines: ReplayedLines, _ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome
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

  /// Checks events again; unlike lines, they stay unchanged, with their ids.
  ///
  /// Events and marks are stored together, so a killed replay can be repeated without duplicates.
  private func replayEvents(
    _ options: DecisionStage.Options, _ store: EventStore, _ run: RunID, _ outcome: inout ReplayOutcome
  ) throws {
    let form = platform.storeFormat.wireForm
    let decider = options.rules.makeDecider(options.decider)
    var last: Int64?
    while true {
      let waiting = try store.quarantine.waitingEvents(after: last, limit: 1000)
      guard let newest = waiting.last else { break }
      last = newest.id
      var batch = LocalBatch()
      var refused: [Int64: String] = [:]
      var sent: [EventBlockReader] = []
      for quarantined in waiting {
        let event = try EventBlockReader(quarantined.block, form)
        guard try event.next() else { throw StoreError.damagedBlock }
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
      outcome.counts.read += waiting.count
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
