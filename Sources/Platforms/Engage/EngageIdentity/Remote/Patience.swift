package import BatchFoundation

/// How often and after what pause a call is repeated whose outcome is uncertain.
package struct Patience: Sendable {
  /// Calls in all, the first one included.
  package var tries = 8
  package var first = Milliseconds(1000)
  package var longest = Milliseconds(60_000)
  /// Holds the thread; replaced where time is simulated.
  package var pause: @Sendable (Milliseconds) -> Void

  package init(
    tries: Int = 8, first: Milliseconds = Milliseconds(1000), longest: Milliseconds = Milliseconds(60_000),
    pause: @escaping @Sendable (Milliseconds) -> Void
  ) {
    self.tries = tries
    self.first = first
    self.longest = longest
    self.pause = pause
  }

  /// Before try number `count`, from 2: doubled each time; half of it at least, the rest by chance.
  func rest(before count: Int) {
    let ceiling = min(longest.count, first.count << Int64(min(count - 2, 20)))
    pause(Milliseconds(ceiling <= 1 ? ceiling : Int64.random(in: ceiling / 2...ceiling)))
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
        rest(before: count)
      }
    }
  }
}
