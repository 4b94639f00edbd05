import BatchStore
import BatchWire

/// Events that the service rejects: wrong ones, unless it rejects everything.
extension DeliverySchedule {
  /// Declares the rejected events wrong if the delivery ended for a reason other than their rejection.
  mutating func settleRejected() {
    if let stop, stop != .refusing { rejectedEvents.settle() }
  }

  /// Whether so many events were rejected in a row that chunks from the end of the queue are tried, to show whether the
  /// rejected events are to blame.
  var startsFromTheEnd: Bool { !isInOrder && rejectedEvents.inARow >= settings.refusalsInARow / 2 }

  /// Whether the service seems to reject everything.
  var rejectsAll: Bool {
    guard rejectedEvents.inARow >= settings.refusalsInARow else { return false }
    // If chunks are sent in order, no other chunk can show that only these events are wrong. A service that ever
    // accepted something is believed.
    if isInOrder { return acknowledged == 0 && !hasTaken }
    // If the service accepted anything, one chunk may consist of wrong events only.
    return acknowledged == 0 || rejectedEvents.areSpread
  }

  func whole(of chunk: PendingChunk) -> Int64 {
    wholes[chunk.id] ?? chunk.parent.map { wholes[$0] ?? $0 } ?? chunk.id
  }
}
