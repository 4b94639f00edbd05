package import BatchDelivery
package import BatchFoundation
import TestSupport

extension DeliverySettings {
  /// Small enough that a test ends soon.
  package static func fixture(
    concurrency: Int = 4, onUnknown: UnknownOutcomePolicy = .resend, retryBudget: Int = 1000
  ) -> DeliverySettings {
    DeliverySettings(
      concurrency: concurrency, limits: .test(), onUnknown: onUnknown, maxFailures: 3,
      backoff: Backoff(first: Milliseconds(1000), longest: Milliseconds(60_000)), failuresInARow: 10,
      retryBudget: retryBudget)
  }
}
