import BatchFoundation

/// A time in which the service refuses requests for now. Everything waits, and now and then one request asks whether it is over.
///
/// It begins with the first refusal and ends with any other answer. The first refusals only delay their own chunks: they may concern
/// those alone.
///
/// ``SendFault/isForNow`` says what such a refusal is. Whether another failure is the chunk's or the service's is
/// judged in `DeliverySchedule+Suspicion.swift`; where ``DeliveryTraits/mostAttempts`` is set nothing is waited out.
struct Outage {
  private let since: Milliseconds
  /// Refusals at which it still may concern single chunks.
  private let single: Int
  private var refusals = 0
  private var pauses = 0

  init(since: Milliseconds, single: Int) {
    self.since = since
    self.single = single
  }

  /// Whether it concerns everything.
  var isGeneral: Bool { refusals > single }

  /// When patience ends; it begins with the first refusal.
  func end(_ patience: Milliseconds) -> Milliseconds { since + patience }

  /// Notes a refusal.
  ///
  /// - Parameter pausedUntil: when anything may be sent anyway; refusals before belong to the pause that was made for others.
  /// - Returns: when the next request may ask; nil when patience is at its end.
  mutating func noteRefusal(
    now: Milliseconds, pausedUntil: Milliseconds, patience: Milliseconds, backoff: Backoff,
    using random: inout any RandomNumberGenerator
  ) -> Milliseconds? {
    refusals += 1
    let end = end(patience)
    guard now < end else { return nil }
    guard isGeneral, now >= pausedUntil else { return pausedUntil }
    pauses += 1
    // The last attempt is made when patience ends, not before.
    return min(now + backoff.pauseInOutage(before: pauses, using: &random), end)
  }
}

/// How long a service is waited for that takes no request for now and says so.
extension DeliverySchedule {
  mutating func waitOut(_ fault: SendFault, now: Milliseconds) {
    var current = outage ?? Outage(since: now, single: max(settings.lanes(of: traits), min(settings.maxFailures, 10)))
    let next = current.noteRefusal(
      now: now, pausedUntil: pausedUntil, patience: patience, backoff: settings.backoff, using: &random)
    outage = current
    if let next { pausedUntil = max(pausedUntil, next) } else { end(.unreachable(.patience(patience)), for: fault) }
  }

  /// Where the service asks to be left alone for longer than it is waited for, waiting leads to nothing.
  mutating func endIfPausedBeyondPatience() {
    guard inFlight == 0, let outage, pausedUntil > outage.end(patience) else { return }
    end(.unreachable(.longerPause(patience)))
  }

  private var patience: Milliseconds {
    acknowledged > 0 ? settings.patience : min(settings.patience, settings.patienceAtStart)
  }
}
