import BatchFoundation

/// A limit on calls within any hour, shared by the runs that keep their usage in one place (`Upload.maxCallsPerHour`).
///
/// Calls are reserved in small batches to save writes; a run that ends leaves at most one batch unused.
package final class HourlyLimit: Sendable {
  private struct State {
    /// Minutes since 1970 and the calls counted in each, in order.
    var used: [(minute: Int64, calls: Int)]
    var reserved = 0
  }

  private let most: Int
  private let now: @Sendable () -> Int64
  private let keep: @Sendable (String) -> Void
  private let state: Guarded<State>

  /// - Parameters:
  ///   - used: The value last passed to `keep`; nil for none.
  ///   - now: The seconds since 1970.
  ///   - keep: Makes the usage durable before the calls are made.
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

  /// Counts a call. Returns nil if it may be made, otherwise the seconds until the next one may.
  package func take() -> Double? {
    state.withLock { state in
      let seconds = now()
      let minute = seconds / 60
      // A minute counts until an hour after its end; a future minute comes from a wrong clock.
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
