package import BatchFoundation
package import BatchStore

/// How a run delivers (reference formats 2.3, `Upload` and `Networking`); the configuration has the defaults.
package struct DeliverySettings: Sendable {
  /// Requests at once.
  package var concurrency: Int
  package var limits: BlockLimits
  package var onUnknown: UnknownOutcomePolicy
  /// Counted failures of one chunk at which it may be suspected.
  package var maxFailures: Int
  package var backoff: Backoff
  /// Failures in a row, over all chunks, at which the service counts as down.
  package var failuresInARow: Int
  /// How long refusals for now are waited out while nothing is taken.
  package var patience: Milliseconds
  /// The same before the service has taken anything in this run, if that is shorter.
  package var patienceAtStart: Milliseconds
  /// Repetitions that a run may make in all; it ends at the first that would be one too many.
  package var retryBudget: Int

  /// Attempts of one chunk, while nothing else is acknowledged either, at which the service counts as down.
  package var attemptsInVain: Int { Self.attemptsInVain(failuresInARow) }
  /// Single events that the service refuses as wrong one after another, without taking anything, at which it counts as refusing everything.
  package var refusalsInARow: Int { max(failuresInARow, 10) }
  /// How long requests that are under way may still take when the run is told to end.
  package var grace = Milliseconds(10_000)

  /// Attempts that are begun in the ledger before a request is free for them, so that the service does not wait for the disk.
  ///
  /// A kill makes their outcome unknown although they were not sent; so there are none where such events are held, and none where
  /// each chunk waits for the answer to the one before.
  func attemptsAhead(_ traits: DeliveryTraits) -> Int { onUnknown == .resend && !isInOrder(traits) ? 1 : 0 }

  /// ``attemptsInVain`` by ``failuresInARow``.
  package static func attemptsInVain(_ failuresInARow: Int) -> Int { (failuresInARow + 1) / 2 }

  /// Requests at once that settings and destination allow.
  func lanes(of traits: DeliveryTraits) -> Int { max(1, min(concurrency, traits.lanes)) }

  /// Whether each chunk waits for the answer to the one before.
  func isInOrder(_ traits: DeliveryTraits) -> Bool { traits.isOrdered && lanes(of: traits) == 1 }

  /// The service gives an organisation ten requests at once, and this leaves two for people.
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
