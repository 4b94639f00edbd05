package import BatchFoundation

/// A token with the time it is good for, on a clock that only moves forward.
package struct AccessToken: Sendable {
  package let secret: Secret
  /// Counts the tokens of this run, so that one that was refused is told from its successor.
  package let generation: Int
  /// Seconds on the monotonic clock.
  package let receivedAt: Double
  package let lifetime: Double

  package func isValid(at now: Double) -> Bool { now < receivedAt + lifetime }

  /// True when 75 % of its time is used or less than the margin, in seconds, is left (reference identity 1.2). A token that never had much
  /// time keeps half of it: the service hands out the same token for three hours, and asking again at once would get the
  /// same one.
  package func isDue(at now: Double, margin: Double) -> Bool {
    let margin = min(max(lifetime / 4, margin), lifetime / 2)
    return receivedAt + lifetime - now < margin
  }

  var headerValue: String { "Bearer \(secret.reveal())" }
}
