package import BatchFoundation
package import BatchStore

/// The settings of a delivery (reference formats 2.3, `Upload` and `Networking`); the configuration has the defaults.
package struct DeliverySettings: Sendable {
  /// The number of concurrent requests.
  package var concurrency: Int
  package var limits: BlockLimits
  package var onUnknown: UnknownOutcomePolicy
  /// The counted failures of one chunk at which it may be suspected.
  package var maxFailures: Int
  package var backoff: Backoff
  /// The failures in a row, over all chunks, at which the service counts as down.
  package var failuresInARow: Int
  /// The time for which refusals for now are waited out while nothing is accepted.
  package var patience: Milliseconds
  /// The same limit before the service has accepted anything in this run, if that is shorter.
  package var patienceAtStart: Milliseconds
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
    concurrency: Int, limits: BlockLimits, onUnknown: UnknownOutcomePolicy, maxFailures: Int, backoff: Backoff,
    failuresInARow: Int, retryBudget: Int, patience: Milliseconds = Milliseconds(600_000),
    patienceAtStart: Milliseconds = Milliseconds(30_000)
  ) {
    self.concurrency = min(max(concurrency, 1), Self.largestConcurrency)
    self.limits = limits
    self.onUnknown = onUnknown
    self.maxFailures = max(maxFailures, 1)
    self.backoff = backoff
    self.failuresInARow = failuresInARow
    self.retryBudget = retryBudget
    self.patience = patience
    self.patienceAtStart = patienceAtStart
  }
}
