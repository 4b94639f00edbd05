package import BatchFoundation
package import BatchWire
package import GameRules

/// Collect: takes lists of events (reference deltadna-service 3).
package struct CollectService: Sendable {
  package let address: EnvironmentAddress
  let http: HTTPClient
  private let seconds: Double
  private let wallClock: @Sendable () -> Int64

  /// - Parameter timeout: the longest time for one request.
  /// - Parameter wallClock: seconds since 1970, for a `Retry-After` that is a date.
  package init(
    _ address: EnvironmentAddress, http: HTTPClient, timeout: Milliseconds, wallClock: @escaping @Sendable () -> Int64
  ) {
    self.address = address
    self.http = http
    seconds = Double(timeout.count) / 1000
    self.wallClock = wallClock
  }

  /// Sends one bulk request, once.
  ///
  /// - Parameter body: `{"eventList":[…]}`, byte for byte what is sent and what the hash is over.
  package func post(_ body: [UInt8], consent: Consent, cancellation: HTTPCancellation? = nil) -> SendOutcome {
    let request = HTTPRequest(
      .post, address.service, address.target("bulk", for: body), headers: .collect(consent), body: body,
      totalSeconds: seconds)
    return SendOutcome(collect: http.send(request, cancellation: cancellation), now: wallClock())
  }
}

extension [HTTPRequest.Header] {
  /// The headers of every request, in the order in which the SDKs set them.
  package static func collect(_ consent: Consent) -> [HTTPRequest.Header] {
    var headers = [
      HTTPRequest.Header("Content-Type", "application/json"), HTTPRequest.Header("Accept", "application/json"),
    ]
    if consent.contains(.use) { headers.append(.init("PIPL_CONSENT", "true")) }
    if consent.contains(.export) { headers.append(.init("PIPL_EXPORT", "true")) }
    return headers
  }
}
