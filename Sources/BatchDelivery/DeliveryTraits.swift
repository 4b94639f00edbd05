package import BatchFoundation

/// What the schedule has to know about a destination.
package struct DeliveryTraits: Sendable, Equatable {
  /// The service drops what it has already, so sending again after a lost answer makes no duplicates.
  package var isIdempotent: Bool
  /// Chunks go one after the other, each after the answer to the one before, while there is one lane.
  package var isOrdered: Bool
  /// Requests at once, at most.
  package var lanes: Int
  /// How far an event's time may be from the time of sending, before (negative) and after it; nil is without limit.
  package var window: ClosedRange<Milliseconds>?
  /// Attempts of one chunk after which it is suspected or, if they do not count against it, the delivery ends; nil counts as
  /// `Networking` says.
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
