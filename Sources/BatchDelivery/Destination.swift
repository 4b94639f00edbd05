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
