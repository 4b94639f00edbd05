package import BatchFoundation
package import BatchStore
package import BatchWire

/// The service that chunks are sent to: it defines bodies and interprets answers. Several threads call it at once.
package protocol Destination: Sendable {
  var traits: DeliveryTraits { get }

  /// The current version of bodies for the store's wire form; kept with each frozen chunk, so that its body never changes.
  var form: Int { get }

  /// Sends one request, once, and waits for what can be known about it. The body is made by the store's wire form; `group`
  /// is what the events have in common (`EventBlocks/Entry/group`).
  func send(_ body: [UInt8], group: Int) -> SendOutcome

  /// The number of requests that replaced others with expired credentials: each of those attempts was two requests.
  var renewals: Int { get }

  /// Ends the requests under way, soon; each still returns what is known about it.
  func abort()
}

extension Destination {
  package var traits: DeliveryTraits { DeliveryTraits() }

  package var renewals: Int { 0 }
}

/// The properties of a destination that the schedule needs.
package struct DeliveryTraits: Sendable, Equatable {
  /// Whether the service drops what it has already, so that sending again after a lost answer makes no duplicates.
  package var isIdempotent: Bool
  /// Whether each chunk is sent after the answer to the one before, while there is one lane.
  package var isOrdered: Bool
  /// The maximum number of concurrent requests.
  package var lanes: Int
  /// The permitted distance of an event's time from the time of sending, before (negative) and after it; nil for no
  /// limit.
  package var window: ClosedRange<Milliseconds>?
  /// The attempts of a chunk at which it is suspected or, if they do not count against it, the delivery ends; nil for
  /// those of `Networking`.
  package var mostAttempts: Int?

  package init(
    isIdempotent: Bool = false, isOrdered: Bool = false, lanes: Int = 8, window: ClosedRange<Milliseconds>? = nil,
    mostAttempts: Int? = nil
  ) {
    self.isIdempotent = isIdempotent
    self.isOrdered = isOrdered
    self.lanes = lanes
    self.window = window
    self.mostAttempts = mostAttempts
  }
}

/// The settings of a delivery (reference formats 2.3, `Upload` and `Networking`); the configuration has the defaults.
package struct DeliverySettings: Sendable {
  /// The number of concurrent requests.
  package var concurrency: Int
  package var limits: BlockLimits
  package var onUnknown: UnknownOutcomePolicy
  /// The counted failures of one chunk at which it may be suspected.
  package var maxFailures: Int
  /// The failures in a row, over all chunks, at which the service counts as down.
  package var failuresInARow: Int
  /// The pauses before retries, and how long refusals for now are waited out while nothing is accepted.
  package var patience: Patience.Limits
  /// The maximum number of retries of a run; the first one beyond it ends the run.
  package var retryBudget: Int

  /// The attempts of one chunk, while nothing else is acknowledged, at which the service counts as down.
  package var attemptsInVain: Int { Self.attemptsInVain(failuresInARow) }
  /// The single events rejected in a row, with nothing accepted, at which the service counts as rejecting everything.
  package var refusalsInARow: Int { max(failuresInARow, 10) }
  /// The time that requests under way still get when the run is ended.
  package var grace = Milliseconds(10_000)

  /// The number of attempts begun in the ledger before a request is free for them, so that the service does not wait
  /// for the disk. A kill makes them unknown though unsent: none if those are held, or if chunks are sent in order.
  func attemptsAhead(_ traits: DeliveryTraits) -> Int { onUnknown == .resend && !isInOrder(traits) ? 1 : 0 }

  /// Returns ``attemptsInVain`` for a value of ``failuresInARow``.
  package static func attemptsInVain(_ failuresInARow: Int) -> Int { (failuresInARow + 1) / 2 }

  /// Returns the number of concurrent requests that settings and destination allow.
  func lanes(of traits: DeliveryTraits) -> Int { max(1, min(concurrency, traits.lanes)) }

  /// Returns whether each chunk waits for the answer to the one before.
  func isInOrder(_ traits: DeliveryTraits) -> Bool { traits.isOrdered && lanes(of: traits) == 1 }

  /// The maximum concurrency: the service allows an organization ten requests at once, and two are left for people.
  package static let largestConcurrency = 8

  package init(
    concurrency: Int, limits: BlockLimits, onUnknown: UnknownOutcomePolicy, maxFailures: Int, failuresInARow: Int,
    retryBudget: Int, patience: Patience.Limits
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
