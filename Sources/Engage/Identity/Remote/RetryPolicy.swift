package import BatchFoundation

/// How often and after what pause a call is repeated that came to nothing (reference guarantees 3).
package struct RetryPolicy: Sendable {
  /// Calls in all, the first one included, of which nobody knows what came of them.
  package var tries: Int
  /// Repetitions of all calls of a run together.
  package var budget = Int.max
  package var backoff: Backoff
  /// Where the pauses' chance comes from. What a run does at the service does not depend on it.
  package var random: @Sendable () -> UInt64 = {
    var system = SystemRandomNumberGenerator()
    return system.next()
  }
  /// Told of every pause, with what came of the call; from any thread.
  package var announce: @Sendable (_ reason: String, _ pause: Milliseconds) -> Void = { _, _ in }
  /// Holds the thread; replaced where time is simulated.
  package var pause: @Sendable (Milliseconds) -> Void
  private let repetitions = Guarded(0)

  package init(tries: Int, backoff: Backoff, pause: @escaping @Sendable (Milliseconds) -> Void) {
    self.tries = tries
    self.backoff = backoff
    self.pause = pause
  }

  /// Repeats a call that may be repeated whatever came of it.
  package func reading<Value>(_ call: () throws(RemoteFailure) -> Value) throws(RemoteFailure) -> Value {
    var attempts = Attempts(self)
    while true {
      do {
        return try call()
      } catch {
        try attempts.next(after: error)
      }
    }
  }

  /// The calls of one step; the first one is free.
  struct Attempts {
    private let policy: RetryPolicy
    private var count = 1

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// Waits until the next call may be made.
    ///
    /// - Throws: the failure, if another call would do no better or was one too many.
    mutating func next(after failure: RemoteFailure) throws(RemoteFailure) {
      switch failure {
      case .uncertain(let what):
        guard repeats(because: what) else { throw failure }
      case .unavailable(let what, again: let pause?):
        // How long that goes on is bounded by patience, not by a number.
        guard policy.takeRepetition() else { throw .unavailable(what, again: nil) }
        policy.rest(pause, because: what)
      case .unavailable, .deferred, .lost, .absent, .exists, .refused, .wrongAnswer, .stopped, .interrupted:
        throw failure
      }
    }

    /// Waits until the next call may be made.
    ///
    /// - Parameter reason: what is announced; nil for nothing.
    /// - Returns: false, at once, if there were enough calls.
    mutating func repeats(because reason: String? = nil) -> Bool {
      guard count < policy.tries, policy.takeRepetition() else { return false }
      var source = Source(draw: policy.random)
      policy.rest(policy.backoff.pause(before: count, using: &source), because: reason)
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

  private struct Source: RandomNumberGenerator {
    var draw: @Sendable () -> UInt64
    func next() -> UInt64 { draw() }
  }
}
