package import BatchFoundation
package import BatchStore
package import BatchWire

/// A failed request that is tried again.
package struct DeliveryTrouble: Sendable, Equatable {
  package var reason: String
  /// The time until the next attempt; nil if that depends on an answer.
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

/// The results of a delivery, as the summary names them (reference formats 4.1).
package struct DeliveryReport: Sendable, Equatable {
  /// The number of chunks of which a request was sent.
  package var chunks = 0
  package var eventsPosted = 0
  /// The number of events that became `FAILED_POST`.
  package var eventsFailed = 0
  /// The number of events pending at the end of the delivery.
  package var eventsPending = 0
  /// The number of events held as `UNKNOWN` at the end of the delivery.
  package var eventsUnknown = 0
  /// The number of requests of which at least a byte was sent: one for each of ``chunks``, and ``retries``.
  package var requests = 0
  /// The number of requests for a chunk that had one before in this delivery.
  package var retries = 0
  /// The number of distinct events sent again after a lost response, now or later: the service may have them twice.
  package var eventsInDoubt = 0
  /// The attempts that ended in this delivery, by outcome; those that a killed run left open count as unknown.
  package var attempts: [AttemptOutcome: Int] = [:]
  /// The number of chunks with attempts that a killed run left open.
  package var recoveredChunks = 0
  /// The number of events that the service rejected singly, by its reasons without values.
  package var refusals: [String: Int] = [:]
  /// The reason of an early end; nil when everything was sent.
  package var stop: ServiceStop?
  /// The reason of the attempt that ended it, without any value of an event; nil if none did.
  package var stopReason: String?

  /// The exit code as far as the delivery determines it: that of its stop, or 76 while events are held as `UNKNOWN`.
  package var exit: RunExit {
    if let exit = stop?.exit { return exit }
    return eventsUnknown > 0 ? .protocolRefused : .done
  }
}
