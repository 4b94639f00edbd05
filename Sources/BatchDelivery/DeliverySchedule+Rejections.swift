import BatchStore
import BatchWire

/// Handles events that the service rejects: they count as wrong unless it rejects everything.
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
    // If chunks are sent in order, no other chunk can show that only these events are wrong. A service that has ever
    // accepted something is believed.
    if isInOrder { return acknowledged == 0 && !hasTaken }
    // If the service accepted anything, rejected events that all come from one chunk may simply be wrong.
    return acknowledged == 0 || rejectedEvents.areSpread
  }

  func whole(of chunk: PendingChunk) -> Int64 {
    wholes[chunk.id] ?? chunk.parent.map { wholes[$0] ?? $0 } ?? chunk.id
  }
}
