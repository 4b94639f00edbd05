package import BatchFoundation

/// A period during which a service accepts no calls of one kind: calls wait, and an occasional test call finds out
/// whether it is over (`Upload.patience`; reference guarantees 2.1).
///
/// It begins with the first refusal and ends with any other response to a call of its kind (reference decisions 60).
/// While the refusals may concern only individual calls, they delay only those. Times may come from any monotonic
/// clock.
package struct Outage: Sendable {
  /// How long the end of an outage is waited for.
  package struct Patience: Sendable {
    package var longest: Milliseconds
    /// The limit before the service has answered any call, if it is shorter than ``longest``.
    package var atStart: Milliseconds
    /// The pauses between test calls.
    package var backoff: Backoff

    package init(longest: Milliseconds, atStart: Milliseconds, backoff: Backoff) {
      self.longest = longest
      self.atStart = atStart
      self.backoff = backoff
    }

    package func limit(hasAnswered: Bool) -> Milliseconds { hasAnswered ? longest : min(longest, atStart) }

    /// The longest pause made at a service's request; a longer one is shortened to this.
    package static let longestWish = Milliseconds(15 * 60_000)
  }

  private let since: Milliseconds
  /// The number of refusals that may still concern individual calls.
  private let single: Int
  private var refusals = 0
  private var pauses = 0

  package init(since: Milliseconds, single: Int = 0) {
    self.since = since
    self.single = single
  }

  /// Whether the period concerns all calls of its kind, not only individual ones.
  package var isGeneral: Bool { refusals > single }

  package func end(_ limit: Milliseconds) -> Milliseconds { since + limit }

  /// Notes a refusal.
  ///
  /// - Parameter pausedUntil: the end of the current pause; refusals before it belong to that pause.
  /// - Returns: the time of the next call; nil if patience has ended.
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

/// The `Retry-After` header.
package enum RetryAfter {
  /// A year, more than any caller's limit.
  private static let longest = 31_536_000.0

  /// Returns the time to wait in seconds, at most a year; nil if the header is neither seconds nor an HTTP date. It is
  /// 0 for a past date.
  ///
  /// - Parameter date: the response's `Date` header, so that a wrong clock on this machine does not matter.
  /// - Parameter now: this machine's clock in seconds since 1970, for a response without a date.
  package static func seconds(_ header: String?, date: String?, now: Int64) -> Double? {
    guard let header, !header.isEmpty else { return nil }
    if header.utf8.allSatisfy(\.isASCIIDigit) { return Double(header).map { min($0, longest) } }
    guard let until = HTTPDate.parse(header) else { return nil }
    return min(Double(max(0, until - (date.flatMap(HTTPDate.parse) ?? now))), longest)
  }

  /// Returns whether a failure with this status and `Retry-After` means that the service accepts no requests
  /// temporarily (`CallFault.isTemporary`, ``Outage``).
  package static func isTemporary(status: Int, _ seconds: Double?) -> Bool { status == 503 || seconds != nil }
}

/// The date format of HTTP headers (RFC 9110, 5.6.7), in seconds since 1970.
package enum HTTPDate {
  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, ignoring the weekday; nil for the two obsolete formats and impossible
  /// dates.
  package static func parse(_ text: String) -> Int64? {
    text.withText { text in
      let marks: [(Int, Text)] = [(3, ", "), (7, " "), (11, " "), (16, " "), (19, ":"), (22, ":"), (25, " GMT")]
      guard text.count == 29, marks.allSatisfy({ text.slice($0, $0 + $1.count) == $1 }),
        let day = text.digits(5, 2), let month = CivilTime.months.firstIndex(of: text.slice(8, 11).description),
        let year = text.digits(12, 4), year >= 1970, let hour = text.digits(17, 2), let minute = text.digits(20, 2),
        let second = text.digits(23, 2), second <= 60,
        // A leap second counts as the second before it.
        let time = CivilTime(
          year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(second, 59))
      else { return nil }
      return time.milliseconds / 1000
    }
  }
}
