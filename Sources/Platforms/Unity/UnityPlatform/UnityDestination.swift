import BatchDelivery
package import BatchFoundation
package import BatchHTTP
import DeltaDNAAPI
package import DeltaDNAPlatform

extension GameDestination {
  /// The Collect API of Unity Analytics (reference unity 3).
  ///
  /// Unlike deltaDNA's Collect it promises nothing about an `eventUUID` that comes twice, so a lost answer leaves doubt.
  ///
  /// - Parameters:
  ///   - retries: how often a request is repeated at most.
  ///   - timeout: the longest time for one request.
  package convenience init(_ address: UnityAddress, http: HTTPClient, retries: Int, timeout: Milliseconds) {
    let seconds = Double(timeout.count) / 1000
    self.init(isIdempotent: false, retries: retries) { body, consent, cancellation in
      let request = HTTPRequest(
        .post, address.service, address.target, headers: .collect(consent), body: body, totalSeconds: seconds)
      let outcome = http.send(request, cancellation: cancellation)
      return SendOutcome(unity: CollectOutcome(outcome, now: Instant.now.milliseconds / 1000))
    }
  }
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
