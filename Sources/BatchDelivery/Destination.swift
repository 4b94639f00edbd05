package import BatchFoundation

/// Where chunks go: what a request body looks like, and what an answer means.
///
/// Calls come from several threads at once.
package protocol Destination: Sendable {
  /// What the schedule has to know.
  var traits: DeliveryTraits { get }

  /// The version of bodies as of now, for the store's codec; kept with each frozen chunk, so that it is made the same way ever after.
  var form: Int { get }

  /// Sends one request, once, and waits for what can be known about it.
  ///
  /// - Parameters:
  ///   - body: as the store's codec made it.
  ///   - group: what the events have in common (`EventBlocks/Entry/group`).
  func send(_ body: [UInt8], group: Int) -> SendOutcome

  /// Requests that were sent in place of others whose credentials had expired, so far, of whatever kind: an attempt that met that was two.
  var renewals: Int { get }

  /// Ends the requests that are under way, soon; each still returns what is known about it.
  func abort()
}

extension Destination {
  package var traits: DeliveryTraits { DeliveryTraits() }

  package var renewals: Int { 0 }
}

/// What is known after one request (reference guarantees 3).
package enum SendOutcome: Sendable, Equatable {
  /// The service took every event.
  case acknowledged
  /// No byte of the request left.
  case notSent(SendFault)
  /// The service turned the request away, whatever was in it.
  case refused(SendFault)
  /// The service refused the data, in its own words; nothing of it was taken.
  case rejected(String)
  /// The service may have taken it.
  case unknown(SendFault)
}

/// Why a request was not acknowledged.
package struct SendFault: Sendable, Equatable {
  /// For the ledger; without any value of an event.
  package var reason: String
  /// How long the service asked to stay away.
  package var retryAfter: Milliseconds?
  /// The service has too many requests at once.
  package var isThrottle: Bool
  /// The service takes no request for now, and says so: it is worth waiting for. Every throttle is that too.
  package var isForNow: Bool
  /// The service failed at the request, or its connection broke, without a word to stay away: it may be what is in the request.
  package var countsAgainstChunk: Bool
  /// Set where no later request of the run can do better.
  package var stop: DeliveryStop?

  package init(
    _ reason: String, retryAfter: Milliseconds? = nil, isThrottle: Bool = false, isForNow: Bool = false,
    countsAgainstChunk: Bool = false, stop: DeliveryStop? = nil
  ) {
    self.reason = reason
    self.retryAfter = retryAfter
    self.isThrottle = isThrottle
    self.isForNow = isForNow || isThrottle
    self.countsAgainstChunk = countsAgainstChunk
    self.stop = stop
  }
}

/// Why a delivery ended before everything was sent; what was not sent stays queued.
package enum DeliveryStop: Sendable, Equatable {
  /// The service refuses the credentials.
  case credentials
  /// TLS or the protocol was refused.
  case peerProtocol
  /// The address or a path is wrong.
  case configuration
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
    case .unreachable, .refusing: .serviceUnavailable
    case .interrupted: nil
    }
  }
}

extension DeliveryStop: CustomStringConvertible {
  package var description: String {
    switch self {
    case .credentials: "the service refuses the credentials"
    case .peerProtocol: "TLS or the protocol was refused"
    case .configuration: "the address or a path of the service is wrong"
    case .unreachable(let limit): "the service could not be reached or kept failing\(limit)"
    case .refusing:
      "the service refuses every event, also one at a time; compare its reason with the path events are posted to and with what the account may post"
    case .interrupted: "the run was told to end"
    }
  }
}

extension DeliveryStop.Limit: CustomStringConvertible {
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
