import BatchFoundation
import BatchStore
import BatchWire

/// The effect of failures on all chunks, and the wait while the service says that it temporarily accepts nothing.
extension DeliverySchedule {
  mutating func noteForAll(_ fault: CallFault, now: Milliseconds) {
    if fault.isThrottle {
      atOnce = max(1, atOnce / 2)
      growth = 0
    }
    if fault.isTemporary {
      waitOut(fault, now: now)
    } else {
      outage = nil
      failuresInARow += 1
      if failuresInARow >= settings.failuresInARow { end(.unreachable(.failuresInARow(failuresInARow)), for: fault) }
    }
  }

  /// Ends because the service is down. If the request may be to blame, the chunk that failed most often is searched
  /// first.
  mutating func end(_ reason: ServiceStop, for fault: CallFault) {
    if fault.blamesRequest { doubt = doubt ?? reason } else { end(reason) }
  }

  private mutating func waitOut(_ fault: CallFault, now: Milliseconds) {
    var current = outage ?? Outage(since: now, single: max(settings.lanes(of: traits), min(settings.maxFailures, 10)))
    let next = current.noteRefusal(
      now: now, pausedUntil: pausedUntil, limit: patience, backoff: settings.patience.backoff, using: &random)
    outage = current
    if let next { pausedUntil = max(pausedUntil, next) } else { end(.unreachable(.patience(patience)), for: fault) }
  }

  /// Ends if the service requests a longer pause than ``patience`` allows. Later responses do not shorten the pause.
  mutating func endIfPausedBeyondPatience(now: Milliseconds) {
    guard traits.mostAttempts == nil, inFlight == 0, hasOthers || !setAside.isEmpty,
      pausedUntil > outage?.end(patience) ?? now + patience
    else { return }
    end(.unreachable(.longerPause(patience)))
  }

  private var patience: Milliseconds { settings.patience.limit(hasAnswered: acknowledged > 0) }

  // MARK: Sentences that may be quoted (reference decisions 59)

  /// The reason to end if the service accepts nothing that is sent.
  var everyRequest: ServiceStop { sentence?.stop ?? .unreachable(.everyRequest) }

  private var hasOthers: Bool { inFlight > 0 || readyCount > 0 || !delayed.isEmpty }

  /// Returns whether a response that says to stop may merely quote the request. If so, other chunks are sent before it
  /// is believed.
  func isDoubtful(_ fault: CallFault, _ chunk: PendingChunk) -> Bool {
    guard fault.isSentence else { return false }
    if let before = troubles[chunk.id]?.acknowledgedBefore ?? begun[chunk.id], acknowledged > before { return true }
    // Responses to requests that were under way at the same time as the first such request are awaited.
    return hasOthers
      && (sentence.map { $0.chunks.contains(chunk.id) || $0.chunks.count < settings.lanes(of: traits) } ?? true)
  }

  /// Returns whether other chunks are sent before this one is repeated, because its response may merely quote the
  /// request. If the response does not say to stop, the chunk itself is repeated once before that.
  func asksOthers(_ fault: CallFault, attempts: Int) -> Bool {
    fault.isSentence && hasOthers && attempts > (fault.stop == nil ? 1 : 0)
  }

  // MARK: Events that the service rejects. They count as wrong unless it rejects everything.

  /// Concludes that the rejected events themselves are at fault, if the delivery ended for a reason other than their
  /// rejection.
  mutating func settleRejected() {
    if let stop, stop != .rejecting { rejectedEvents.settle() }
  }

  /// Whether so many events were rejected in a row that chunks from the end of the queue are tried, to show whether the
  /// rejected events are to blame.
  var startsFromTheEnd: Bool { !isInOrder && rejectedEvents.inARow >= settings.rejectionsInARow / 2 }

  /// Whether the service seems to reject everything.
  var rejectsAll: Bool {
    guard rejectedEvents.inARow >= settings.rejectionsInARow else { return false }
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
