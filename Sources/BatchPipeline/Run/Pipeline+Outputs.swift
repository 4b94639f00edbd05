import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchReport
import BatchStore

/// Files that a run writes for its caller. One that cannot be written does not undo what was kept and sent.
extension Pipeline {
  /// `--events-out`.
  func writeEvents(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard let path = request.eventsOut else { return }
    do {
      try outcome.report.timed(.eventFile) {
        try EventFile.write(
          sequences(storage), codec: platform.storeFormat.codec, within: request.window,
          workers: ingestOptions.workers, to: path)
      }
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  private func sequences(_ storage: RunStorage) throws -> [BlockSequence] {
    guard let (store, run) = storage.kept else {
      // A run would also send what an earlier one left (reference decisions 32).
      let backlog = request.mode == .dryRun(sends: true) ? try storage.store?.sequences([.waiting]) : nil
      return (storage.spool?.sequences() ?? []) + (backlog ?? [])
    }
    return switch request.mode {
    case .post: try store.sequences([.posted(in: run)])
    case .replay: try store.sequences([.stored(by: run)])
    case .run, .noUpload, .dryRun, .stream: try store.sequences([.stored(by: run), .posted(in: run)])
    }
  }

  /// `--findings-out`.
  func write(_ findings: OrderedLines?, _ outcome: inout RunOutcome) throws {
    guard let findings, let path = request.findingsOut else { return }
    do {
      try EventFile.write(findings.sequences, codec: LineCodec(), within: nil, workers: ingestOptions.workers, to: path)
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  /// `--decisions-out`, once the service was asked.
  func writeDecisions(
    of service: any PlatformService, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    guard let path = request.decisionsOut, interruption.signal == nil, let (store, run) = storage.kept,
      let service = service as? any DecisionListing
    else { return }
    do {
      let file = try OutputFile(path)
      try service.forEachDecisionLine(of: run, in: store) { try file.write($0 + "\n") }
      try file.finish()
    } catch let error as OutputError {
      outcome.fail(error)
    }
  }

  func writeReport(_ outcome: inout RunOutcome) {
    guard let folder = request.job.reports else { return }
    do {
      outcome.reportFolder = try ReportFolder.write(
        outcome.report, below: folder, windowFrom: request.isOneOfMany ? outcome.report.from : nil)
    } catch {
      outcome.fail(error)
    }
  }
}
