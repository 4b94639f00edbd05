import BatchFoundation
package import BatchWire

/// What is known after a call of Engage, whose no is a fault.
package typealias ServiceOutcome<Answer: Sendable> = CallOutcome<Answer, ServiceFault>

extension ServiceOutcome where Rejection == ServiceFault {
  /// Why there is no answer, in words; nil where there is one.
  package var reason: String? {
    if case .rejected(let fault) = self { return "\(fault)" }
    return fault?.reason
  }
}

/// Why the service turns a request away before it acts on it.
enum Refusal: String {
  /// 401 also with a fresh token, or the credentials themselves were refused.
  case credentials = "the credentials were refused"
  /// 403, or a fault that says the organisation may not use the call.
  case forbidden = "access is forbidden"
  /// 429, or the sentence about too many concurrent requests.
  case throttled = "too many requests"
  /// A redirect. It is never followed, because the token would go along.
  case redirected = "redirected, which is not followed"
  /// 404, 405 or 410: there is no such service at this address.
  case noSuchService = "no such service at this address"
  /// A complete answer that says that the service did not get to it: 503, or a 4xx that is not about data; nothing of what was submitted was
  /// taken.
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
  /// The service turned the request away.
  ///
  /// - Parameters:
  ///   - retryAfter: seconds to stay away, if the service said so.
  ///   - words: the service's own, without anything that was sent.
  init(_ kind: Refusal, status: Int, retryAfter: Double? = nil, words: String? = nil, isSentence: Bool = false) {
    let wait = retryAfter.map { ", retry after \(Int($0))s" } ?? ""
    self.init(
      "\(kind.rawValue) (status \(status)\(wait))\(words.map { ": \($0)" } ?? "")",
      retryAfter: Milliseconds(seconds: retryAfter), isThrottle: kind == .throttled,
      isForNow: kind == .failing && RetryAfter.isForNow(status: status, retryAfter),
      blamesRequest: (kind == .failing || status >= 500 || isSentence) && retryAfter == nil, isSentence: isSentence,
      stop: kind.stop)
  }

  /// A status that does not say whether the request was applied: a 5xx, and for the XMLAPI 408 and 425.
  static func status(_ status: Int, retryAfter: Double?, words: String? = nil) -> CallFault {
    CallFault(
      "outcome unknown: status \(status)\(words.map { ": \($0)" } ?? "")",
      retryAfter: Milliseconds(seconds: retryAfter), isForNow: RetryAfter.isForNow(status: status, retryAfter),
      blamesRequest: retryAfter == nil)
  }

  /// A 2xx whose body cannot be the answer.
  static func unreadable(status: Int, _ why: String) -> CallFault {
    CallFault("outcome unknown: status \(status), but \(why)", blamesRequest: true)
  }

  /// The hour's calls are made.
  static func usedUp(_ wait: Double) -> CallFault {
    CallFault(
      "not sent: the calls of this hour are used up (Upload.maxCallsPerHour)", retryAfter: Milliseconds(seconds: wait),
      isForNow: true)
  }

  /// There is no token to send it with.
  static func noToken(_ failure: CallFault) -> CallFault {
    var fault = failure
    fault.reason = "not sent: \(failure.reason)"
    return fault
  }
}

extension Milliseconds {
  /// Nil for nil.
  init?(seconds: Double?) {
    guard let seconds else { return nil }
    self.init(Int64(seconds * 1000))
  }
}
