package import BatchFoundation

/// The unsent events of a store that share one reason.
package struct UnsentEvents: Sendable, Equatable, Codable {
  /// The store's name for the status, such as `HOLD`.
  package var status: String
  package var events: Int
  package var reason: String
  /// The setting, or the member of the job, that is responsible.
  package var setting: String
  package var ends: String
  /// The advice if no later run sends the events; nil if there is nothing to do but wait.
  package var advice: String?
  /// The advice for sending the events anyway, printed after ``advice``; nil if that is impossible.
  package var release: String?

  package init(status: String, events: Int, reason: String, setting: String, ends: String, advice: String? = nil) {
    (self.status, self.events, self.reason) = (status, events, reason)
    (self.setting, self.ends, self.advice) = (setting, ends, advice)
  }

  /// A line for people, without the number of events.
  package var words: String { "\(status): \(reason) (\(setting)); ends with \(ends)" }
}

/// Events that a run sends although the service silently drops them for their age.
package struct OutdatedEvents: Sendable, Equatable, Codable {
  package let events: Int
  package let first: Instant
  package let last: Instant
  /// The rule of the service, such as "a service drops events that are older than 31 days".
  package let rule: String
  /// The alternative for older events.
  package let remedy: String

  package init(events: Int, first: Instant, last: Instant, rule: String, remedy: String) {
    (self.events, self.first, self.last, self.rule, self.remedy) = (events, first, last, rule, remedy)
  }

  /// Returns the sum of both, which must be about the same service.
  package func adding(_ other: OutdatedEvents) -> OutdatedEvents {
    OutdatedEvents(
      events: events + other.events, first: min(first, other.first), last: max(last, other.last), rule: rule,
      remedy: remedy)
  }

  /// The number of events and their times.
  package var words: String {
    let span = first == last ? "from \(first.rfc3339)" : "from \(first.rfc3339) to \(last.rfc3339)"
    return "\(events.counted("event")) \(span)"
  }

  /// A warning not to count on these events.
  package var advice: String {
    "\(words) \(events == 1 ? "is" : "are") too old by this machine's clock: \(rule), silently and regardless of asOf, so "
      + "\"posted\" does not mean that the service keeps \(events == 1 ? "it" : "them"). \(remedy)"
  }
}
