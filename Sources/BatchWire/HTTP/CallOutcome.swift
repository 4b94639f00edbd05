package import BatchFoundation

/// The outcome of one call (reference guarantees 3). A platform classifies its service's responses in this way; the
/// reaction to each outcome is the same for all platforms.
package enum CallOutcome<Answer: Sendable, Rejection: Sendable>: Sendable {
  /// The service did what was requested.
  case answered(Answer)
  /// The service rejected the content of the request and applied none of it, unless the rejection says otherwise.
  case rejected(Rejection)
  /// No byte of the request was sent.
  case notSent(CallFault)
  /// The service refused the request regardless of its content.
  case refused(CallFault)
  /// The service may or may not have acted on the request.
  case unknown(CallFault)

  /// The fault of a call that failed regardless of its content; nil if the service answered or rejected the call.
  package var fault: CallFault? {
    switch self {
    case .answered, .rejected: nil
    case .notSent(let fault), .refused(let fault), .unknown(let fault): fault
    }
  }

  /// The reason no later call can succeed; nil if another attempt may help.
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

/// The outcome of sending events, where a rejection is the service's reason for rejecting the data.
package typealias SendOutcome = CallOutcome<Acknowledgement, String>

package struct Acknowledgement: Sendable, Equatable {}

extension SendOutcome {
  package static var acknowledged: SendOutcome { .answered(Acknowledgement()) }
}

/// The reason a call failed, in the terms that determine what may happen next.
package struct CallFault: Error, Sendable, Equatable {
  /// The reason for users and the ledger; it contains no value that was sent.
  package var reason: String
  /// The pause that the service requested; nil if it requested none.
  package var retryAfter: Milliseconds?
  /// Whether the service refused the call because it receives too many calls at once.
  package var isThrottle: Bool
  /// Whether the service says that it accepts no requests temporarily, so waiting is worthwhile; true for a throttle.
  package var isTemporary: Bool
  /// Whether the content may be the cause: the service failed or the connection broke, and the service
  /// requested no pause.
  package var blamesRequest: Bool
  /// Whether the reason is known only from a sentence in the service's response (reference decisions 59). Because the
  /// sentence may quote the request, other requests are tried first.
  package var isSentence: Bool
  /// The reason no later request of the run can succeed; nil if one may.
  package var stop: ServiceStop?

  package init(
    _ reason: String, retryAfter: Milliseconds? = nil, isThrottle: Bool = false, isTemporary: Bool = false,
    blamesRequest: Bool = false, isSentence: Bool = false, stop: ServiceStop? = nil
  ) {
    self.reason = reason
    self.retryAfter = retryAfter
    self.isThrottle = isThrottle
    self.isTemporary = isTemporary || isThrottle
    self.blamesRequest = blamesRequest
    self.isSentence = isSentence
    self.stop = stop
  }

  /// The fault for a request of which no byte was sent.
  package static func notSent(_ fault: HTTPFault, _ lead: String = "not sent") -> CallFault {
    let stop: ServiceStop? =
      switch fault.kind {
      case .tls, .protocolViolation: .peerProtocol
      case .invalidRequest, .authorities: .configuration
      default: nil
      }
    return CallFault("\(lead): \(fault)", blamesRequest: fault.mayBeTheRequest, stop: stop)
  }

  /// The fault for a request that was sent but got no complete response.
  package static func unanswered(_ fault: HTTPFault, _ lead: String = "outcome unknown") -> CallFault {
    CallFault("\(lead): \(fault)", blamesRequest: fault.mayBeTheRequest)
  }
}

/// The reason no later call of a run can succeed; unsent events remain queued.
package enum ServiceStop: Sendable, Equatable {
  case credentials
  case peerProtocol
  case configuration
  case unwritable
  /// The service could not be reached or kept failing, up to a limit.
  case unreachable(Limit)
  /// The service rejects every event, even individually.
  case rejecting
  case interrupted

  /// The limit at which a delivery gives up on a failing service (docs/guarantees.md, "When a request fails").
  package enum Limit: Sendable, Equatable {
    /// This many consecutive requests failed.
    case failuresInARow(Int)
    /// One request failed this many times, and no other was accepted meanwhile.
    case attempts(Int)
    /// The run's budget of repetitions was exhausted.
    case retryBudget(Int)
    /// The service said for this long that it temporarily accepts no requests.
    case patience(Milliseconds)
    /// The service requested a pause longer than this.
    case longerPause(Milliseconds)
    /// Every request failed, so no event is to blame.
    case everyRequest
    /// The only attempt failed for a reason that a repetition would not change.
    case firstFailure
  }

  /// The exit of the run (reference command-line 4); nil if the signal determines it.
  package var exit: RunExit? {
    switch self {
    case .credentials: .credentialsRefused
    case .peerProtocol: .protocolRefused
    case .configuration: .configuration
    case .unwritable: .inputRefused
    case .unreachable, .rejecting: .serviceUnavailable
    case .interrupted: nil
    }
  }
}

extension ServiceStop: CustomStringConvertible {
  package var description: String {
    switch self {
    case .credentials: "the service refuses the credentials"
    case .peerProtocol: "TLS or protocol error"
    case .configuration: "the service's address, one of its paths or Connection.caFile is wrong"
    case .unwritable: "the request cannot be encoded"
    case .unreachable(let limit): "the service could not be reached or kept failing\(limit)"
    case .rejecting:
      "the service rejects every event, even one at a time; check the reason that it gives, the path to which events are posted and the account's permissions"
    case .interrupted: "the run was interrupted"
    }
  }
}

extension ServiceStop.Limit: CustomStringConvertible {
  package var description: String {
    switch self {
    case .failuresInARow(let count):
      ", after \(count.counted("failed request", "failed requests in a row")) (Networking.breakerFailures)"
    case .attempts(let count):
      ", even after \(count.counted("attempt")) at one request, while no other request was accepted"
    case .retryBudget(let count): ", even after \(count.counted("retry", "retries")) in total (Networking.retryBudget)"
    case .patience(let time): ", for \(Int(time.count / 1000).counted("second")) (Upload.patience)"
    case .longerPause(let time):
      ", and requested a pause longer than the \(Int(time.count / 1000).counted("second")) that a run waits (Upload.patience, Upload.patienceAtStart)"
    case .everyRequest: ", whatever was sent"
    case .firstFailure: ""
    }
  }
}
