package import BatchFoundation

/// How long a service is waited for that takes no call for now and says so (reference guarantees 2.1).
package struct ServicePatience: Sendable {
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
}

/// A time in which the service takes no call, for all threads of a run together: it begins with the first refusal and ends with any other
/// answer. Times are milliseconds of any clock that only moves forward.
final class ServiceOutage: Sendable {
  private struct State {
    var since: Milliseconds?
    var pauses = 0
    /// Until when nothing is sent.
    var quietUntil = Milliseconds.zero
    var hasAnswered = false
  }

  /// A longer wish to be left alone is cut to this.
  private static let longestWish = Milliseconds(15 * 60_000)

  private let patience: ServicePatience
  private let state = Guarded(State())

  init(_ patience: ServicePatience) { self.patience = patience }

  /// How long a call has to wait that would be sent now; zero for none.
  func quiet(now: Milliseconds) -> Milliseconds {
    state.withLock { Milliseconds(max($0.quietUntil.count - now.count, 0)) }
  }

  /// The service answered a call, whatever it said.
  func noteAnswer() {
    state.withLock { state in
      state.hasAnswered = true
      state.since = nil
      state.pauses = 0
    }
  }

  /// A call failed in another way than for now.
  func noteFailure() { state.withLock { $0.since = nil } }

  /// The service refused a call for now.
  ///
  /// - Parameter wish: how long it asked to be left alone; nil for no wish.
  /// - Returns: how long to wait before the next call; nil when patience is at its end, or would be before that call.
  func noteRefusal(now: Milliseconds, wish: Milliseconds?) -> Milliseconds? {
    state.withLock { state -> Milliseconds? in
      let since = state.since ?? now
      state.since = since
      let end = since + (state.hasAnswered ? patience.longest : min(patience.longest, patience.atStart))
      let wished = wish.map { now + min($0, Self.longestWish) }
      // Waiting for longer than patience leads to nothing.
      guard now < end, wished.map({ $0 <= end }) ?? true else { return nil }
      // Refusals of calls that were sent before belong to the pause that was made for the first of them.
      if now >= state.quietUntil {
        state.pauses += 1
        var random = SystemRandomNumberGenerator()
        // The last call is made when patience ends, not before.
        state.quietUntil = min(now + patience.backoff.pauseInOutage(before: state.pauses, using: &random), end)
      }
      if let wished { state.quietUntil = max(state.quietUntil, wished) }
      return Milliseconds(state.quietUntil.count - now.count)
    }
  }
}
