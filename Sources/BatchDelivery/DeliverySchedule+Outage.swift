import BatchFoundation
import BatchStore
import BatchWire

/// What a failure says of all chunks, and how long a service is waited for that takes no request for now and says so.
extension DeliverySchedule {
  /// What a failure says of all chunks.
  mutating func noteForAll(_ fault: CallFault, now: Milliseconds) {
    if fault.isThrottle {
      atOnce = max(1, atOnce / 2)
      growth = 0
    }
    if fault.isForNow {
      waitOut(fault, now: now)
    } else {
      outage = nil
      failuresInARow += 1
      if failuresInARow >= settings.failuresInARow { end(.unreachable(.failuresInARow(failuresInARow)), for: fault) }
    }
  }

  /// Ends because the service is down, unless the chunk at which it failed most often is to blame: that is searched first.
  mutating func end(_ reason: ServiceStop, for fault: CallFault) {
    if fault.blamesRequest { doubt = doubt ?? reason } else { end(reason) }
  }

  private mutating func waitOut(_ fault: CallFault, now: Milliseconds) {
    var current = outage ?? Patience(since: now, single: max(settings.lanes(of: traits), min(settings.maxFailures, 10)))
    let next = current.noteRefusal(
      now: now, pausedUntil: pausedUntil, limit: patience, backoff: settings.backoff, using: &random)
    outage = current
    if let next { pausedUntil = max(pausedUntil, next) } else { end(.unreachable(.patience(patience)), for: fault) }
  }

  /// Where the service asks to be left alone for longer than it is waited for, waiting leads to nothing. Requests that were answered after
  /// it asked do not shorten that.
  mutating func endIfPausedBeyondPatience(now: Milliseconds) {
    guard traits.mostAttempts == nil, inFlight == 0, hasOthers || !waiting.isEmpty,
      pausedUntil > outage?.end(patience) ?? now + patience
    else { return }
    end(.unreachable(.longerPause(patience)))
  }

  private var patience: Milliseconds {
    acknowledged > 0 ? settings.patience : min(settings.patience, settings.patienceAtStart)
  }

  // MARK: Sentences that may be quoted (reference decisions 59)

  /// Why it ends where nothing is taken, whatever is sent.
  var everyRequest: ServiceStop { sentence?.stop ?? .unreachable(.everyRequest) }

  private var hasOthers: Bool { inFlight > 0 || readyCount > 0 || !delayed.isEmpty }

  /// Whether a stop may come of what the request quotes: others are asked before it is believed.
  func isDoubtful(_ fault: CallFault, _ chunk: PendingChunk) -> Bool {
    guard fault.isSentence else { return false }
    if let before = troubles[chunk.id]?.acknowledgedBefore ?? begun[chunk.id], acknowledged > before { return true }
    // Those that were under way with the first one are waited for.
    return hasOthers
      && (sentence.map { $0.chunks.contains(chunk.id) || $0.chunks.count < settings.lanes(of: traits) } ?? true)
  }

  /// A sentence has one chunk repeated once, with a new token or as it is; then others are asked.
  func asksOthers(_ fault: CallFault, attempts: Int) -> Bool {
    fault.isSentence && hasOthers && attempts > (fault.stop == nil ? 1 : 0)
  }
}
