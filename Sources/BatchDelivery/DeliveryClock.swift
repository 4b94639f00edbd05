package import BatchFoundation
import Dispatch
import Glibc
import Synchronization

/// Time as a delivery sees it.
package protocol DeliveryClock: Sendable {
  /// The time of day, for the ledger only.
  var now: Instant { get }

  /// Time that only moves forward, from any start.
  var uptime: Milliseconds { get }

  /// Waits until `signal` is raised or `limit` is reached.
  func wait(for signal: DeliverySignal, until limit: Milliseconds)
}

/// Raised by workers when an answer is there, and by whoever ends the run.
package final class DeliverySignal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  package init() {}

  package func raise() { semaphore.signal() }

  /// False when the time is up.
  @discardableResult
  package func wait(_ span: Milliseconds) -> Bool {
    semaphore.wait(timeout: .now() + .milliseconds(Int(max(span.count, 0)))) == .success
  }
}

/// The machine's clocks.
package struct SystemDeliveryClock: DeliveryClock {
  package init() {}

  package var now: Instant { Instant(milliseconds: Self.read(CLOCK_REALTIME)) }

  package var uptime: Milliseconds { Milliseconds(Self.read(CLOCK_MONOTONIC)) }

  package func wait(for signal: DeliverySignal, until limit: Milliseconds) {
    signal.wait(Milliseconds(limit.count - uptime.count))
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
