import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import FoundationEssentials

/// The files that a run writes for its caller. A failure to write them does not affect stored or sent events.
extension Pipeline {
  /// Writes `--events-out`.
  func writeEvents(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard let path = request.eventsOut else { return }
    let isUseless = outcome.report.nothingUsable == true
    let earlier = interruption.signal
    do {
      try outcome.report.timed(.eventFile) {
        let file = try OutputFile(path, request.storage) { if earlier == nil { try interruption.check() } }
        try EventFile.write(
          isUseless ? [] : selections(storage), wireForm: platform.storeFormat.wireForm, workers: ingestOptions.workers,
          to: file)
      }
    } catch let error as OutputError {
      // A signal stops writing a file at once, but an object upload may take a long time.
      if error.message != nil, earlier == nil { try interruption.check() }
      outcome.fail(error)
    }
  }

  private func selections(_ storage: RunStorage) throws -> [EventSelection] {
    func inWindow(_ sequences: [BlockSequence]) -> EventSelection {
      EventSelection(sequences: sequences, window: request.window)
    }
    guard let (store, run) = storage.kept else {
      // A run would also send the events that an earlier run left unsent (reference decisions 32).
      let backlog = request.mode == .dryRun(sends: true) ? try storage.store?.ledger.sequences([.waiting]) : nil
      let changed = storage.changed.withLock { $0 }
      let results = try storage.sink.store.ledger.sequences([.stored(by: storage.sink.run)])
      return [inWindow(results + (backlog ?? []).map { leaving(changed, outOf: $0) })]
    }
    // Posted events are listed even outside the window: a request whose response was lost may have been sent again
    // later.
    let posted = EventSelection(sequences: try store.ledger.sequences([.posted(in: run)]))
    return switch request.mode {
    case .post: [posted]
    case .replay: [inWindow(try store.ledger.sequences([.stored(by: run)]))]
    case .run, .noUpload, .dryRun, .stream: [posted, inWindow(try store.ledger.sequences([.unposted(by: run)]))]
    }
  }

  /// Removes events that a rewind changed, because they are listed with their new content only.
  private func leaving(_ changed: Set<EventID>, outOf sequence: @escaping BlockSequence) -> BlockSequence {
    guard !changed.isEmpty else { return sequence }
    let wireForm = platform.storeFormat.wireForm
    return {
      while let block = try sequence() {
        let rest = try wireForm.copy(of: block) { !changed.contains($0.id) }
        if !rest.entries.isEmpty { return rest.block(0) }
      }
      return nil
    }
  }

  /// Writes `--findings-out`.
  func write(_ findings: OrderedLines?, _ outcome: inout RunOutcome) throws {
    guard let findings, let path = request.findingsOut else { return }
    do {
      let file = try OutputFile(path, request.storage)
      try findings.forEach { line in
        try unsafe (line.bytes + [UInt8(ascii: "\n")]).withUnsafeBytes { try unsafe file.write($0) }
      }
      try file.finish()
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// Opens the `--decisions-out` file before anything is sent, because only the run that asks a question can report its
  /// answer.
  func decisionsFile() throws(OutputError) -> OutputFile? {
    guard let path = request.decisionsOut, platform.decisionLines != nil else { return nil }
    return try OutputFile(path, request.storage)
  }

  /// Writes the answers to the run's questions, even if a signal ended the run.
  func writeDecisions(_ storage: RunStorage, to file: OutputFile?, _ outcome: inout RunOutcome) throws {
    guard let file, let (store, run) = storage.kept, let lines = platform.decisionLines else { return }
    do {
      try lines(run, store) { try file.write($0 + "\n") }
      try file.finish()
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// Writes the report, replacing an earlier report of this run.
  func writeReport(_ outcome: inout RunOutcome) {
    guard let folder = request.job.reports else { return }
    outcome.attempt { outcome in
      if RemoteAddress(folder) != nil {
        outcome.reportFolder = try ReportFolder.write(
          outcome.report, below: folder, in: request.storage,
          windowFrom: request.isOneOfMany ? outcome.report.from : nil,
          replacing: outcome.reportFolder)
        outcome.reported = outcome.exit
        return
      }
      if let path = outcome.reportFolder {
        try FileManager.default.removeItem(atPath: path)
        outcome.reportFolder = nil
      }
      let isForGroup = request.settings.report.mode == .group
      // After the first run, there are no others to list.
      let store = outcome.runs.count > 1 ? outcome.report.store : nil
      let index = store.flatMap { ReportFolder.indexPath(store: $0, isSandbox: request.usesSandbox, below: folder) }
      let links = index.flatMap { ReportFolder.links(to: $0, outcome.runs) }
      let path = try ReportFolder.write(
        outcome.report, below: folder, windowFrom: request.isOneOfMany ? outcome.report.from : nil,
        isForGroup: isForGroup, links: links)
      outcome.reportFolder = path
      outcome.reported = outcome.exit
      guard let store else { return }
      if let index {
        try ReportFolder.writeIndex(
          index, outcome.runs, store: store, in: outcome.report.shownZone, usesSandbox: request.usesSandbox,
          isForGroup: isForGroup)
        try ReportFolder.link(to: index, outcome.runs, isForGroup: isForGroup)
      } else {
        monitor.note(
          "warning: the list of runs was not written, because \(folder.printable) already contains index pages that do not belong to this store"
        )
      }
    }
  }
}
