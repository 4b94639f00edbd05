package import BatchFoundation

/// Events that a run sends although its service drops them for their age, whatever it answers.
package struct OutdatedEvents: Sendable, Equatable, Codable {
  package let events: Int
  package let first: Instant
  package let last: Instant
  /// What the service does, such as "a service drops events that are older than 31 days".
  package let rule: String
  /// What there is for older events.
  package let remedy: String

  package init(events: Int, first: Instant, last: Instant, rule: String, remedy: String) {
    self.events = events
    self.first = first
    self.last = last
    self.rule = rule
    self.remedy = remedy
  }

  /// Those of both, of one service.
  package func adding(_ other: OutdatedEvents) -> OutdatedEvents {
    OutdatedEvents(
      events: events + other.events, first: min(first, other.first), last: max(last, other.last), rule: rule,
      remedy: remedy)
  }

  /// How many, of which time.
  package var words: String {
    let span = first == last ? "of \(first.rfc3339)" : "of \(first.rfc3339) to \(last.rfc3339)"
    return "\(events.counted("event")) \(span)"
  }

  /// What somebody has to know before counting on them.
  package var advice: String {
    "\(words) \(events == 1 ? "is" : "are") too old by the clock of this machine: \(rule), without a word and whatever asOf says, so that "
      + "\"posted\" does not mean that the service keeps \(events == 1 ? "it" : "them"). \(remedy)"
  }
}
