import BatchDelivery
package import BatchFoundation
package import BatchStore
package import BatchWire
import EngageRules

/// The event submission endpoint of Engage as a destination (reference identity 6.1).
package final class EngageDestination: Destination {
  let service: EngageService
  package let form: Int
  let cancellation = HTTPCancellation()

  /// - Parameter form: 1 if each event's header also carries a numeric recipient id, as `contactId`; otherwise 0.
  package init(_ service: EngageService, form: Int = 0) {
    self.service = service
    self.form = form
  }

  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    service.submit(body, cancellation: cancellation)
  }

  package var renewals: Int { service.counters.renewals }

  package func abort() { cancellation.cancel() }
}

/// The result of reading the events that the service accepted and later rejected.
package enum RejectionReading: Sendable, Equatable {
  /// The number of entries read, how many of them are events in this store, and how many this run posted. If `isWhole`
  /// is false, the next run reads the rest.
  case read(listed: Int, found: Int, ofRun: Int = 0, isWhole: Bool = true)
  /// The list could not be read to its end; the next run continues after the last page read.
  case unavailable(String, ServiceStop?)
}

extension EngageDestination {
  private static let markName = "engage event errors"
  private static let mostPages = 1000
  private static let longestReading = Duration.seconds(120)

  /// Reads the service's list of rejected events from where the last run stopped, and marks those in this store
  /// (reference identity 6.1). Stops after 1000 pages or two minutes, or when the delivery is aborted.
  ///
  /// - Throws: ``StoreError``; failures of the service are ``RejectionReading/unavailable(_:_:)``.
  package func readRejections(into store: EventStore, run: RunID) throws -> RejectionReading {
    try readRejections(after: store.ledger.mark(Self.markName)) {
      try store.ledger.reject($0, mark: (Self.markName, $1), run: run)
    }
  }

  /// Passes `body` each event that a run would now find to be rejected, with the service's message. Writes nothing;
  /// throws like ``readRejections(into:run:)``.
  package func unreadRejections(
    in store: EventStore, _ body: (EventID, String) -> Void
  ) throws -> RejectionReading {
    try readRejections(after: store.ledger.mark(Self.markName)) { rejections, _ in
      let found = try rejections.count { rejection in
        guard let id = try store.ledger.postedEvent(like: rejection) else { return false }
        body(id, rejection.reason)
        return true
      }
      return (found, 0)
    }
  }

  /// - Parameter take: Receives a page's entries and last number; returns how many are in the store and how many are
  ///   from this run.
  private func readRejections(
    after mark: String?, _ take: ([LateRejection], String) throws -> (found: Int, ofRun: Int)
  ) throws -> RejectionReading {
    var last = mark ?? "0"
    var listed = 0
    var (found, ofRun) = (0, 0)
    var pages = 0
    let clock = ContinuousClock()
    let end = clock.now + Self.longestReading
    while true {
      if pages == Self.mostPages || clock.now >= end || cancellation.isCancelled {
        return .read(listed: listed, found: found, ofRun: ofRun, isWhole: false)
      }
      pages += 1
      let outcome = service.eventErrors(filter: "errorId=\(last)", cancellation: cancellation)
      guard case .answered(let errors) = outcome else { return .unavailable(outcome.reason ?? "", outcome.stop) }
      guard let newest = errors.last?.id, !newest.isEmpty, newest != last else {
        return .read(listed: listed, found: found, ofRun: ofRun)
      }
      last = newest
      listed += errors.count
      let taken = try take(errors.compactMap(Self.rejection), last)
      found += taken.found
      ofRun += taken.ofRun
    }
  }

  /// Returns an entry's event in the wire format; nil if there is none or it cannot be read.
  private static func rejection(_ error: EventError) -> LateRejection? {
    guard let event = error.event, let code = event["eventTypeCode"]?.stringOrNumber,
      let stamp = event["eventTimestamp"]?.string, let timestamp = Instant.parse(rfc3339: stamp),
      let attributes = event["attributes"]?.array
    else { return nil }
    let arena = Arena(blockSize: 1 << 14)
    var list: [Attribute] = []
    for attribute in attributes {
      guard let name = attribute["name"]?.stringOrNumber, let value = attribute["value"]?.stringOrNumber else {
        return nil
      }
      list.append(Attribute(arena.text(name), arena.text(value)))
    }
    var json = ByteBuffer()
    EventJSON.append(arena.text(code), timestamp, list, to: &json)
    return LateRejection(timestamp: timestamp, json: json.array, reason: error.reason.text)
  }
}

/// An event that the service accepted and later rejected (reference identity 6.1).
package struct EventError: Sendable {
  /// The service's error number; empty if there is none.
  package var id: String
  /// The service's message; it may quote the event.
  package var reason: ServiceWords
  /// The event as the service returns it; nil if it returns none.
  package var event: JSONNode?

  /// Reads a response from the errors endpoint. Its format is undocumented, so an array is sought at the root and under
  /// `data`, `errors` and `events`. Returns nil if there is no array.
  package static func list(_ root: JSONNode) -> [EventError]? {
    let places = [root, root["data"], root["data"]?["errors"], root["data"]?["events"], root["errors"], root["events"]]
    guard let entries = places.compactMap({ $0?.array }).first else { return nil }
    return entries.map { entry in
      EventError(
        id: text(entry, ["errorId", "id"]),
        reason: ServiceWords(text(entry, ["errorMessage", "message", "description", "reason", "error"])),
        event: event(in: entry))
    }
  }

  private static func text(_ entry: JSONNode, _ keys: [String]) -> String {
    keys.lazy.compactMap { entry[$0]?.stringOrNumber }.first ?? ""
  }

  private static func event(in entry: JSONNode) -> JSONNode? {
    for key in ["event", "payload", "request"] {
      guard let node = entry[key] else { continue }
      if node.members != nil { return node }
      // Some services return the event as a string; if it is not JSON, there is no event.
      if let text = node.string { return try? JSONNode.parse(Array(text.utf8)) }
    }
    return entry["eventTypeCode"] == nil ? nil : entry
  }
}
