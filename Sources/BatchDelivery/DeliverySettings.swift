package import BatchFoundation
package import BatchStore

/// How a run delivers (reference formats 2.3, `Upload` and `Networking`).
package struct DeliverySettings: Sendable {
  package enum OnUnknown: Sendable { case resend, hold }

  /// Requests at once; the service gives an organisation ten, and eight leave two for people.
  package var concurrency: Int
  package var limits: BlockLimits
  package var onUnknown: OnUnknown
  /// Failures of one chunk at which its events are `FAILED_POST`, as the SDKs counted them.
  package var maxFailures: Int
  /// The first pause before a retry is at most this, the next at most twice as long.
  package var firstPause = Milliseconds(1000)
  package var longestPause = Milliseconds(60_000)
  /// A longer `Retry-After` is cut to this.
  package var longestRetryAfter = Milliseconds(15 * 60_000)
  /// Failures in a row, over all chunks, at which the service counts as down.
  package var failuresInARow = 8
  /// Attempts of one chunk, while nothing else is acknowledged either, at which the service counts as down.
  package var attemptsInVain = 5
  /// Throttled attempts of one chunk in a row at which the service counts as down.
  package var throttlesInARow = 10
  /// What retries may cost in a run; a retry costs five, an acknowledged request gives one back.
  package var retryBudget = 500
  /// Attempts that are begun in the ledger before a request is free for them, so that the service does not wait for the disk.
  ///
  /// A kill makes their outcome unknown although they were not sent; so there are none where such events are held.
  package var attemptsAhead: Int { onUnknown == .resend ? 1 : 0 }
  /// How long requests that are under way may still take when the run is told to end.
  package var grace = Milliseconds(10_000)

  package static let largestConcurrency = 8

  package init(
    concurrency: Int = 4, limits: BlockLimits = BlockLimits(), onUnknown: OnUnknown = .resend, maxFailures: Int = 3
  ) {
    self.concurrency = min(max(concurrency, 1), Self.largestConcurrency)
    self.limits = limits
    self.onUnknown = onUnknown
    self.maxFailures = max(maxFailures, 1)
  }
}
