package import BatchFoundation
package import BatchWire
package import GameRules

/// A service that a game's requests go to: deltaDNA's Collect and Engage, or the Collect API of Unity Analytics
/// (reference deltadna-service 3 and 4, unity 2).
package struct GameEndpoint: Sendable {
  package let address: EnvironmentAddress
  let http: HTTPClient
  private let seconds: Double

  /// - Parameter timeout: the maximum time for one request.
  package init(_ address: EnvironmentAddress, http: HTTPClient, timeout: Milliseconds) {
    self.address = address
    self.http = http
    seconds = Double(timeout.count) / 1000
  }

  /// Sends one request, without retries. `body` is sent and hashed as is.
  ///
  /// - Parameters:
  ///   - call: the last part of the path; nil for none.
  ///   - answerLimit: the maximum size of a response in bytes; nil for the client's limit.
  package func post(
    _ body: [UInt8], to call: String? = nil, consent: PIPLConsent, answerLimit: Int? = nil,
    cancellation: HTTPCancellation? = nil
  ) -> HTTPOutcome {
    // The headers are in the order that the SDKs use.
    var headers = [
      HTTPRequest.Header("Content-Type", "application/json"), HTTPRequest.Header("Accept", "application/json"),
    ]
    if consent.contains(.use) { headers.append(.init("PIPL_CONSENT", "true")) }
    if consent.contains(.export) { headers.append(.init("PIPL_EXPORT", "true")) }
    var request = HTTPRequest(
      .post, address.service, address.target(call, for: body), headers: headers, body: body, totalSeconds: seconds)
    request.answerLimit = answerLimit
    return http.send(request, cancellation: cancellation)
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
        isTemporary: !isIdempotent && RetryAfter.isTemporary(status: status, retryAfter),
        blamesRequest: status >= 500 && retryAfter == nil)
      self = !isIdempotent && status >= 500 && status != 503 ? .unknown(fault) : .refused(fault)
    }
  }
}

/// A sandbox's verdicts on the events that it accepted. The service itself reports no verdicts.
struct SandboxVerdicts: Sendable {
  struct Event: Sendable {
    /// `valid`, `invalid`, `outOfWindow` or `duplicate`.
    var verdict: String
    /// The ids of an invalid event's faults.
    var reasons: [String]
  }

  /// The events by `eventUUID` in lower case. If several events have the same id, the one that is not a duplicate is
  /// listed.
  private(set) var events: [ByteText: Event] = [:]
  /// Whether ``events`` has all accepted events; a sandbox lists only the most recent ones.
  private(set) var areAll: Bool

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
