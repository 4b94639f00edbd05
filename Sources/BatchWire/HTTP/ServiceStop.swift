package import BatchFoundation

/// Why no later call of a run can do better; what was not sent stays queued.
package enum ServiceStop: Sendable, Equatable {
  /// The service refuses the credentials.
  case credentials
  /// TLS or the protocol was refused.
  case peerProtocol
  /// The address or a path is wrong.
  case configuration
  /// What is asked for cannot be written.
  case unwritable
  /// The service could not be reached or kept failing, as often or as long as is waited for.
  case unreachable(Limit)
  /// The service refuses every event, also alone.
  case refusing
  /// The run was told to end.
  case interrupted

  /// How often or how long a service may fail before a delivery gives up (docs/guarantees.md, "When a request fails").
  package enum Limit: Sendable, Equatable {
    /// So many requests failed one after another.
    case failuresInARow(Int)
    /// One request failed so many times, and nothing else was taken meanwhile.
    case attempts(Int)
    /// So many requests were to be repeated in all.
    case retryBudget(Int)
    /// The service turned requests away for now for so long.
    case patience(Milliseconds)
    /// It asked for a pause that would have ended later than that.
    case longerPause(Milliseconds)
    /// Whatever was sent failed, so that no event is to blame.
    case everyRequest
    /// The reason of the last attempt says all: nobody would be asked by a repetition.
    case firstFailure
  }

  /// How the run ends (reference command-line 4); nil where the signal decides.
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
