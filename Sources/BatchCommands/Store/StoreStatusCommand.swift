import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import Engage

struct StoreStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Count the events of a store by status, and show pending work.")

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    try options.reading { store, platform in
      var facts = try Self.facts(of: store)
      try facts.add(InstalledPlatforms.of(platform).contents(of: store))
      facts.note(try platform.unsentEvents(in: store).map { "\($0.events.counted("event")) \($0.words)" })
      options.answer.format.show(facts)
    }
  }

  /// Returns the counts. The member `store` of the result is the same as in a run's summary; the rest is what operators
  /// usually need next.
  static func facts(of store: EventStore) throws -> Facts {
    let counts = try store.ledger.statusCounts()
    let overview = try store.overview()
    let quarantine = try store.quarantine.counts()
    let kept = try store.timelines.kept()
    let erased = try store.erasures.proofs().flatMap(\.counts).filter { $0.what == EventStatus.successfullyPosted.name }
      .reduce(0) { $0 + $1.count }
    let (destination, known) = (try store.destination()?.description, try store.runs.knownUntil()?.rfc3339)
    let checks = try store.identities.pendingCheckCount()
    let names = EventStatus.allCases.compactMap { status in counts[status].map { (status.name, $0) } }
    let reasons = QuarantineReason.allCases.compactMap { reason in quarantine[reason].map { (reason.rawValue, $0) } }
    func counted(_ counts: [(String, Int)]) -> JSONNode { .object(counts.map { ($0, .number($1)) }) }

    let statuses = names.sorted { $0.0 < $1.0 }
    var facts: Facts = ["store": counted(statuses)]
    for (name, count) in statuses { facts.addLine(name, "\(count)") }
    let all = counts.values.reduce(0, +)
    let erasedToo = erased > 0 ? "; events of forgotten people: \(erased.grouped)" : ""
    // Erased events posted long ago may have been purged since.
    let there = max(0, all - erased)
    let (events, runs) = (there.counted("event"), overview.runs.counted("run"))
    facts.add("events", .number(all))
    // The device states of collected parts stay in the results of the parts.
    facts.note(
      overview.devices == 0 && there > 0
        ? "\(events), \(runs); no device states\(erasedToo)"
        : "\(events) of \(overview.devices.counted("device")), \(runs); "
          + overview.heldDevices.counted("device has held events", "devices have held events") + erasedToo)
    facts.add("erased", .number(erased))
    facts.add("destination", .text(destination))
    facts.note("destination: \(destination ?? "none yet; the first run with a known destination binds the store")")
    facts.add("knownUntil", .text(known))
    if let known { facts.note("known until: \(known)") }
    facts.add(
      "rewind",
      [
        "nights": .number(kept.nights), "records": .number(kept.records), "bytes": .number(kept.bytes),
        "corrections": .number(try store.ledger.correctionCount()),
      ])
    if kept.nights > 0 {
      facts.note(
        "kept for late records: \(kept.records.counted("record")) from \(kept.nights.counted("run")), "
          + kept.bytes.counted("byte"))
    }
    facts.add("oldestPending", .text(overview.oldestPending?.rfc3339))
    if let oldest = overview.oldestPending { facts.note("oldest pending event: \(oldest.rfc3339)") }
    facts.add("devices", .number(overview.devices))
    facts.add("heldDevices", .number(overview.heldDevices))
    facts.add("pendingChecks", .number(checks))
    if checks > 0 { facts.note(checks.counted("identity check is", "identity checks are") + " not finished") }
    facts.add("quarantine", counted(reasons))
    facts.note(reasons.map { "quarantined: \($0.0) \($0.1)" })
    facts.add("runs", .number(overview.runs))
    return facts
  }
}
