package import BatchDelivery
import BatchFoundation
import BatchHTTP
package import DeltaDNAAPI
import DeltaDNAEvents

/// Collect as a destination (reference deltadna 8).
///
/// The service drops the second event of one `eventUUID`, so sending again after a lost answer makes no duplicates; and it expects
/// events in the order in which they happened.
package final class CollectDestination: Destination {
  private let service: CollectService
  private let retries: Int
  private let cancellation = HTTPCancellation()

  /// - Parameter retries: how often a request is repeated at most.
  package init(_ service: CollectService, retries: Int) {
    self.service = service
    self.retries = retries
  }

  package var traits: DeliveryTraits {
    DeliveryTraits(isIdempotent: true, isOrdered: true, lanes: 8, mostAttempts: retries + 1)
  }

  package var form: Int { 0 }

  /// - Parameter group: the raw value of the ``Consent`` under which the events were recorded.
  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let consent = Consent(rawValue: UInt8(truncatingIfNeeded: group))
    return SendOutcome(service.post(body, consent: consent, cancellation: cancellation))
  }

  package func abort() { cancellation.cancel() }
}

extension SendOutcome {
  package init(_ outcome: CollectOutcome) {
    switch outcome {
    // The service takes events before it looks at them: whatever the body, a 2xx is its word (reference deltadna 8).
    case .accepted, .unreadable: self = .acknowledged
    case .rejected(let status, let message): self = .rejected("status \(status): \(message.text)")
    case .redirected: self = .refused(SendFault("\(outcome)", stop: .peerProtocol))
    case .denied: self = .refused(SendFault("\(outcome)", stop: .credentials))
    case .busy(let status, let seconds):
      self = .refused(
        SendFault(
          "\(outcome)", retryAfter: seconds.map { Milliseconds(Int64($0 * 1000)) },
          countsAgainstChunk: status >= 500 && seconds == nil))
    case .notSent(let fault):
      self = .notSent(
        SendFault("\(outcome)", countsAgainstChunk: fault.mayBeTheRequest, stop: Self.stop(of: fault)))
    case .unanswered(let fault):
      self = .unknown(SendFault("\(outcome)", countsAgainstChunk: fault.mayBeTheRequest))
    }
  }

  /// What no later attempt of the run can change.
  private static func stop(of fault: HTTPFault) -> DeliveryStop? {
    switch fault.kind {
    case .tls: .peerProtocol
    case .invalidRequest: .configuration
    default: nil
    }
  }
}
