package import BatchDelivery
package import BatchFoundation
package import BatchHTTP
import DeltaDNAAPI
import DeltaDNAEvents
import DeltaDNAPlatform

/// The Collect API of Unity Analytics as a destination (reference unity 3).
///
/// Unlike deltaDNA's Collect it promises nothing about an `eventUUID` that comes twice, so a lost answer leaves doubt.
package final class UnityDestination: Destination {
  private let address: UnityAddress
  private let http: HTTPClient
  private let retries: Int
  private let seconds: Double
  private let cancellation = HTTPCancellation()

  /// - Parameters:
  ///   - retries: how often a request is repeated at most.
  ///   - timeout: the longest time for one request.
  package init(_ address: UnityAddress, http: HTTPClient, retries: Int, timeout: Milliseconds) {
    self.address = address
    self.http = http
    self.retries = retries
    seconds = Double(timeout.count) / 1000
  }

  package var traits: DeliveryTraits {
    DeliveryTraits(isIdempotent: false, isOrdered: true, lanes: 8, mostAttempts: retries + 1)
  }

  package var form: Int { 0 }

  /// - Parameter group: the raw value of the ``Consent`` under which the events were recorded.
  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let request = HTTPRequest(
      .post, address.service, address.target, headers: .collect(Consent(rawValue: UInt8(truncatingIfNeeded: group))),
      body: body, totalSeconds: seconds)
    let outcome = http.send(request, cancellation: cancellation)
    return SendOutcome(unity: CollectOutcome(outcome, now: Instant.now.milliseconds / 1000))
  }

  package func abort() { cancellation.cancel() }
}

extension SendOutcome {
  /// What differs from Collect of deltaDNA: a 404 is an address that the configuration has wrong, because no key is part of it, and what
  /// does not say whether events were taken leaves doubt.
  init(unity outcome: CollectOutcome) {
    switch outcome {
    case .unreadable: self = .unknown(SendFault("\(outcome)", countsAgainstChunk: true))
    case .denied(let status):
      self = .refused(
        SendFault(
          "\(outcome): \(UnityAddress.settings) is wrong", stop: status == 404 ? .configuration : .credentials))
    case .busy(let status, let retryAfter):
      let fault = SendFault(
        "\(outcome)", retryAfter: retryAfter.map { Milliseconds(Int64($0 * 1000)) }, isThrottle: status == 429,
        isForNow: RetryAfter.isForNow(status: status, retryAfter),
        countsAgainstChunk: status >= 500 && retryAfter == nil)
      // Another failure than 503 does not say whether the events were taken (reference decisions 45).
      self = status >= 500 && status != 503 ? .unknown(fault) : .refused(fault)
    default: self.init(outcome)
    }
  }
}
