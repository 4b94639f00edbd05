import BatchDelivery
import BatchFoundation

/// Messages about repeated calls, which many threads make: each reason once, and again when the pause has doubled.
final class RetryNotes: Sendable {
  private struct Told {
    var reason: String
    var pause: Milliseconds
  }

  private let told = Guarded<Told?>(nil)
  private let note: @Sendable (String) -> Void

  init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

  func announce(_ reason: String, _ pause: Milliseconds) {
    let isNew = told.withLock { told in
      if let told, told.reason == reason, pause.count < max(2 * told.pause.count, 1) { return false }
      told = Told(reason: reason, pause: pause)
      return true
    }
    if isNew { note("Identity: \(DeliveryTrouble(reason: reason, nextAttempt: pause).description)") }
  }
}
