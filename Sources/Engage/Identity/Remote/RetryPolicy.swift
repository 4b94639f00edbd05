import BatchConfiguration
import BatchDelivery
package import BatchFoundation
import BatchPipeline
import Glibc

/// The rules for repeating failed calls, with pauses (reference guarantees 3); `DeliverySchedule` has those for events.
package struct RetryPolicy: Sendable {
  /// The maximum number of attempts to make a call while its outcome is unknown, including the first.
  package var tries: Int
  /// The maximum number of repetitions in a run, for all calls together.
  package var budget = Int.max
  package var backoff: Backoff
  /// Receives every pause and the reason for it; called on any thread.
  package var announce: @Sendable (_ reason: String, _ pause: Milliseconds) -> Void = { _, _ in }
  /// Blocks the thread; replaced where time is simulated.
  package var pause: @Sendable (Milliseconds) -> Void
  private let repetitions = Guarded(0)

  package init(tries: Int, backoff: Backoff, pause: @escaping @Sendable (Milliseconds) -> Void) {
    self.tries = tries
    self.backoff = backoff
    self.pause = pause
  }

  /// Makes a call that is safe to repeat, and repeats it after failures within the limits. Throws the last failure.
  package func repeating<Value>(_ call: () throws(RemoteFailure) -> Value) throws(RemoteFailure) -> Value {
    var attempts = Attempts(self)
    while true {
      do {
        return try call()
      } catch {
        try attempts.next(after: error)
      }
    }
  }

  /// Counts the calls of one step; the first one takes nothing from the budget.
  struct Attempts {
    private let policy: RetryPolicy
    private var count = 1

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// Waits until the next call may be made.
    ///
    /// - Throws: The failure, if another call is pointless or the limit is reached.
    mutating func next(after failure: RemoteFailure) throws(RemoteFailure) {
      switch failure {
      case .uncertain(let what):
        guard waitForRepeat(because: what) else { throw failure }
      case .unavailable(let what, again: let pause?):
        // These repetitions are limited by patience and the budget, not by `tries`.
        guard policy.takeRepetition() else { throw .unavailable(what, again: nil) }
        policy.rest(pause, because: what)
      case .unavailable, .deferred, .lost, .absent, .exists, .refused, .wrongAnswer, .stopped, .interrupted:
        throw failure
      }
    }

    /// Waits until the next call may be made, announcing the reason, if any. Returns false, without waiting, once the
    /// limit is reached.
    mutating func waitForRepeat(because reason: String? = nil) -> Bool {
      guard count < policy.tries, policy.takeRepetition() else { return false }
      var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
      policy.rest(policy.backoff.pause(before: count, using: &random), because: reason)
      count += 1
      return true
    }
  }

  private func rest(_ span: Milliseconds, because reason: String?) {
    if let reason { announce(reason, span) }
    pause(span)
  }

  private func takeRepetition() -> Bool {
    repetitions.withLock { count in
      guard count < budget else { return false }
      count += 1
      return true
    }
  }

  init(_ settings: Settings, pause: @escaping @Sendable (Milliseconds) -> Void = { rest($0) }) {
    // The same limit applies to a chunk while the service accepts nothing else.
    self.init(
      tries: DeliverySettings.attemptsWithoutSuccess(settings.networking.breakerFailures), backoff: Backoff(settings),
      pause: pause)
    budget = settings.networking.retryBudget
  }

  /// Blocks the thread for the span, or until `isOver` returns true, which is checked ten times a second.
  static func rest(_ span: Milliseconds, unless isOver: () -> Bool = { false }) {
    var left = span.count
    while left > 0, !isOver() {
      let part = min(left, 100)
      var time = timespec(tv_sec: 0, tv_nsec: Int(part) * 1_000_000)
      unsafe nanosleep(&time, nil)
      left -= part
    }
  }
}

/// Reports the repeated calls of all threads: a new reason at once, the same reason again only if the pause has
/// doubled.
final class RetryNotes: Sendable {
  private struct Reported {
    var reason: String
    var pause: Milliseconds
  }

  private let reported = Guarded<Reported?>(nil)
  private let note: @Sendable (String) -> Void

  init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

  func announce(_ reason: String, _ pause: Milliseconds) {
    let isNew = reported.withLock { reported in
      if let reported, reported.reason == reason, pause.count < max(2 * reported.pause.count, 1) { return false }
      reported = Reported(reason: reason, pause: pause)
      return true
    }
    if isNew { note("Identity: \(DeliveryTrouble(reason: reason, nextAttempt: pause).description)") }
  }
}
