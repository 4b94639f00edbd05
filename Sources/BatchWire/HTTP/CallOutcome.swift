package import BatchFoundation

/// What is known after one call (reference guarantees 3): a platform classifies an answer, and what is done then is the same for all.
package enum CallOutcome<Answer: Sendable, Rejection: Sendable>: Sendable {
  /// The service did what was asked.
  case answered(Answer)
  /// The service read the request and said no to what is in it; nothing was applied, or what the rejection says.
  case rejected(Rejection)
  /// No byte of the request left.
  case notSent(CallFault)
  /// The service turned the request away, whatever was in it.
  case refused(CallFault)
  /// The service may have acted on it or not.
  case unknown(CallFault)

  /// Why it came to nothing, whatever is in the request; nil for an answer and for a rejection.
  package var fault: CallFault? {
    switch self {
    case .answered, .rejected: nil
    case .notSent(let fault), .refused(let fault), .unknown(let fault): fault
    }
  }

  /// Nil where another attempt may help.
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

/// The service took every event of a request, or refused the data in its own words.
package typealias SendOutcome = CallOutcome<Acknowledgement, String>

/// What a service says of events that it took.
package struct Acknowledgement: Sendable, Equatable {}

extension SendOutcome {
  package static var acknowledged: SendOutcome { .answered(Acknowledgement()) }
}

/// Why a call came to nothing, in the terms that decide what may happen next.
package struct CallFault: Error, Sendable, Equatable {
  /// For people and for the ledger; without any value that was sent.
  package var reason: String
  /// How long the service asked to stay away.
  package var retryAfter: Milliseconds?
  /// The service has too many requests at once.
  package var isThrottle: Bool
  /// The service takes no request for now, and says so: it is worth waiting for. Every throttle is that too.
  package var isForNow: Bool
  /// The service failed at the request, or its connection broke, without a word to stay away: it may be what is in the request.
  package var blamesRequest: Bool
  /// A sentence alone says what it means (reference decisions 59): it may be quoted from the request, so others are asked first.
  package var isSentence: Bool
  /// Set where no later request of the run can do better.
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

  /// No byte of a request left.
  package static func notSent(_ fault: HTTPFault, _ lead: String = "not sent") -> CallFault {
    let stop: ServiceStop? =
      switch fault.kind {
      case .tls, .protocolViolation: .peerProtocol
      case .invalidRequest, .authorities: .configuration
      default: nil
      }
    return CallFault("\(lead): \(fault)", blamesRequest: fault.mayBeTheRequest, stop: stop)
  }

  /// Bytes left, and no whole answer came.
  package static func unanswered(_ fault: HTTPFault, _ lead: String = "outcome unknown") -> CallFault {
    CallFault("\(lead): \(fault)", blamesRequest: fault.mayBeTheRequest)
  }
}
