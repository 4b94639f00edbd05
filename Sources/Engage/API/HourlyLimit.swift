import BatchFoundation

/// So many calls within any hour, of all runs together that keep what is used in one place (`Upload.maxCallsPerHour`).
///
/// Calls are counted in advance, some at a time, so that keeping them costs little; a run that ends leaves at most those unused.
package final class HourlyLimit: Sendable {
  private struct State {
    /// Minutes since 1970, and calls that were counted in them, in order.
    var used: [(minute: Int64, calls: Int)]
    var reserved = 0
  }

  private let most: Int
  private let now: @Sendable () -> Int64
  private let keep: @Sendable (String) -> Void
  private let state: Guarded<State>

  /// - Parameters:
  ///   - used: as `keep` was given it last; nil for nothing.
  ///   - now: seconds since 1970.
  ///   - keep: makes durable what is used, before the calls are made.
  package init(
    _ most: Int, used: String?, now: @escaping @Sendable () -> Int64, keep: @escaping @Sendable (String) -> Void
  ) {
    self.most = most
    self.now = now
    self.keep = keep
    let pairs = (used ?? "").split(separator: ",").compactMap { pair -> (minute: Int64, calls: Int)? in
      let parts = pair.split(separator: ":")
      guard parts.count == 2, let minute = Int64(parts[0]), let calls = Int(parts[1]) else { return nil }
      return (minute, calls)
    }
    state = Guarded(State(used: pairs))
  }

  /// Counts a call.
  ///
  /// - Returns: nil if it may be made, else the seconds after which the next one may.
  package func take() -> Double? {
    state.withLock { state in
      let seconds = now()
      let minute = seconds / 60
      // A minute counts for an hour from its end; one to come was written by a clock that was wrong.
      state.used.removeAll { $0.minute + 60 < minute || $0.minute > minute }
      if state.reserved == 0 {
        let left = most - state.used.reduce(0) { $0 + $1.calls }
        guard left > 0 else { return Double((state.used[0].minute + 61) * 60 - seconds) }
        state.reserved = min(left, max(1, most / 100))
        if state.used.last?.minute == minute {
          state.used[state.used.count - 1].calls += state.reserved
        } else {
          state.used.append((minute, state.reserved))
        }
        keep(state.used.map { "\($0.minute):\($0.calls)" }.joined(separator: ","))
      }
      state.reserved -= 1
      return nil
    }
  }
}
