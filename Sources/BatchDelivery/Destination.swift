package import BatchFoundation
package import BatchWire

/// The service that chunks are sent to: it defines bodies and interprets answers. Several threads call it at once.
package protocol Destination: Sendable {
  var traits: DeliveryTraits { get }

  /// The current version of bodies for the store's wire form; kept with each frozen chunk, so that its body never changes.
  var form: Int { get }

  /// Sends one request, once, and waits for what can be known about it. The body is made by the store's wire form; `group`
  /// is what the events have in common (`EventBlocks/Entry/group`).
  func send(_ body: [UInt8], group: Int) -> SendOutcome

  /// The number of requests that replaced others with expired credentials: each of those attempts was two requests.
  var renewals: Int { get }

  /// Ends the requests under way, soon; each still returns what is known about it.
  func abort()
}

extension Destination {
  package var traits: DeliveryTraits { DeliveryTraits() }

  package var renewals: Int { 0 }
}

/// The properties of a destination that the schedule needs.
package struct DeliveryTraits: Sendable, Equatable {
  /// Whether the service drops what it has already, so that sending again after a lost answer makes no duplicates.
  package var isIdempotent: Bool
  /// Whether each chunk is sent after the answer to the one before, while there is one lane.
  package var isOrdered: Bool
  /// The maximum number of concurrent requests.
  package var lanes: Int
  /// The permitted distance of an event's time from the time of sending, before (negative) and after it; nil for no
  /// limit.
  package var window: ClosedRange<Milliseconds>?
  /// The attempts of a chunk at which it is suspected or, if they do not count against it, the delivery ends; nil for
  /// those of `Networking`.
  package var mostAttempts: Int?

  package init(
    isIdempotent: Bool = false, isOrdered: Bool = false, lanes: Int = 8, window: ClosedRange<Milliseconds>? = nil,
    mostAttempts: Int? = nil
  ) {
    self.isIdempotent = isIdempotent
    self.isOrdered = isOrdered
    self.lanes = lanes
    self.window = window
    self.mostAttempts = mostAttempts
  }
}
