package import BatchFoundation
package import BatchHTTP

/// What is known after a call, in the terms that decide what may happen next (reference guarantees 3).
package enum CallOutcome<Answer: Sendable>: Sendable {
  /// The service did what was asked.
  case answered(Answer)
  /// The service read the request and said no; nothing was applied, or what the fault's class says.
  case failed(ServiceFault)
  /// No byte of the request left.
  case notSent(NotSentReason)
  /// The service turned the request away before acting on it.
  case refused(Refusal)
  /// The service may have acted on it or not.
  case unknown(UnknownReason)

  /// The same with the service's words as everybody may read them.
  ///
  /// - Parameter sent: what the request said, which the words may quote.
  func withoutValues(of sent: [UInt8]) -> CallOutcome {
    switch self {
    case .failed(let fault): return .failed(fault.withoutValues(of: sent))
    case .refused(var refusal):
      refusal.words = refusal.words.map { ServiceWords.withoutValues($0, of: sent) }
      return .refused(refusal)
    case .unknown(.status(let status, let retryAfter, let words)):
      let shown = words.map { ServiceWords.withoutValues($0, of: sent) }
      return .unknown(.status(status, retryAfter: retryAfter, words: shown))
    case .answered, .notSent, .unknown: return self
    }
  }

  package func map<Other>(_ change: (Answer) -> CallOutcome<Other>) -> CallOutcome<Other> {
    switch self {
    case .answered(let answer): change(answer)
    case .failed(let fault): .failed(fault)
    case .notSent(let reason): .notSent(reason)
    case .refused(let refusal): .refused(refusal)
    case .unknown(let reason): .unknown(reason)
    }
  }
}

/// What the service says of submitted events.
package enum Submission: Sendable, Equatable {
  /// A 2xx. The service checks the events later; those it refuses are read with ``EngageService/eventErrors(filter:cancellation:)``.
  case acknowledged(status: Int)
  /// The service refused the body for what is in it; nothing of it was taken.
  case rejected(Rejection)
}

package enum NotSentReason: Sendable, Equatable {
  /// No connection, no TLS, or cancelled before the first byte.
  case transport(HTTPFault)
  /// There is no token to send it with.
  case noToken(TokenFailure)
  /// The request holds a character that XML cannot carry.
  case unwritable(String)
}

package struct Refusal: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// 401 also with a fresh token, or the credentials themselves were refused.
    case credentials
    /// 403, or a fault that says the organisation may not use the call.
    case forbidden
    /// 429, or the text about too many concurrent requests.
    case throttled
    /// A redirect. It is never followed, because the token would go along.
    case redirected
    /// 404, 405 or 410: there is no such service at this address.
    case noSuchService
    /// A complete answer that says that the service did not get to it: 503, or a 4xx that is not about data; nothing of what was submitted was
    /// taken.
    case failing
  }

  package var kind: Kind
  package var status: Int
  /// Seconds to stay away, if the service said so.
  package var retryAfter: Double?
  /// The service's own words, without anything that was sent; nil if it said nothing.
  package var words: String?

  package init(_ kind: Kind, status: Int, retryAfter: Double? = nil, words: ServiceWords? = nil) {
    self.kind = kind
    self.status = status
    self.retryAfter = retryAfter
    self.words = words?.text
  }

  /// Whether both mean the same; the words are for people.
  package static func == (left: Refusal, right: Refusal) -> Bool {
    left.kind == right.kind && left.status == right.status && left.retryAfter == right.retryAfter
  }

  /// The service says that it takes no request for now.
  package var isForNow: Bool {
    kind == .throttled || kind == .failing && RetryAfter.isForNow(status: status, retryAfter)
  }
}

/// Why the service refused a body.
package struct Rejection: Sendable, Equatable {
  package var status: Int
  /// The service's own words, shortened; they may quote what was sent, so they belong into quarantine and not into logs.
  package var message: String

  package init(status: Int, message: ServiceWords) {
    self.status = status
    self.message = message.text
  }
}

package enum UnknownReason: Sendable, Equatable {
  /// The connection was lost, time was up, or the run was cancelled, after bytes had left.
  case transport(HTTPFault)
  /// A status that does not say whether the request was applied: a 5xx, and for the XMLAPI 408 and 425. The words are the service's.
  case status(Int, retryAfter: Double?, words: String? = nil)
  /// A 2xx whose body cannot be the answer.
  case unreadable(status: Int, why: String)
}

/// Something that no later attempt of this run can change.
package enum RunStop: Sendable, Equatable {
  /// Exit code 77.
  case credentials
  /// Exit code 76: TLS or the protocol was refused.
  case peerProtocol
  /// Exit code 78: the address or a path is wrong.
  case configuration

  /// How a run ends because of it (reference command-line 4).
  package var exit: RunExit {
    switch self {
    case .credentials: .credentialsRefused
    case .peerProtocol: .protocolRefused
    case .configuration: .configuration
    }
  }
}

extension Refusal {
  package var stop: RunStop? {
    switch kind {
    case .credentials, .forbidden: .credentials
    case .redirected: .peerProtocol
    case .noSuchService: .configuration
    case .throttled, .failing: nil
    }
  }
}

extension NotSentReason {
  package var stop: RunStop? {
    switch self {
    case .transport(let fault):
      switch fault.kind {
      case .tls, .protocolViolation: .peerProtocol
      case .invalidRequest, .authorities: .configuration
      default: nil
      }
    case .noToken(let failure): failure.stop
    case .unwritable: nil
    }
  }
}

extension CallOutcome {
  /// Why there is no answer, in words; nil where there is one.
  package var reason: String? {
    switch self {
    case .answered: nil
    case .failed(let fault): "\(fault)"
    case .notSent(let reason): "\(reason)"
    case .refused(let refusal): "\(refusal)"
    case .unknown(let reason): "\(reason)"
    }
  }

  /// Nil where another attempt may help.
  package var stop: RunStop? {
    switch self {
    case .refused(let refusal): refusal.stop
    case .notSent(let reason): reason.stop
    case .answered, .failed, .unknown: nil
    }
  }
}

extension CallOutcome: Equatable where Answer: Equatable {}
