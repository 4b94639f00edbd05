package import BatchFoundation
package import BatchHTTP

/// What is known after one bulk request, in the terms that decide what happens to its events (reference deltadna-service 3.6).
///
/// `GameDestination` makes a `SendOutcome` of it, and `DeliverySchedule` acts on that: after `busy` it tries again, as
/// often as `DeliveryTraits.mostAttempts` says.
package enum CollectOutcome: Sendable, Equatable {
  /// A 2xx: the service has the events. Whether each is valid shows later, in its event browser.
  case accepted(status: Int)
  /// A 2xx whose body says otherwise, or cannot be the service's.
  case unreadable(status: Int, why: String)
  /// A 3xx. It is never followed, because a redirected POST loses its body or its hash.
  case redirected(status: Int)
  /// 400 or 413 without `Retry-After`: something in the body is refused, or it is too long; parts of it may not be.
  case rejected(status: Int, message: ServiceWords)
  /// 401, 403 or 404: the hash, the key or the address is wrong for every body alike.
  case denied(status: Int)
  /// Any other status: nothing was taken, and a later attempt may do better.
  ///
  /// `retryAfter` is in seconds, nil if the service did not say.
  case busy(status: Int, retryAfter: Double?)
  /// No byte of the request left.
  case notSent(HTTPFault)
  /// Bytes left and no whole answer came: the service may have the events or not.
  case unanswered(HTTPFault)

  /// - Parameter now: seconds since 1970, for a `Retry-After` that is a date.
  package init(_ outcome: HTTPOutcome, now: Int64) {
    switch outcome {
    case .notSent(let fault): self = .notSent(fault)
    case .noAnswer(let fault): self = .unanswered(fault)
    case .answer(let answer): self.init(answer, now: now)
    }
  }

  private init(_ answer: HTTPAnswer, now: Int64) {
    let status = answer.status
    let retryAfter = RetryAfter.seconds(answer.retryAfter, date: answer.date, now: now)
    switch status {
    case 200..<300:
      self = answer.objection.map { .unreadable(status: status, why: $0) } ?? .accepted(status: status)
    case 300..<400: self = .redirected(status: status)
    // With a word about later it is not about the events.
    case 400 where retryAfter == nil, 413 where retryAfter == nil:
      self = .rejected(status: status, message: ServiceWords(answer.body))
    case 401, 403, 404: self = .denied(status: status)
    default: self = .busy(status: status, retryAfter: retryAfter)
    }
  }
}

extension CollectOutcome: CustomStringConvertible {
  // Without the message, which may quote the events.
  package var description: String {
    switch self {
    case .accepted(let status): "accepted with status \(status)"
    case .unreadable(let status, let why): "answered with status \(status), but \(why)"
    case .redirected(let status): "redirected with status \(status)"
    case .rejected(let status, _): "rejected with status \(status)"
    case .denied(let status): "refused with status \(status)"
    case .busy(let status, _): "answered with status \(status)"
    case .notSent(let fault): "not sent: \(fault)"
    case .unanswered(let fault): "no answer: \(fault)"
    }
  }
}
