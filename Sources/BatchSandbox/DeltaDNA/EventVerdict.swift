import BatchFoundation

/// The sandbox's verdict on one event, as the service's event browser shows it (reference deltadna-service 3.7, 6.3).
package struct EventVerdict: Sendable, Codable, Equatable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case valid, invalid
    /// An event with this `eventUUID` was already received.
    case duplicate
    /// The event was too old, or too far in the future, when it arrived.
    case outOfWindow
  }

  package struct Reason: Sendable, Codable, Hashable {
    package var id: String
    /// A JSON Pointer into the event.
    package var path: String
  }

  package var verdict: Kind
  /// The value in the event; nil if it is missing or not a string. The same holds for the next four.
  package var eventName: String?
  package var userID: String?
  package var sessionID: String?
  package var eventUUID: String?
  package var eventTimestamp: String?
  /// Empty unless the event is invalid.
  package var reasons: [Reason] = []
  /// The request's number in the ledger.
  package var request = 0
}

/// The verdicts on all events so far.
package struct VerdictLog: Sendable, Codable {
  package private(set) var counts: [String: Int] = [:]
  package private(set) var reasons: [String: Int] = [:]
  /// The number of valid events by name.
  package private(set) var valid: [String: Int] = [:]
  /// The most recent verdicts, in order of arrival.
  package private(set) var events: [EventVerdict] = []
  /// The digests of the `eventUUID`s received.
  private var seen: Set<UInt64> = []
  private var limit: Int

  /// - Parameter limit: the maximum number of verdicts listed; the counts include all events.
  package init(limit: Int) { self.limit = limit }

  mutating func add(_ verdict: EventVerdict, request: Int) {
    counts[verdict.verdict.rawValue, default: 0] += 1
    for reason in verdict.reasons { reasons[reason.id, default: 0] += 1 }
    if verdict.verdict == .valid, let name = verdict.eventName { valid[name, default: 0] += 1 }
    guard limit > 0 else { return }
    if events.count >= limit * 2 { events.removeFirst(events.count - limit) }
    var verdict = verdict
    verdict.request = request
    events.append(verdict)
  }

  /// Records an `eventUUID`; returns false if it was already received.
  mutating func insert(_ eventUUID: Text) -> Bool {
    seen.insert(BodyDigest(eventUUID.lazy.map(Text.lowered)).value).inserted
  }

  /// Replaces the contents with those of a state file, but keeps this log's limit.
  package mutating func restore(_ saved: VerdictLog) {
    let limit = limit
    self = saved
    self.limit = limit
  }

  package struct Inspection: Encodable {
    var verdicts: [String: Int]
    var reasons: [String: Int]
    var validByName: [String: Int]
    var events: [EventVerdict]
  }

  /// The log as `/sandbox/state` shows it.
  package var inspection: Inspection {
    var verdicts = Dictionary(uniqueKeysWithValues: EventVerdict.Kind.allCases.map { ($0.rawValue, 0) })
    verdicts.merge(counts) { _, counted in counted }
    return Inspection(
      verdicts: verdicts, reasons: reasons, validByName: valid, events: Array(events.suffix(limit)))
  }
}
