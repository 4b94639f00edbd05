import BatchFoundation
package import BatchWire

extension SendOutcome {
  /// Derives the outcome of one bulk request (reference deltadna-service 3.6, unity 3).
  ///
  /// - Parameters:
  ///   - isIdempotent: whether the service drops repeated events. It then accepts events before checking them, so that
  ///     any 2xx is an acknowledgment. Otherwise a 5xx but 503 leaves open whether it accepted them
  ///     (reference decisions 45).
  ///   - addressSettings: the settings to check if a service refuses everything; nil for one with a key in its path.
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
    // The hash, the key or the address is wrong for every body.
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
