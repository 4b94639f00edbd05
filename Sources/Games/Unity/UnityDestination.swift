import BatchDelivery
package import BatchFoundation
package import BatchWire

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
      return SendOutcome(
        collect: outcome, isIdempotent: false, addressSettings: UnityAddress.settings,
        now: Instant.now.milliseconds / 1000)
    }
  }
}
