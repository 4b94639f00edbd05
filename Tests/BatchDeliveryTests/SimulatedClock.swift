import BatchDelivery
import BatchFoundation
import Synchronization

/// Time that passes at once when there is nothing else to wait for, and not at all while an answer is on its way: however long the machine takes
/// for it.
final class SimulatedClock: DeliveryClock {
  private let time = Atomic<Int64>(0)

  /// What a request that hangs is given, in real time, before it is believed.
  private static let hang = Milliseconds(5000)

  var now: Instant { Instant(milliseconds: 1_767_225_600_000 + uptime.count) }
  var uptime: Milliseconds { Milliseconds(time.load(ordering: .relaxed)) }

  func wait(for signal: DeliverySignal, until limit: Milliseconds, inFlight: Int) {
    if signal.wait(inFlight > 0 ? Self.hang : Milliseconds(0)) { return }
    time.store(max(limit.count, uptime.count), ordering: .relaxed)
  }
}
