import BatchFoundation
import BatchWire

/// Applies patience to each kind of call separately, for all threads. A response ends the outage only for calls of its
/// kind (reference decisions 60). `DeliverySchedule` waits for events.
final class CallPatience: Sendable {
  private struct Kind {
    var outage: Outage?
    /// The time before which nothing is sent.
    var quietUntil = Milliseconds.zero
    var answers = 0
    var refused: [OperationCall: Refused] = [:]
  }

  private struct Refused {
    var count = 0
    let since: Milliseconds
    let answersBefore: Int
  }

  private struct State {
    var kinds: [String: Kind] = [:]
    var hasAnswered = false
  }

  enum Next: Equatable {
    case again(after: Milliseconds)
    /// Other calls of its kind are answered but this one is not, so the work that needs it is left to the next run.
    case later
    /// Patience has run out, or would before the next call.
    case ended
  }

  /// A call is given up after this many refusals and 1/`part` of the patience if other calls of its kind are answered.
  private static let mostRefusals = 5
  private static let part = 10

  private let patience: Outage.Patience
  private let state = Guarded(State())

  init(_ patience: Outage.Patience) { self.patience = patience }

  /// Returns how long a call must wait before it is sent.
  func quiet(_ call: OperationCall, now: Milliseconds) -> Milliseconds {
    state.withLock { Milliseconds(max(($0.kinds[call.name]?.quietUntil ?? .zero).count - now.count, 0)) }
  }

  /// Records that the service answered a call, even with a rejection.
  func noteAnswer(_ call: OperationCall) {
    state.withLock { state in
      state.hasAnswered = true
      state.kinds[call.name, default: Kind()].outage = nil
      state.kinds[call.name]?.answers += 1
      state.kinds[call.name]?.refused[call] = nil
    }
  }

  /// Records a failure other than a temporary refusal.
  func noteFailure(_ call: OperationCall) { state.withLock { $0.kinds[call.name]?.outage = nil } }

  /// Records that the service refused a call temporarily; `wish` is the pause that it requested.
  func noteRefusal(_ call: OperationCall, now: Milliseconds, wish: Milliseconds?) -> Next {
    state.withLock { state in
      var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
      var kind = state.kinds[call.name] ?? Kind()
      defer { state.kinds[call.name] = kind }
      let limit = patience.limit(hasAnswered: state.hasAnswered)
      let wished = wish.map { now + min($0, Outage.Patience.longestWish) }
      var refused = kind.refused[call] ?? Refused(since: now, answersBefore: kind.answers)
      refused.count += 1
      kind.refused[call] = refused
      if kind.answers > refused.answersBefore {
        // The refusal concerns this call alone, so no other call waits.
        let waited = now.count - refused.since.count
        let next = max(now + patience.backoff.pauseInOutage(before: refused.count, using: &random), wished ?? now)
        if refused.count >= Self.mostRefusals && waited * Int64(Self.part) >= limit.count
          || next > refused.since + limit
        {
          kind.refused[call] = nil
          return .later
        }
        return .again(after: Milliseconds(next.count - now.count))
      }
      var outage = kind.outage ?? Outage(since: now)
      let next = outage.noteRefusal(
        now: now, pausedUntil: kind.quietUntil, limit: limit, backoff: patience.backoff, using: &random)
      kind.outage = outage
      guard let next, wished.map({ $0 <= outage.end(limit) }) ?? true else { return .ended }
      kind.quietUntil = max(kind.quietUntil, next, wished ?? next)
      return .again(after: Milliseconds(kind.quietUntil.count - now.count))
    }
  }
}
