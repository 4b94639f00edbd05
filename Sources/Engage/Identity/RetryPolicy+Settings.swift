import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchPipeline
import BatchWire
import Glibc

extension RetryPolicy {
  init(_ settings: Settings, pause: @escaping @Sendable (Milliseconds) -> Void = { rest($0) }) {
    // The same limit as for a chunk while nothing else is accepted.
    self.init(
      tries: DeliverySettings.attemptsInVain(settings.networking.breakerFailures), backoff: Backoff(settings),
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

extension Patience.Limits {
  init(_ settings: Settings) {
    self.init(
      longest: settings.upload.patience, atStart: settings.upload.patienceAtStart, backoff: Backoff(settings))
  }
}
