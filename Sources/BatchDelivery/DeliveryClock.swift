package import BatchFoundation
import Glibc

/// Time as a delivery sees it.
package protocol DeliveryClock: Sendable {
  /// The time of day, for the ledger only.
  var now: Instant { get }

  /// Time that only moves forward, from any start.
  var uptime: Milliseconds { get }

  /// Waits until `signal` is raised or `limit` is reached.
  ///
  /// - Parameter inFlight: requests whose answers will raise the signal. A simulated clock stands still while there are any.
  func wait(for signal: DeliverySignal, until limit: Milliseconds, inFlight: Int)
}

/// Raised by workers when an answer is there, and by whoever ends the run.
package final class DeliverySignal: Sendable {
  private let raised = Guarded(0)

  package init() {}

  package func raise() { raised.change { $0 += 1 } }

  /// False when the time is up.
  @discardableResult
  package func wait(_ span: Milliseconds) -> Bool {
    raised.wait(upTo: span.count) { count -> Void? in
      guard count > 0 else { return nil }
      count -= 1
      return ()
    } != nil
  }
}

/// The machine's clocks.
package struct SystemDeliveryClock: DeliveryClock {
  package init() {}

  package var now: Instant { Instant(milliseconds: Self.read(CLOCK_REALTIME)) }

  package var uptime: Milliseconds { Milliseconds(Self.read(CLOCK_MONOTONIC)) }

  package func wait(for signal: DeliverySignal, until limit: Milliseconds, inFlight: Int) {
    signal.wait(Milliseconds(limit.count - uptime.count))
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
