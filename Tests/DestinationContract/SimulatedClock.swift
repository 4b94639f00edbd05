package import BatchDelivery
package import BatchFoundation
import Synchronization

/// Time that passes at once when there is nothing else to wait for, and not at all while an answer is on its way: however long the machine takes
/// for it.
///
/// Requests that ``pass(_:)`` through it are answered one after the other, each while the delivery waits. So what a delivery finds when it looks
/// does not depend on which thread was faster, as long as there is one request at a time.
package final class SimulatedClock: DeliveryClock {
  private struct Gate {
    var life: Int
    /// Requests that may be answered.
    var permits = 0
  }

  private let time = Atomic<Int64>(0)
  private let gate = Guarded(Gate(life: 0))

  package init() {}

  /// What a request that hangs is given, in real time, before it is believed.
  private static let hang = Milliseconds(5000)

  package var now: Instant { Instant(milliseconds: 1_767_225_600_000 + uptime.count) }
  package var uptime: Milliseconds { Milliseconds(time.load(ordering: .relaxed)) }

  package func wait(for signal: DeliverySignal, until limit: Milliseconds, inFlight: Int) {
    if signal.wait(Milliseconds(0)) { return }
    if inFlight > 0 {
      gate.change { $0.permits += 1 }
      if signal.wait(Self.hang) { return }
    }
    time.store(max(limit.count, uptime.count), ordering: .relaxed)
  }

  /// Holds a request until the delivery waits for an answer, or is dead.
  ///
  /// - Parameter life: of the program that sends it.
  package func pass(_ life: Int) {
    gate.wait { gate -> Void? in
      if gate.life != life { return () }
      guard gate.permits > 0 else { return nil }
      gate.permits -= 1
      return ()
    }
  }

  /// Begins another life; what earlier ones sent waits no more.
  func begin(_ life: Int) { gate.change { $0 = Gate(life: life) } }
}
