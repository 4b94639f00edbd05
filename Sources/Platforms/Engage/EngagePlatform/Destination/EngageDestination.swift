package import BatchDelivery
import BatchFoundation
import BatchHTTP
package import EngageAPI

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
    SendOutcome(service.submit(body, cancellation: cancellation))
  }

  package var renewals: Int { service.counters.renewals }

  package func abort() { cancellation.cancel() }
}

extension SendOutcome {
  init(_ outcome: CallOutcome<Submission>) {
    let stop = outcome.stop.map(DeliveryStop.init)
    switch outcome {
    case .answered(.acknowledged): self = .acknowledged
    case .notSent(let reason):
      var fault = SendFault(reason.description, stop: stop)
      switch reason {
      case .transport(let broken): fault.countsAgainstChunk = broken.mayBeTheRequest
      case .noToken(let failure):
        fault.retryAfter = Milliseconds(seconds: failure.retryAfter)
        fault.isForNow = failure.isForNow
      case .unwritable: break
      }
      self = .notSent(fault)
    case .refused(let refusal):
      self = .refused(
        SendFault(
          refusal.description, retryAfter: Milliseconds(seconds: refusal.retryAfter),
          isThrottle: refusal.kind == .throttled, isForNow: refusal.isForNow,
          countsAgainstChunk: (refusal.kind == .failing || refusal.status >= 500) && refusal.retryAfter == nil,
          stop: stop))
    case .answered(.rejected(let rejection)): self = .rejected("status \(rejection.status): \(rejection.message)")
    case .failed(let fault): self = .rejected("status 200: \(fault.message)")
    case .unknown(let reason):
      var fault = SendFault(reason.description, stop: stop)
      switch reason {
      case .transport(let broken): fault.countsAgainstChunk = broken.mayBeTheRequest
      case .status(let status, let retryAfter, _):
        fault.retryAfter = Milliseconds(seconds: retryAfter)
        fault.isForNow = RetryAfter.isForNow(status: status, retryAfter)
        fault.countsAgainstChunk = retryAfter == nil
      case .unreadable: fault.countsAgainstChunk = true
      }
      self = .unknown(fault)
    }
  }
}

extension DeliveryStop {
  fileprivate init(_ stop: RunStop) {
    switch stop {
    case .credentials: self = .credentials
    case .peerProtocol: self = .peerProtocol
    case .configuration: self = .configuration
    }
  }
}

extension Milliseconds {
  /// Nil for nil.
  fileprivate init?(seconds: Double?) {
    guard let seconds else { return nil }
    self.init(Int64(seconds * 1000))
  }
}
