package import BatchFoundation
package import BatchWire

/// Where chunks go: what a request body looks like, and what an answer means.
///
/// Calls come from several threads at once.
package protocol Destination: Sendable {
  /// What the schedule has to know.
  var traits: DeliveryTraits { get }

  /// The version of bodies as of now, for the store's codec; kept with each frozen chunk, so that it is made the same way ever after.
  var form: Int { get }

  /// Sends one request, once, and waits for what can be known about it.
  ///
  /// - Parameters:
  ///   - body: as the store's codec made it.
  ///   - group: what the events have in common (`EventBlocks/Entry/group`).
  func send(_ body: [UInt8], group: Int) -> SendOutcome

  /// Requests that were sent in place of others whose credentials had expired, so far, of whatever kind: an attempt that met that was two.
  var renewals: Int { get }

  /// Ends the requests that are under way, soon; each still returns what is known about it.
  func abort()
}

extension Destination {
  package var traits: DeliveryTraits { DeliveryTraits() }

  package var renewals: Int { 0 }
}

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
