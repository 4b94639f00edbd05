package import BatchDelivery
package import BatchFoundation
import BatchWire
import TestSupport

extension DeliverySettings {
  /// Small enough that a test ends soon.
  package static func fixture(
    concurrency: Int = 4, onUnknown: UnknownOutcomePolicy = .resend, retryBudget: Int = 1000
  ) -> DeliverySettings {
    DeliverySettings(
      concurrency: concurrency, limits: .test(), onUnknown: onUnknown, maxFailures: 3, failuresInARow: 10,
      retryBudget: retryBudget,
      patience: Outage.Patience(
        longest: Milliseconds(600_000), atStart: Milliseconds(30_000),
        backoff: Backoff(first: Milliseconds(1000), longest: Milliseconds(60_000))))
  }
}
