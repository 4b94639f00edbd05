package import BatchDelivery
import BatchFoundation

/// What sending would take, before anything is sent.
package struct UploadEstimate: Sendable, Equatable {
  /// How long a service takes for a request is not known before; this is what is usual between continents.
  package static let secondsOfRequest = 0.5

  package var events: Int
  package var requests: Int
  /// Requests that are under way at once.
  package var concurrency: Int
  /// What else the platform asks its service, in words; empty for nothing.
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
