package import BatchFoundation
package import BatchStore
package import BatchWire

/// A request came to nothing, and is tried again.
package struct DeliveryTrouble: Sendable, Equatable {
  package var reason: String
  /// Nil if only an answer can say.
  package var nextAttempt: Milliseconds?

  package init(reason: String, nextAttempt: Milliseconds?) {
    self.reason = reason
    self.nextAttempt = nextAttempt
  }

  package var description: String {
    guard let nextAttempt else { return reason }
    let seconds = (nextAttempt.count + 999) / 1000
    return seconds == 0 ? "\(reason); trying again" : "\(reason); trying again in \(seconds) s"
  }
}

/// What a delivery did, as the summary names it (reference formats 4.1).
package struct DeliveryReport: Sendable, Equatable {
  /// Chunks of which a request was sent.
  package var chunks = 0
  package var eventsPosted = 0
  /// Events that became `FAILED_POST`.
  package var eventsFailed = 0
  /// Events that wait in the store when the delivery ends.
  package var eventsPending = 0
  /// Events that the store holds as `UNKNOWN` when the delivery ends.
  package var eventsUnknown = 0
  /// Requests of which at least a byte left: one for each of ``chunks``, and ``retries``.
  package var requests = 0
  /// Requests for a chunk that had one before in this delivery.
  package var retries = 0
  /// Events whose answer was lost and that were sent again, or will be, each once: the service may have them twice.
  package var eventsInDoubt = 0
  /// Attempts that ended in this delivery, by how; those that a killed run left open are among the unknown ones.
  package var attempts: [AttemptOutcome: Int] = [:]
  /// Attempts that a killed run left open.
  package var recoveredChunks = 0
  /// Events that the service refused one by one, by its reasons without values.
  package var refusals: [String: Int] = [:]
  /// Why it ended early; nil when everything was sent.
  package var stop: ServiceStop?
  /// What the attempt came to that ended it, without any value of an event; nil where none did.
  package var stopReason: String?

  /// How the run ends as far as the delivery decides it: for the reason of its stop, or with 76 while events are held as `UNKNOWN`.
  package var exit: RunExit {
    if let exit = stop?.exit { return exit }
    return eventsUnknown > 0 ? .protocolRefused : .done
  }
}
