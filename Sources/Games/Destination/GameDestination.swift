package import BatchDelivery
import BatchFoundation
package import BatchWire
package import GameRules

/// A service that accepts lists of a game's events, in the order in which they happened.
package final class GameDestination: Destination {
  package typealias Post = @Sendable (_ body: [UInt8], _ consent: Consent, HTTPCancellation) -> SendOutcome

  package let traits: DeliveryTraits
  private let post: Post
  private let cancellation = HTTPCancellation()

  /// - Parameters:
  ///   - isIdempotent: whether the service drops repeated events.
  ///   - retries: the largest number of repetitions of a request.
  ///   - post: sends one request, once.
  package init(isIdempotent: Bool, retries: Int, post: @escaping Post) {
    traits = DeliveryTraits(isIdempotent: isIdempotent, isOrdered: true, lanes: 8, mostAttempts: retries + 1)
    self.post = post
  }

  /// Makes the destination for Collect (reference deltadna 8), which drops the second event of one `eventUUID`: sending
  /// again after a lost answer makes no duplicates.
  package convenience init(_ service: CollectService, retries: Int) {
    self.init(isIdempotent: true, retries: retries) { body, consent, cancellation in
      service.post(body, consent: consent, cancellation: cancellation)
    }
  }

  package var form: Int { 0 }

  /// - Parameter group: the raw value of the ``Consent`` under which the events were recorded.
  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    post(body, Consent(rawValue: UInt8(truncatingIfNeeded: group)), cancellation)
  }

  package func abort() { cancellation.cancel() }
}
