import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import FoundationEssentials

/// Files that a run writes for its caller. One that cannot be written does not undo what was kept and sent.
extension Pipeline {
  /// `--events-out`.
  func writeEvents(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard let path = request.eventsOut else { return }
    let isUseless = outcome.report.nothingUsable == true
    do {
      try outcome.report.timed(.eventFile) {
        try EventFile.write(
          isUseless ? [] : selections(storage), codec: platform.storeFormat.codec, workers: ingestOptions.workers,
          to: path)
      }
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  private func selections(_ storage: RunStorage) throws -> [EventSelection] {
    func inWindow(_ sequences: [BlockSequence]) -> EventSelection {
      EventSelection(sequences: sequences, window: request.window)
    }
    guard let (store, run) = storage.kept else {
      // A run would also send what an earlier one left (reference decisions 32).
      let backlog = request.mode == .dryRun(sends: true) ? try storage.store?.ledger.sequences([.waiting]) : nil
      let changed = (storage.sink as? DryRunSink)?.changed.withLock { $0 } ?? []
      return [inWindow((storage.spool?.sequences() ?? []) + (backlog ?? []).map { leaving(changed, outOf: $0) })]
    }
    // What was posted was, also where a request whose answer had been lost went out again when its time was over.
    let posted = EventSelection(sequences: try store.ledger.sequences([.posted(in: run)]))
    return switch request.mode {
    case .post: [posted]
    case .replay: [inWindow(try store.ledger.sequences([.stored(by: run)]))]
    case .run, .noUpload, .dryRun, .stream: [posted, inWindow(try store.ledger.sequences([.unposted(by: run)]))]
    }
  }

  /// What a rewind decided otherwise goes out in its new form only.
  private func leaving(_ changed: Set<EventID>, outOf sequence: BlockSequence) -> BlockSequence {
    guard !changed.isEmpty else { return sequence }
    let codec = platform.storeFormat.codec
    return BlockSequence {
      while let block = try sequence.next() {
        let rest = try codec.copy(of: block) {
          !changed.contains(EventID(timestamp: $0.timestamp, device: $0.device, emission: $0.emission))
        }
        if !rest.entries.isEmpty { return rest.block(0) }
      }
      return nil
    }
  }

  /// `--findings-out`.
  func write(_ findings: OrderedLines?, _ outcome: inout RunOutcome) throws {
    guard let findings, let path = request.findingsOut else { return }
    do {
      try EventFile.write(
        [EventSelection(sequences: findings.sequences)], codec: LineCodec(), workers: ingestOptions.workers, to: path)
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// `--decisions-out`. Made before anything is sent: each question is asked once, and what became of it is told by that run alone.
  func decisionsFile(of service: any PlatformService) throws(OutputError) -> OutputFile? {
    guard let path = request.decisionsOut, service is any DecisionListing else { return nil }
    return try OutputFile(path)
  }

  /// Writes what became of the questions, also of those that were asked before a signal came.
  func writeDecisions(
    of service: any PlatformService, _ storage: RunStorage, to file: OutputFile?, _ outcome: inout RunOutcome
  ) throws {
    guard let file, let (store, run) = storage.kept, let service = service as? any DecisionListing else { return }
    do {
      try service.forEachDecisionLine(of: run, in: store) { try file.write($0 + "\n") }
      try file.finish()
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// In place of the one that there is.
  func writeReport(_ outcome: inout RunOutcome) {
    guard let folder = request.job.reports else { return }
    outcome.attempt { outcome in
      if let path = outcome.reportFolder {
        try FileManager.default.removeItem(atPath: path)
        outcome.reportFolder = nil
      }
      outcome.reportFolder = try ReportFolder.write(
        outcome.report, below: folder, windowFrom: request.isOneOfMany ? outcome.report.from : nil,
        isForGroup: request.settings.report.mode == .group)
      outcome.told = outcome.exit
      // The first run has nothing beside it.
      guard let store = outcome.report.store, outcome.runs.count > 1 else { return }
      let index = try ReportFolder.writeIndex(
        outcome.runs, store: store, isSandbox: request.usesSandbox, below: folder,
        isForGroup: request.settings.report.mode == .group)
      if index == nil { monitor.note("warning: \(folder.printable) has other pages by the name of that over all runs") }
    }
  }
}
