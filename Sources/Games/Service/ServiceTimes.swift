import BatchConfiguration
package import BatchFoundation
package import BatchPipeline
package import BatchReport
package import BatchStore

/// The event times that a game service accepts, and advice for other events (reference deltadna 5, unity 4). Functions
/// throw ``StoreError``.
package struct ServiceTimes: Sendable {
  /// The service's name, for messages.
  package var service: String
  /// The age from which the service drops events.
  package var oldest: Milliseconds
  package var oldestInWords: String
  /// The settings that determine the accepted times, for messages.
  package var setting: String
  /// The advice for older events.
  package var legacy: String

  package static let collect = ServiceTimes(
    service: "Collect", oldest: Milliseconds(32 * 86_400_000), oldestInWords: "32 days",
    setting: "DeltaDNA.oldestEvent, DeltaDNA.furthestAhead",
    legacy: "deltaDNA loads older data on request: ask its support (docs/reference/deltadna.md)")

  // MARK: - Before events are sent

  /// Warns if `asOf` and the clock differ by more than an hour, and about events that the service would drop.
  package func warn(_ context: RunContext, _ stage: inout ServiceStage) throws {
    if let asOf = context.job.asOf, abs(asOf.milliseconds - context.now.milliseconds) > 3_600_000 {
      note(
        "asOf differs from the clock by more than an hour, but \(service) judges the age of events by the clock"
          + (context.sandboxAddress == nil ? "" : "; the sandbox uses asOf"), &stage)
    }
    // A sandbox uses asOf as its clock, like the run.
    guard context.sandboxAddress == nil, let old = try stage.store.ledger.pending(upTo: limit(at: context.now)) else {
      return
    }
    let outdated = OutdatedEvents(
      events: old.events, first: old.first, last: old.last,
      rule: "\(service) drops events older than \(oldestInWords)", remedy: legacy)
    stage.report.outdated = outdated
    note(outdated.advice, &stage)
  }

  private func note(_ warning: String, _ stage: inout ServiceStage) {
    stage.report.notes.append(warning)
    stage.note("warning: \(warning)")
  }

  private func limit(at now: Instant) -> Instant { Instant(milliseconds: now.milliseconds - oldest.count) }

  // MARK: - After

  /// Reports events that the service acknowledged but, because of their age, did not keep.
  package func doubt(_ store: EventStore, _ arrivals: inout Arrivals) throws {
    guard let old = try store.ledger.taken(atAge: oldest) else { return }
    let outdated = OutdatedEvents(
      events: old.events, first: old.first, last: old.last, rule: "", remedy: legacy)
    arrivals.doubt(
      .events, old.events,
      "\(outdated.words) \(old.events == 1 ? "was" : "were") older than \(oldestInWords) when sent, and \(service) drops such events "
        + "silently: do not rely on them. \(legacy)")
  }

  /// Returns the events that are not sent because their time is outside the service's window; nil if there are none.
  package func expired(in store: EventStore) throws -> UnsentEvents? {
    let all = try store.ledger.statusCounts()[.expired, default: 0]
    guard all > 0 else { return nil }
    // Events found outside the window were either too old for the run's `asOf` or too far ahead of it.
    let asOf = try store.runs.all().last?.asOf ?? .last
    let old = try store.ledger.expired(upTo: asOf)
    let (isOld, isAhead) = (old > 0, old < all)
    let reasons = [
      isOld ? "older" : nil, isAhead ? "further ahead" : nil,
    ].compactMap(\.self)
    let ends = [
      isAhead ? "a run closer to their timestamps\(isOld ? ", for those ahead" : "")" : nil,
      isOld ? "no run\(isAhead ? ", for those that are older" : "")" : nil,
    ].compactMap(\.self)
    let subject =
      isAhead
      ? old.counted("of them is", "of them are") : "relative to asOf, \(all == 1 ? "it is" : "they are")"
    return UnsentEvents(
      status: EventStatus.expired.name, events: all,
      reason: "\(reasons.joined(separator: " or ")) than \(service) accepts", setting: setting,
      ends: ends.joined(separator: "; "),
      advice: isOld
        ? "\(subject) older than \(service) accepts. \(legacy)"
        : nil)
  }
}
