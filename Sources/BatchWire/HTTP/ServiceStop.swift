package import BatchFoundation

/// The reason no later call of a run can succeed; unsent events stay queued.
package enum ServiceStop: Sendable, Equatable {
  case credentials
  case peerProtocol
  case configuration
  case unwritable
  /// The service could not be reached or kept failing, up to a limit.
  case unreachable(Limit)
  /// The service refuses every event, even individually.
  case refusing
  case interrupted

  /// The limit at which a delivery gives up on a failing service (docs/guarantees.md, "When a request fails").
  package enum Limit: Sendable, Equatable {
    /// This many consecutive requests failed.
    case failuresInARow(Int)
    /// One request failed this many times, and no other was accepted meanwhile.
    case attempts(Int)
    /// The total number of repetitions was exhausted.
    case retryBudget(Int)
    /// The service refused requests for now for this long.
    case patience(Milliseconds)
    /// It asked for a pause beyond this time.
    case longerPause(Milliseconds)
    /// Every request failed, so no event is to blame.
    case everyRequest
    /// The reason of the only attempt is final: a repetition would not reach a service.
    case firstFailure
  }

  /// The exit of the run (reference command-line 4); nil if the signal determines it.
  package var exit: RunExit? {
    switch self {
    case .credentials: .credentialsRefused
    case .peerProtocol: .protocolRefused
    case .configuration: .configuration
    case .unwritable: .inputRefused
    case .unreachable, .refusing: .serviceUnavailable
    case .interrupted: nil
    }
  }
}

extension ServiceStop: CustomStringConvertible {
  package var description: String {
    switch self {
    case .credentials: "the service refuses the credentials"
    case .peerProtocol: "TLS or the protocol was refused"
    case .configuration: "the address or a path of the service is wrong"
    case .unwritable: "the request cannot be written"
    case .unreachable(let limit): "the service could not be reached or kept failing\(limit)"
    case .refusing:
      "the service refuses every event, also one at a time; compare its reason with the path events are posted to and with what the account may post"
    case .interrupted: "the run was told to end"
    }
  }
}

extension ServiceStop.Limit: CustomStringConvertible {
  package var description: String {
    switch self {
    case .failuresInARow(let count):
      ", \(count.counted("request", "requests in a row")) (Networking.breakerFailures)"
    case .attempts(let count): ", \(count.counted("attempt")) of one request, while nothing else was taken"
    case .retryBudget(let count): ", \(count.counted("repetition")) in all (Networking.retryBudget)"
    case .patience(let time): ", for \(time.count / 1000) seconds (Upload.patience)"
    case .longerPause(let time):
      ", and asks for a longer pause than is left of the \(time.count / 1000) seconds that it is waited for (Upload.patience, Upload.patienceAtStart)"
    case .everyRequest: ", whatever was sent"
    case .firstFailure: ""
    }
  }
}
