package import BatchFoundation

/// How often and after what pause a call is repeated whose outcome is uncertain.
package struct RetryPolicy: Sendable {
  /// Calls in all, the first one included.
  package var tries = 8
  package var backoff: Backoff
  /// Where the pauses' chance comes from. What a run does at the service does not depend on it.
  package var random: @Sendable () -> UInt64 = {
    var system = SystemRandomNumberGenerator()
    return system.next()
  }
  /// Told of every pause of ``reading(_:)``, with what came of the call; from any thread. Writes are read before they are repeated.
  package var announce: @Sendable (_ reason: String, _ pause: Milliseconds) -> Void = { _, _ in }
  /// Holds the thread; replaced where time is simulated.
  package var pause: @Sendable (Milliseconds) -> Void

  package init(tries: Int = 8, backoff: Backoff, pause: @escaping @Sendable (Milliseconds) -> Void) {
    self.tries = tries
    self.backoff = backoff
    self.pause = pause
  }

  /// Before try number `count`, from 2.
  ///
  /// - Parameter reason: what is announced; nil for nothing.
  func rest(before count: Int, because reason: String? = nil) {
    var source = Source(draw: random)
    let span = backoff.pause(before: count - 1, using: &source)
    if let reason { announce(reason, span) }
    pause(span)
  }

  private struct Source: RandomNumberGenerator {
    var draw: @Sendable () -> UInt64
    func next() -> UInt64 { draw() }
  }

  /// Repeats a call that changes nothing, so that an uncertain outcome does no harm.
  func reading<Value>(_ call: () throws(RemoteFailure) -> Value) throws(RemoteFailure) -> Value {
    var count = 1
    while true {
      do {
        return try call()
      } catch .uncertain(let what) {
        if count >= tries { throw .uncertain(what) }
        count += 1
        rest(before: count, because: what)
      }
    }
  }
}
