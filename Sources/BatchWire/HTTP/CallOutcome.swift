package import BatchFoundation

/// The outcome of one call (reference guarantees 3): platforms classify answers; the reaction is the same for all.
package enum CallOutcome<Answer: Sendable, Rejection: Sendable>: Sendable {
  /// The service did what was asked.
  case answered(Answer)
  /// The service rejected the content of the request; nothing was applied except as the rejection says.
  case rejected(Rejection)
  /// No byte of the request left.
  case notSent(CallFault)
  /// The service refused the request regardless of its content.
  case refused(CallFault)
  /// The service may or may not have acted on it.
  case unknown(CallFault)

  /// The fault of a call that failed regardless of its content; nil for an answer and for a rejection.
  package var fault: CallFault? {
    switch self {
    case .answered, .rejected: nil
    case .notSent(let fault), .refused(let fault), .unknown(let fault): fault
    }
  }

  /// Nil if another attempt may help.
  package var stop: ServiceStop? { fault?.stop }

  package func map<Other>(_ change: (Answer) -> CallOutcome<Other, Rejection>) -> CallOutcome<Other, Rejection> {
    switch self {
    case .answered(let answer): change(answer)
    case .rejected(let rejection): .rejected(rejection)
    case .notSent(let fault): .notSent(fault)
    case .refused(let fault): .refused(fault)
    case .unknown(let fault): .unknown(fault)
    }
  }
}

extension CallOutcome: Equatable where Answer: Equatable, Rejection: Equatable {}

/// The outcome of sending events: all were accepted, or the data was rejected with the service's reason.
package typealias SendOutcome = CallOutcome<Acknowledgement, String>

package struct Acknowledgement: Sendable, Equatable {}

extension SendOutcome {
  package static var acknowledged: SendOutcome { .answered(Acknowledgement()) }
}

/// The reason a call failed, in the terms that determine what may happen next.
package struct CallFault: Error, Sendable, Equatable {
  /// The reason for users and the ledger, without any sent value.
  package var reason: String
  /// The pause that the service asked for.
  package var retryAfter: Milliseconds?
  /// Whether the service has too many requests at once.
  package var isThrottle: Bool
  /// Whether the service accepts no requests for now and says so: waiting is worthwhile. True for every throttle.
  package var isForNow: Bool
  /// Whether the service failed or the connection broke without a request to wait: the content may be the cause.
  package var blamesRequest: Bool
  /// Whether only a sentence gives the reason (reference decisions 59). It may quote the request; others are tried
  /// first.
  package var isSentence: Bool
  /// Set if no later request of the run can succeed.
  package var stop: ServiceStop?

  package init(
    _ reason: String, retryAfter: Milliseconds? = nil, isThrottle: Bool = false, isForNow: Bool = false,
    blamesRequest: Bool = false, isSentence: Bool = false, stop: ServiceStop? = nil
  ) {
    self.reason = reason
    self.retryAfter = retryAfter
    self.isThrottle = isThrottle
    self.isForNow = isForNow || isThrottle
    self.blamesRequest = blamesRequest
    self.isSentence = isSentence
    self.stop = stop
  }

  /// The fault of a request of which no byte left.
  package static func notSent(_ fault: HTTPFault, _ lead: String = "not sent") -> CallFault {
    let stop: ServiceStop? =
      switch fault.kind {
      case .tls, .protocolViolation: .peerProtocol
      case .invalidRequest, .authorities: .configuration
      default: nil
      }
    return CallFault("\(lead): \(fault)", blamesRequest: fault.mayBeTheRequest, stop: stop)
  }

  /// The fault of a request that left and got no complete answer.
  package static func unanswered(_ fault: HTTPFault, _ lead: String = "outcome unknown") -> CallFault {
    CallFault("\(lead): \(fault)", blamesRequest: fault.mayBeTheRequest)
  }
}
