package import BatchFoundation
package import BatchStore
package import BatchWire

/// The service that chunks are sent to: it defines request bodies and interprets responses. Several threads call it
/// concurrently.
package protocol Destination: Sendable {
  var traits: DeliveryTraits { get }

  /// The current version of request bodies. It is stored with each frozen chunk, so that the body never changes.
  var form: Int { get }

  /// Sends one request exactly once, and waits for its outcome, which may be unknown.
  ///
  /// - Parameter group: the value that all events of the request share (`EventBlocks/Entry/group`).
  func send(_ body: [UInt8], group: Int) -> SendOutcome

  /// The number of requests that repeated another request with renewed credentials. An attempt with such a repetition
  /// consists of two requests.
  var renewals: Int { get }

  /// Makes the requests under way end soon. Each one still returns its outcome, which may be unknown.
  func abort()
}

extension Destination {
  package var traits: DeliveryTraits { DeliveryTraits() }

  package var renewals: Int { 0 }
}

/// The properties of a destination that the schedule needs.
package struct DeliveryTraits: Sendable, Equatable {
  /// Whether the service ignores events that it already has, so that sending them again makes no duplicates.
  package var isIdempotent: Bool
  /// Whether each chunk is sent only after the response to the previous one, if there is only one lane.
  package var isOrdered: Bool
  /// The maximum number of concurrent requests.
  package var lanes: Int
  /// The number of attempts at which a chunk is suspected or, if its failures do not count against it, the delivery
  /// ends. Nil to use the limits in the `Networking` settings.
  package var mostAttempts: Int?

  package init(
    isIdempotent: Bool = false, isOrdered: Bool = false, lanes: Int = 8, mostAttempts: Int? = nil
  ) {
    self.isIdempotent = isIdempotent
    self.isOrdered = isOrdered
    self.lanes = lanes
    self.mostAttempts = mostAttempts
  }
}

/// The settings of a delivery (reference formats 2.3, `Upload` and `Networking`); the configuration defines the
/// defaults.
package struct DeliverySettings: Sendable {
  package var concurrency: Int
  package var limits: RequestLimits
  package var onUnknown: UnknownOutcomePolicy
  /// The number of counted failures at which a chunk may be suspected.
  package var maxFailures: Int
  /// The number of failures in a row, over all chunks, at which the service counts as down.
  package var failuresInARow: Int
  /// The pauses before retries, and how long temporary refusals are waited out while nothing is accepted.
  package var patience: Outage.Patience
  /// The maximum number of retries in a run; the first one beyond it ends the run.
  package var retryBudget: Int

  /// The number of attempts for one chunk, while nothing else is acknowledged, at which the service counts as down.
  package var attemptsWithoutSuccess: Int { Self.attemptsWithoutSuccess(failuresInARow) }
  /// The number of individual events rejected in a row at which the service may count as rejecting everything.
  package var rejectionsInARow: Int { max(failuresInARow, 10) }
  /// The grace period for requests under way when the run is ended.
  package var grace = Milliseconds(10_000)

  /// Returns the number of attempts that are written to the ledger in advance, so that the service does not wait for
  /// the disk. If the process is killed, they count as unknown although they were not sent, so there are none if
  /// unknown events are held, or if chunks are sent in order.
  func attemptsAhead(_ traits: DeliveryTraits) -> Int { onUnknown == .resend && !isInOrder(traits) ? 1 : 0 }

  /// Returns ``attemptsWithoutSuccess`` for a value of ``failuresInARow``.
  package static func attemptsWithoutSuccess(_ failuresInARow: Int) -> Int { (failuresInARow + 1) / 2 }

  /// Returns the number of concurrent requests that settings and destination allow.
  func lanes(of traits: DeliveryTraits) -> Int { max(1, min(concurrency, traits.lanes)) }

  /// Returns whether each chunk is sent only after the response to the previous one.
  func isInOrder(_ traits: DeliveryTraits) -> Bool { traits.isOrdered && lanes(of: traits) == 1 }

  /// The maximum number of concurrent requests. The service allows each organization ten, and two are left for people.
  package static let largestConcurrency = 8

  package init(
    concurrency: Int, limits: RequestLimits, onUnknown: UnknownOutcomePolicy, maxFailures: Int, failuresInARow: Int,
    retryBudget: Int, patience: Outage.Patience
  ) {
    self.concurrency = min(max(concurrency, 1), Self.largestConcurrency)
    self.limits = limits
    self.onUnknown = onUnknown
    self.maxFailures = max(maxFailures, 1)
    self.failuresInARow = failuresInARow
    self.retryBudget = retryBudget
    self.patience = patience
  }
}
