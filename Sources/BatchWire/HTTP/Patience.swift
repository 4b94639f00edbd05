package import BatchFoundation

/// A time in which a service refuses calls of one kind for now: it is waited for, and now and then a call asks whether it is over
/// (`Upload.patience`; reference guarantees 2.1).
///
/// It begins with the first refusal and ends with any other answer to a call of its kind (reference decisions 60). The first refusals only
/// delay their own calls where they may concern those alone. Times are milliseconds of any clock that only moves forward.
package struct Patience: Sendable {
  /// How long a service is waited for.
  package struct Limits: Sendable {
    package var longest: Milliseconds
    /// The same before the service has answered any call, if that is shorter.
    package var atStart: Milliseconds
    /// Of the pauses between two calls that ask whether it is over.
    package var backoff: Backoff

    package init(longest: Milliseconds, atStart: Milliseconds, backoff: Backoff) {
      self.longest = longest
      self.atStart = atStart
      self.backoff = backoff
    }

    package func limit(hasAnswered: Bool) -> Milliseconds { hasAnswered ? longest : min(longest, atStart) }

    /// A longer wish to be left alone is cut to this.
    package static let longestWish = Milliseconds(15 * 60_000)
  }

  private let since: Milliseconds
  /// Refusals at which it still may concern single calls.
  private let single: Int
  private var refusals = 0
  private var pauses = 0

  package init(since: Milliseconds, single: Int = 0) {
    self.since = since
    self.single = single
  }

  /// Whether it concerns everything.
  package var isGeneral: Bool { refusals > single }

  /// When patience ends.
  package func end(_ limit: Milliseconds) -> Milliseconds { since + limit }

  /// Notes a refusal.
  ///
  /// - Parameter pausedUntil: when anything may be sent anyway; refusals before belong to the pause that was made for others.
  /// - Returns: when the next call may ask; nil when patience is at its end.
  package mutating func noteRefusal(
    now: Milliseconds, pausedUntil: Milliseconds, limit: Milliseconds, backoff: Backoff,
    using random: inout any RandomNumberGenerator
  ) -> Milliseconds? {
    refusals += 1
    let end = end(limit)
    guard now < end else { return nil }
    guard isGeneral, now >= pausedUntil else { return pausedUntil }
    pauses += 1
    // The last attempt is made when patience ends, not before.
    return min(now + backoff.pauseInOutage(before: pauses, using: &random), end)
  }
}
