import BatchReport
import BatchStore

extension Pipeline {
  /// Reports what the run that a dry run simulates would send: its new events, and those left by earlier runs.
  func tellEstimate(_ local: DecisionResult, _ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    let backlog = try storage.store?.ledger.pendingChunks() ?? (chunks: 0, events: 0)
    let estimate = UploadEstimate(
      events: local.tally.events.total + backlog.events, requests: local.tally.chunks + backlog.chunks,
      platform.deliverySettings(request.settings),
      others: platform.otherCalls(of: request.context, outcome.figures))
    outcome.report.notes.append("estimate: \(estimate.words)")
    monitor.note("Estimate: \(estimate.words)")
  }
}
