import BatchFoundation

/// A time in which the service refuses requests for now. Everything waits, and now and then one request asks whether it is over.
///
/// It begins with the first refusal and ends with any other answer. The first refusals only delay their own chunks: they may concern
/// those alone.
struct Outage {
  private let since: Milliseconds
  /// Refusals at which it still may concern single chunks.
  private let single: Int
  private var refusals = 0
  private var pauses = 0

  init(since: Milliseconds, single: Int) {
    self.since = since
    self.single = single
  }

  /// Whether it concerns everything.
  var isGeneral: Bool { refusals > single }

  /// Notes a refusal.
  ///
  /// - Parameter pausedUntil: when anything may be sent anyway; refusals before belong to the pause that was made for others.
  /// - Parameter patience: from the first refusal on.
  /// - Returns: when the next request may ask; nil when patience is at its end.
  mutating func noteRefusal(
    now: Milliseconds, pausedUntil: Milliseconds, patience: Milliseconds, backoff: Backoff,
    using random: inout any RandomNumberGenerator
  ) -> Milliseconds? {
    refusals += 1
    let end = since + patience
    guard now < end else { return nil }
    guard isGeneral, now >= pausedUntil else { return pausedUntil }
    pauses += 1
    // The last attempt is made when patience ends, not before.
    return min(now + backoff.pauseInOutage(before: pauses, using: &random), end)
  }
}
