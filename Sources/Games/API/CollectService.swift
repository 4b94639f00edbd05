package import BatchFoundation
package import BatchWire
package import GameRules

/// Collect, the service that accepts lists of events (reference deltadna-service 3).
package struct CollectService: Sendable {
  package let address: EnvironmentAddress
  let http: HTTPClient
  private let seconds: Double
  private let wallClock: @Sendable () -> Int64

  /// - Parameters:
  ///   - timeout: the maximum time for one request.
  ///   - wallClock: seconds since 1970, for a `Retry-After` that is a date.
  package init(
    _ address: EnvironmentAddress, http: HTTPClient, timeout: Milliseconds, wallClock: @escaping @Sendable () -> Int64
  ) {
    self.address = address
    self.http = http
    seconds = Double(timeout.count) / 1000
    self.wallClock = wallClock
  }

  /// Sends one bulk request, without retries. `body` is `{"eventList":[…]}`, sent and hashed as is.
  package func post(_ body: [UInt8], consent: PIPLConsent, cancellation: HTTPCancellation? = nil) -> SendOutcome {
    let request = HTTPRequest(
      .post, address.service, address.target("bulk", for: body), headers: .collect(consent), body: body,
      totalSeconds: seconds)
    return SendOutcome(collect: http.send(request, cancellation: cancellation), now: wallClock())
  }
}

extension [HTTPRequest.Header] {
  /// The headers of every request, in the order that the SDKs use.
  package static func collect(_ consent: PIPLConsent) -> [HTTPRequest.Header] {
    var headers = [
      HTTPRequest.Header("Content-Type", "application/json"), HTTPRequest.Header("Accept", "application/json"),
    ]
    if consent.contains(.use) { headers.append(.init("PIPL_CONSENT", "true")) }
    if consent.contains(.export) { headers.append(.init("PIPL_EXPORT", "true")) }
    return headers
  }
}

/// A sandbox's verdicts on the events that it accepted. The service itself reports no verdicts.
package struct SandboxVerdicts: Sendable {
  package struct Event: Sendable {
    /// `valid`, `invalid`, `outOfWindow` or `duplicate`.
    package var verdict: String
    /// The ids of an invalid event's faults.
    package var reasons: [String]
  }

  /// The events by `eventUUID` in lower case. If several events have the same id, the one that is not a duplicate is
  /// listed.
  package private(set) var events: [ByteText: Event] = [:]
  /// Whether ``events`` has all accepted events; a sandbox lists only the most recent ones.
  package private(set) var areAll: Bool

  /// Returns nil unless the body is a sandbox's response.
  init?(_ body: [UInt8]) {
    // Any server may respond at this address.
    guard let root = try? JSONNode.parse(body)["deltadna"], let listed = root["events"]?.array,
      let counts = root["verdicts"]?.members
    else { return nil }
    areAll = counts.reduce(0) { $0 + ($1.value.integer ?? 0) } == listed.count
    for entry in listed {
      guard let id = entry["eventUUID"]?.string, let verdict = entry["verdict"]?.string else { continue }
      let key = ByteText(id.lowercased())
      if verdict == "duplicate", events[key] != nil { continue }
      events[key] = Event(
        verdict: verdict, reasons: (entry["reasons"]?.array ?? []).compactMap { $0["id"]?.string })
    }
  }
}

package struct SandboxUnreachable: Error {
  package var fault: HTTPFault
}

extension CollectService {
  /// Whether the address may belong to a sandbox: plain HTTP is allowed only for connections to this machine.
  package var mayBeSandbox: Bool { address.service.origin.utf8.starts(with: "http://".utf8) }

  /// Returns the verdicts of the sandbox at the origin of the address; nil if something else responds.
  ///
  /// - Throws: ``SandboxUnreachable``.
  package func sandboxVerdicts(cancellation: HTTPCancellation) throws(SandboxUnreachable) -> SandboxVerdicts? {
    let origin: ServiceAddress
    // The origin of an address is always a valid address.
    do { origin = try ServiceAddress(address.service.origin) } catch { return nil }
    var request = HTTPRequest(.get, origin, "/sandbox/state")
    request.answerLimit = 64 << 20
    switch http.send(request, cancellation: cancellation) {
    case .answer(let answer): return answer.status == 200 ? SandboxVerdicts(answer.body) : nil
    case .notSent(let fault), .noAnswer(let fault): throw SandboxUnreachable(fault: fault)
    }
  }
}

extension SendOutcome {
  /// Derives the outcome of one bulk request (reference deltadna-service 3.6, unity 3).
  ///
  /// - Parameters:
  ///   - isIdempotent: whether the service drops repeated events. Such a service accepts events before validating them,
  ///     so any 2xx is an acknowledgement. Otherwise a 5xx other than 503 leaves open whether the events were accepted
  ///     (reference decisions 45).
  ///   - addressSettings: the settings to check if the service refuses everything; nil if the path of the address
  ///     contains a key.
  ///   - now: seconds since 1970, for a `Retry-After` that is a date.
  package init(collect outcome: HTTPOutcome, isIdempotent: Bool = true, addressSettings: String? = nil, now: Int64) {
    let answer: HTTPAnswer
    switch outcome {
    case .notSent(let fault):
      self = .notSent(.notSent(fault))
      return
    case .noAnswer(let fault):
      self = .unknown(.unanswered(fault, "no answer"))
      return
    case .answer(let whole): answer = whole
    }
    let status = answer.status
    let retryAfter = RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
    switch status {
    case 200..<300:
      guard !isIdempotent, let why = answer.objection else {
        self = .acknowledged
        return
      }
      self = .unknown(CallFault("answered with status \(status), but \(why)", blamesRequest: true))
    // Redirects are never followed, because a redirected POST loses its body or its hash.
    case 300..<400:
      self = .refused(
        CallFault("redirected with status \(status)" + (answer.redirection.map { " \($0)" } ?? ""), stop: .peerProtocol)
      )
    // The service refuses part of the body or its length; a `Retry-After` shows that the events are not to blame.
    case 400 where retryAfter == nil, 413 where retryAfter == nil:
      self = .rejected("status \(status): \(ServiceWords(answer.body).text)")
    // The hash, the key or the address is wrong, regardless of the body.
    case 401, 403, 404:
      self = .refused(
        CallFault(
          "refused with status \(status)" + (addressSettings.map { ": \($0) is wrong" } ?? ""),
          stop: status == 404 && addressSettings != nil ? .configuration : .credentials))
    default:
      let fault = CallFault(
        "answered with status \(status)", retryAfter: retryAfter.map { Milliseconds(Int64($0 * 1000)) },
        isThrottle: !isIdempotent && status == 429,
        isForNow: !isIdempotent && RetryAfter.isForNow(status: status, retryAfter),
        blamesRequest: status >= 500 && retryAfter == nil)
      self = !isIdempotent && status >= 500 && status != 503 ? .unknown(fault) : .refused(fault)
    }
  }
}
