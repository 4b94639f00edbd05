package import BatchFoundation

/// A period in which a service refuses calls of one kind for now: calls wait, and an occasional one tests whether it is
/// over (`Upload.patience`; reference guarantees 2.1).
///
/// It begins with the first refusal and ends with any other answer to a call of its kind (reference decisions 60). The
/// first refusals only delay their own calls if they may concern those alone. Any monotonic clock will do.
package struct Patience: Sendable {
  package struct Limits: Sendable {
    package var longest: Milliseconds
    /// The limit before the service has answered any call, if it is shorter.
    package var atStart: Milliseconds
    /// The pauses between two test calls.
    package var backoff: Backoff

    package init(longest: Milliseconds, atStart: Milliseconds, backoff: Backoff) {
      self.longest = longest
      self.atStart = atStart
      self.backoff = backoff
    }

    package func limit(hasAnswered: Bool) -> Milliseconds { hasAnswered ? longest : min(longest, atStart) }

    /// The upper limit of a pause that a service asks for.
    package static let longestWish = Milliseconds(15 * 60_000)
  }

  private let since: Milliseconds
  /// The number of refusals that may still concern single calls.
  private let single: Int
  private var refusals = 0
  private var pauses = 0

  package init(since: Milliseconds, single: Int = 0) {
    self.since = since
    self.single = single
  }

  /// Whether it concerns all calls of its kind.
  package var isGeneral: Bool { refusals > single }

  package func end(_ limit: Milliseconds) -> Milliseconds { since + limit }

  /// Notes a refusal.
  ///
  /// - Parameter pausedUntil: the end of the current pause; refusals before it belong to that pause.
  /// - Returns: the time of the next test call; nil if patience has ended.
  package mutating func noteRefusal(
    now: Milliseconds, pausedUntil: Milliseconds, limit: Milliseconds, backoff: Backoff,
    using random: inout any RandomNumberGenerator
  ) -> Milliseconds? {
    refusals += 1
    let end = end(limit)
    guard now < end else { return nil }
    guard isGeneral, now >= pausedUntil else { return pausedUntil }
    pauses += 1
    // The last attempt is made at the end of patience, not before.
    return min(now + backoff.pauseInOutage(before: pauses, using: &random), end)
  }
}
