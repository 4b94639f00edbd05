import BatchDelivery
import BatchFoundation
package import BatchStore
package import BatchWire
import EngageRules

/// Engage's event submission as a destination (reference identity 6.1).
package final class EngageDestination: Destination {
  let service: EngageService
  private let sendsContactID: Bool
  let cancellation = HTTPCancellation()

  /// - Parameter sendsContactID: whether a numeric recipient id also stands in each event's header, as `contactId`.
  package init(_ service: EngageService, sendsContactID: Bool = false) {
    self.service = service
    self.sendsContactID = sendsContactID
  }

  package var form: Int { Self.form(sendsContactID: sendsContactID) }

  package static func form(sendsContactID: Bool) -> Int { sendsContactID ? 1 : 0 }

  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    service.submit(body, cancellation: cancellation)
  }

  package var renewals: Int { service.counters.renewals }

  package func abort() { cancellation.cancel() }
}

/// What came of asking for events that the service took and refused afterwards.
package enum RejectionReading: Sendable, Equatable {
  /// So many were listed, so many of them are events of this store, and so many of those this run posted. The rest is read by the next
  /// run if there is more.
  case read(listed: Int, found: Int, ofRun: Int = 0, isWhole: Bool = true)
  /// The list could not be had; the next run asks again from the same place.
  case unavailable(String, ServiceStop?)
}

extension EngageDestination {
  private static let markName = "engage event errors"
  private static let mostPages = 1000
  private static let longestReading = Duration.seconds(120)

  /// Reads the service's list of refused events from where the last run stopped, and sets those of this store aside
  /// (reference identity 6.1). Ends after a while however long the list is, and when the delivery is told to end.
  package func readRejections(into store: EventStore, run: RunID) throws -> RejectionReading {
    try readRejections(after: store.ledger.mark(Self.markName)) {
      try store.ledger.reject($0, mark: (Self.markName, $1), run: run)
    }
  }

  /// What a run would find now: each event of this store that the service took and refused afterwards goes to `body` with the
  /// service's words. Nothing is noted.
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

  /// - Parameter take: given the entries of a page and the number of the last; how many are events of the store, and of this run.
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

  /// The event of an entry in the form of the wire; nil for an entry without one that can be read.
  private static func rejection(_ error: EventError) -> LateRejection? {
    guard let event = error.event, let code = text(event["eventTypeCode"]),
      let stamp = event["eventTimestamp"]?.string, let timestamp = Instant.parse(rfc3339: stamp),
      let attributes = event["attributes"]?.array
    else { return nil }
    let arena = Arena(blockSize: 1 << 14)
    var list: [Attribute] = []
    for attribute in attributes {
      guard let name = text(attribute["name"]), let value = text(attribute["value"]) else { return nil }
      list.append(Attribute(arena.text(name), arena.text(value)))
    }
    var json = ByteBuffer()
    EventJSON.append(arena.text(code), timestamp, list, to: &json)
    return LateRejection(timestamp: timestamp, json: json.array, reason: error.reason.text)
  }

  private static func text(_ node: JSONNode?) -> String? {
    switch node?.value {
    case .string(let text), .number(let text): text
    default: nil
    }
  }
}
