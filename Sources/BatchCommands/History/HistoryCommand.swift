import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import Glibc

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract:
      "List the runs of a store: times, outcomes, counts and changed settings.",
    discussion: """
      'ending' is the exit code, or 'unfinished' for a run that was killed or is in progress; 'night' is the state of the run: \
      done, done with findings, no input, refused or failed; 'reason' says why a run ended early; 'windowFrom' and 'windowTo' \
      are its window; 'changed' lists the settings that differ from those of the previous run. 'engage-batch report --run N' \
      shows a run in full. A terminal shows eight columns, or all with --wide; 'window' is the window in UTC.

      'read' is the sum of accepted lines, duplicates, lines out of window, records of forgotten people, lines left out by maps \
      ('leftOut'), and quarantined lines. 'events' are those that the run added to the store; events quarantined by the \
      checks are counted in 'quarantinedEvents', and a game's events that are too old or too far in the future for the \
      service in 'expiredEvents'.
      """)

  @OptionGroup var choice: StoreChoice<JobName>

  @Option(help: "Show at most this many of the latest runs.")
  var limit: Int?

  @Option(name: .customLong("run"), help: "Show only the run with this number.")
  var number: Int64?

  @Flag(help: "On a terminal, show all columns, as in pipes and JSON.")
  var wide = false

  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
  }

  func run() throws {
    try choice.reading { store, _ in
      if let number { _ = try store.knownRun(number) }
      var rows = try HistoryRow.all(of: store)
      if let number { rows.removeAll { $0.run.id.number != number } }
      if let limit { rows = rows.suffix(limit) }
      let isShort = !wide && answer.format == .text && isatty(STDOUT_FILENO) == 1
      var listing = Listing(answer.format, columns: isShort ? HistoryRow.shortColumns : HistoryRow.columns)
      for row in rows {
        let cells = row.cells(answer.format, of: store.format.destination)
        listing.add(isShort ? HistoryRow.short(cells) : cells)
      }
      listing.end()
    }
  }
}

/// A run, and the settings that changed since the previous run.
struct HistoryRow {
  static let columns = [
    "run", "job", "mode", "started", "seconds", "asOf", "windowFrom", "windowTo", "ending", "night", "read", "accepted",
    "duplicates", "outOfWindow",
    "forgotten", "leftOut", "quarantined", "events", "quarantinedEvents", "expiredEvents", "posted", "failed",
    "pending", "merged", "reason", "changed",
  ]

  static let shortColumns = ["run", "started", "window", "night", "read", "posted", "pending", "reason"]

  /// Returns the cells of the short columns. Times are truncated to minutes, and the ends of a window to days
  /// if both are at midnight; without a night, the ending is shown.
  static func short(_ cells: [JSONNode]) -> [JSONNode] {
    let row = Dictionary(uniqueKeysWithValues: zip(columns, cells))
    func time(_ name: String) -> String? {
      row[name]?.string.map { String($0.prefix(16)).replacing("T", with: " ") }
    }
    return shortColumns.map { name in
      switch name {
      case "started": return .text(time(name))
      case "window":
        let times = [time("windowFrom"), time("windowTo")]
        let isDays = times.allSatisfy { $0?.hasSuffix(" 00:00") ?? true }
        let texts = times.map { $0.map { String(isDays ? $0.prefix(10) : $0[...]) } }
        let ends = zip(["from", "to"], texts).compactMap { word, text in text.map { "\(word) \($0)" } }
        return .text(ends.isEmpty ? nil : ends.joined(separator: " "))
      case "night":
        guard let ending = row["ending"] else { return .text(nil) }
        let night = row[name]?.string ?? (ending.integer == 0 ? "done" : nil)
        return .text(ending.integer.map { $0 == 0 ? night ?? "" : "\(night ?? "failed") (\($0))" } ?? ending.string)
      case "reason": return .text(row[name]?.string?.clipped(toBytes: 80))
      default: return row[name] ?? .text(nil)
      }
    }
  }

  /// A setting that differs between two runs; a value is nil if the run had no setting with that name.
  struct Change: Equatable {
    var name: String
    var before: String?
    var after: String?
  }

  var run: StoredRun
  var changes: [Change]

  /// Returns all runs, oldest first. Runs without a configuration, such as an operator's, are not compared.
  static func all(of store: EventStore) throws -> [HistoryRow] {
    var known: [String: [RunSetting]] = [:]
    var before: String?
    return try store.runs.all().map { run in
      let digest = run.configurationDigest
      var row = HistoryRow(run: run, changes: [])
      guard !digest.isEmpty else { return row }
      if known[digest] == nil { known[digest] = try store.runs.settings(digest: digest) }
      if let before, before != digest { row.changes = changes(from: known[before] ?? [], to: known[digest] ?? []) }
      before = digest
      return row
    }
  }

  /// Returns the changes by name; empty if the settings of either run were not kept.
  static func changes(from old: [RunSetting], to new: [RunSetting]) -> [Change] {
    guard !old.isEmpty, !new.isEmpty else { return [] }
    let before = Dictionary(uniqueKeysWithValues: old.map { ($0.name, $0.value) })
    let after = Dictionary(uniqueKeysWithValues: new.map { ($0.name, $0.value) })
    return Set(before.keys).union(after.keys).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .filter { before[$0] != after[$0] }.map { Change(name: $0, before: before[$0], after: after[$0]) }
  }

  /// Returns the cells. Figures are empty if the run did not end or the platform does not count them.
  func cells(_ format: OutputFormat, of platform: String) -> [JSONNode] {
    let counters = run.figures
    func figure(_ section: String, _ name: String) -> JSONNode { counters?[section]?[name] ?? .text(nil) }
    let reason = run.exit ?? 0 == 0 ? [] : RunReport.shownLines(of: counters?["stopped"]?.string)
    let seconds = run.finished.map { Double($0.milliseconds - run.started.milliseconds) / 1000 }
    return [
      .number(run.id.number), .text(run.job), .text(run.mode), .text(run.started.rfc3339),
      seconds.map { JSONNode(.number("\($0)")) } ?? .text(nil), .text(run.asOf.rfc3339),
      .text(run.window.from?.rfc3339), .text(run.window.to?.rfc3339),
      run.exit.map { .number($0) } ?? .text("unfinished"), .text(run.night?.rawValue),
      figure("records", "read"), figure("records", "accepted"), figure("records", "duplicates"),
      figure("records", "outOfWindow"), figure("records", "forgotten"), figure("records", "leftOut"),
      figure("records", "quarantined"), eventFigures(counters),
      figure(platform, "invalid"), figure(platform, "expired"), figure("upload", "eventsPosted"),
      figure("upload", "eventsFailed"), figure("upload", "eventsPending"), figure("identity", "merged"),
      .text(reason.isEmpty ? nil : reason.joined(separator: "; ")), changed(format),
    ]
  }

  /// Returns the number of events the run produced; 0 for `post`, whose summary counts events from earlier runs.
  private func eventFigures(_ counters: JSONNode?) -> JSONNode {
    guard let counters else { return .text(nil) }
    return run.mode == RunMode.post.name ? .number(0) : counters["events"]?["total"] ?? .text(nil)
  }

  private func changed(_ format: OutputFormat) -> JSONNode {
    switch format {
    case .json:
      .array(
        changes.map {
          .object(["setting": .text($0.name), "before": .text($0.before), "after": .text($0.after)])
        })
    case .text:
      .text(
        changes.map { "\($0.name): \($0.before ?? "none") -> \($0.after ?? "none")" }.joined(separator: "; "))
    }
  }
}
