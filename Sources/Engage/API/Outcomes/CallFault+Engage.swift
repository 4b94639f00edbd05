import BatchFoundation
package import BatchWire

/// The outcome of a call to Engage; a rejection is a ``ServiceFault``.
package typealias ServiceOutcome<Answer: Sendable> = CallOutcome<Answer, ServiceFault>

extension ServiceOutcome where Rejection == ServiceFault {
  /// The reason why there is no usable response; nil if there is one.
  package var reason: String? {
    if case .rejected(let fault) = self { return "\(fault)" }
    return fault?.reason
  }
}

/// The reasons for which the service may refuse a request before acting on it.
enum Refusal: String {
  /// A 401 for a fresh token, or refused credentials.
  case credentials = "the credentials were refused"
  /// A 403, or a fault that says the organization may not use the call.
  case forbidden = "access is forbidden"
  /// A 429, or the sentence about too many concurrent requests.
  case throttled = "too many requests"
  /// A redirect; never followed, because the token would be sent along.
  case redirected = "redirect not followed"
  /// A 404, 405 or 410.
  case noSuchService = "no such service at this address"
  /// A complete response that says the service did not process the request: 503, or a 4xx that is not about data. No
  /// event was accepted.
  case failing = "the service failed"

  fileprivate var stop: ServiceStop? {
    switch self {
    case .credentials, .forbidden: .credentials
    case .redirected: .peerProtocol
    case .noSuchService: .configuration
    case .throttled, .failing: nil
    }
  }
}

extension CallFault {
  /// Creates the fault for a refusal. `retryAfter` is the requested pause in seconds; `words` contains nothing from the
  /// request.
  init(_ kind: Refusal, status: Int, retryAfter: Double? = nil, words: String? = nil, isSentence: Bool = false) {
    let wait = retryAfter.map { ", retry after \(Int($0))s" } ?? ""
    self.init(
      "\(kind.rawValue) (status \(status)\(wait))\(words.map { ": \($0)" } ?? "")",
      retryAfter: Milliseconds(seconds: retryAfter), isThrottle: kind == .throttled,
      isTemporary: kind == .failing && RetryAfter.isTemporary(status: status, retryAfter),
      blamesRequest: (kind == .failing || status >= 500 || isSentence) && retryAfter == nil, isSentence: isSentence,
      stop: kind.stop)
  }

  /// A status that leaves open whether the request was applied: a 5xx and, except for events, some 4xx such as 408.
  static func status(_ status: Int, retryAfter: Double?, words: String? = nil) -> CallFault {
    CallFault(
      "outcome unknown: status \(status)\(words.map { ": \($0)" } ?? "")",
      retryAfter: Milliseconds(seconds: retryAfter), isTemporary: RetryAfter.isTemporary(status: status, retryAfter),
      blamesRequest: retryAfter == nil)
  }

  /// A 2xx whose body does not confirm success: it cannot be read, is not the service's, or reports errors.
  static func unreadable(status: Int, _ why: String) -> CallFault {
    CallFault("outcome unknown: status \(status), but \(why)", blamesRequest: true)
  }

  /// The job's limit on calls per hour is reached.
  static func usedUp(_ wait: Double) -> CallFault {
    CallFault(
      "not sent: this hour's calls are used up (Upload.maxCallsPerHour)", retryAfter: Milliseconds(seconds: wait),
      isTemporary: true)
  }

  /// The request was not sent because there is no token.
  static func noToken(_ failure: CallFault) -> CallFault {
    var fault = failure
    fault.reason = "not sent: \(failure.reason)"
    return fault
  }
}

extension Milliseconds {
  init?(seconds: Double?) {
    guard let seconds else { return nil }
    self.init(Int64(seconds * 1000))
  }
}
