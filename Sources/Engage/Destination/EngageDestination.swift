import BatchDelivery
package import BatchWire

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
