package import BatchDelivery
import BatchFoundation
import BatchReport
import BatchStore

package struct UploadEstimate: Sendable, Equatable {
  /// The assumed time of a request, usual between continents; the actual time is not known before.
  package static let secondsOfRequest = 0.5

  package var events: Int
  package var requests: Int
  package var concurrency: Int
  /// The platform's other calls to its service, in words; empty for none.
  package var others: [String]

  package init(events: Int, requests: Int, _ delivery: DeliverySettings, others: [String] = []) {
    self.events = events
    self.requests = requests
    self.others = others
    concurrency = delivery.concurrency
  }

  private var seconds: Int {
    Int((Double(requests) * Self.secondsOfRequest / Double(max(concurrency, 1))).rounded(.up))
  }

  package var words: String {
    guard requests > 0 else { return (["a run would send no events"] + others).joined(separator: "; ") }
    let time = seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
    return
      ([
        "a run would send \(events.counted("event")) in about \(requests.counted("request"))",
        "at half a second a request, \(concurrency) at once, that is \(time)",
      ] + others).joined(separator: "; ")
  }
}

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
