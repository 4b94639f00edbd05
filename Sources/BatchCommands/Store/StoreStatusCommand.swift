import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import Engage

struct StoreStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Count the events of a store by status, and what waits in it.")

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    try options.reading { store, platform in
      let document = try Self.document(store)
      let contents = try InstalledPlatforms.of(platform)?.contents(of: store)
      let own = contents.map { [JSONMember(key: $0.key, value: $0.document)] } ?? []
      try options.answer.format.tell(document.adding(own)) {
        for member in document["store"]?.members ?? [] { Streams.data("\(member.key)\t\(member.value.text())") }
        for note in Self.notes(document) + (contents?.lines ?? []) { Streams.note(note) }
        for unsent in try platform.unsentEvents(in: store) {
          Streams.note("\(unsent.events.counted("event")) \(unsent.words)")
        }
      }
    }
  }

  /// Returns the counts. `store` is the same as in a run's summary; the rest is what operators usually ask next.
  static func document(_ store: EventStore) throws -> JSONNode {
    let counts = try store.ledger.statusCounts()
    let overview = try store.overview()
    let quarantine = try store.quarantine.counts()
    let kept = try store.timelines.kept()
    let erased = try store.erasures.proofs().flatMap(\.counts).filter { $0.what == EventStatus.successfullyPosted.name }
      .reduce(0) { $0 + $1.count }
    let names = EventStatus.allCases.compactMap { status in counts[status].map { (status.name, $0) } }
    let reasons = QuarantineReason.allCases.compactMap { reason in quarantine[reason].map { (reason.rawValue, $0) } }
    return [
      "store": counted(names.sorted { $0.0 < $1.0 }),
      "events": .number(counts.values.reduce(0, +)),
      "erased": .number(erased),
      "destination": .text(try store.destination()?.description),
      "knownUntil": .text(try store.runs.knownUntil()?.rfc3339),
      "rewind": [
        "nights": .number(kept.nights), "records": .number(kept.records), "bytes": .number(kept.bytes),
        "corrections": .number(try store.ledger.correctionCount()),
      ],
      "oldestPending": .text(overview.oldestPending?.rfc3339),
      "devices": .number(overview.devices),
      "heldDevices": .number(overview.heldDevices),
      "pendingChecks": .number(try store.identities.pendingCheckCount()),
      "quarantine": counted(reasons),
      "runs": .number(overview.runs),
    ]
  }

  static func notes(_ document: JSONNode) -> [String] {
    func number(_ key: String) -> Int { Int(document[key]?.integer ?? 0) }
    let erased = number("erased") > 0 ? ", and \(number("erased").grouped) of people who were forgotten" : ""
    // Erased events posted long ago may have been purged since.
    let there = max(0, number("events") - number("erased"))
    let events = there.counted("event")
    let runs = number("runs").counted("run")
    // The states of collected parts are in the results.
    var notes = [
      number("devices") == 0 && there > 0
        ? "\(events), \(runs); it has no states of devices\(erased)"
        : "\(events) of \(number("devices").counted("device")), \(runs); "
          + number("heldDevices").counted("device holds events back", "devices hold events back") + erased
    ]
    notes.append(
      "destination: \(document["destination"]?.string ?? "none yet; the first run that knows it binds the store")")
    if let known = document["knownUntil"]?.string { notes.append("known until: \(known)") }
    if let rewind = document["rewind"], let nights = rewind["nights"]?.integer, nights > 0 {
      func figure(_ key: String) -> Int { Int(rewind[key]?.integer ?? 0) }
      notes.append(
        "kept for late records: \(figure("records").counted("record")) of \(figure("nights").counted("night")), "
          + figure("bytes").counted("byte"))
    }
    if let oldest = document["oldestPending"]?.string { notes.append("oldest event to be sent: \(oldest)") }
    if number("pendingChecks") > 0 {
      notes.append(number("pendingChecks").counted("identity check is", "identity checks are") + " not finished")
    }
    for reason in document["quarantine"]?.members ?? [] {
      notes.append("quarantined: \(reason.key) \(reason.value.text())")
    }
    return notes
  }

  private static func counted(_ counts: [(String, Int)]) -> JSONNode {
    .object(counts.map { ($0, .number($1)) })
  }
}
