import BatchFoundation

/// The figures of a run, each with the words beside it.
extension HTMLPage {
  static func others(_ report: RunReport) -> [Figure] {
    let summary = report.summary
    let silently = report.activity.sessionsOverSilently
    var figures = [
      Figure(name: "sessions started", figure: summary.sessionsStarted.grouped),
      Figure(
        name: silently > 0 ? "sessions that an event ended" : "sessions ended", figure: summary.sessionsEnded.grouped),
    ]
    if silently > 0 {
      figures.append(Figure(name: "sessions that silence ended, recorded ones included", figure: silently.grouped))
    }
    return figures
  }

  /// What the report is about, in as few characters as say it: a day, days, or the time up to which it goes.
  static func period(_ report: RunReport) -> String {
    guard let from = report.from, let to = report.to else { return "as of \(minute(report.asOf))" }
    let day: Int64 = 86_400_000
    guard from.milliseconds % day == 0, to.milliseconds % day == 0 else { return "\(minute(from)) to \(minute(to))" }
    let (first, last) = (date(from), date(Instant(milliseconds: to.milliseconds - 1)))
    return first == last ? first : "\(first) to \(last)"
  }

  private static func date(_ instant: Instant) -> String { String(instant.rfc3339.prefix(10)) }

  private static func minute(_ instant: Instant) -> String {
    "\(date(instant)) \(instant.rfc3339.dropFirst(11).prefix(5)) UTC"
  }

  static func facts(_ report: RunReport) -> [Fact] {
    let mode =
      switch report.mode {
      case .run: "run"
      case .dryRun: "dry run: nothing was changed or sent"
      case .noUpload: "no upload: nothing was sent"
      case .post: "post: no inputs were read"
      }
    let window =
      switch (report.from, report.to) {
      case (nil, nil): "open"
      case (let from, let to): "\(from?.rfc3339 ?? "open") to \(to?.rfc3339 ?? "open")"
      }
    var facts = [
      Fact(name: "started", value: report.startedAt.rfc3339),
      Fact(name: "took", value: Wording.seconds(report.summary.durationSeconds)),
      Fact(name: "as of", value: report.asOf.rfc3339),
      Fact(name: "window", value: window),
      Fact(name: "known until", value: report.knownUntil?.rfc3339 ?? "silence decided nothing"),
      Fact(name: "kind of run", value: mode),
      Fact(name: "destination", value: report.destination + (report.usesSandbox ? ", in the sandbox" : "")),
      Fact(name: "job file", value: report.jobFile),
    ]
    if let store = report.store { facts.append(Fact(name: "store", value: store)) }
    if !report.configuration.digest.isEmpty {
      facts.append(Fact(name: "configuration", value: report.configuration.digest))
    }
    facts.append(Fact(name: "exit code", value: String(report.exit.rawValue)))
    return facts
  }

  static func tiles(_ report: RunReport) -> [Tile] {
    let summary = report.summary
    var tiles: [Tile] = []
    if report.mode != .post {
      tiles += [
        Tile(figure: summary.records.read.grouped, label: "records read", tone: "plain"),
        Tile(figure: summary.records.accepted.grouped, label: "accepted", tone: "plain"),
        Tile(figure: summary.records.duplicates.grouped, label: "duplicates", tone: "plain"),
        Tile(figure: summary.records.outOfWindow.grouped, label: "out of window", tone: "plain"),
        Tile(
          figure: (summary.records.quarantined + report.quarantinedEvents).grouped, label: "quarantined",
          tone: summary.records.quarantined + report.quarantinedEvents > 0 ? "attention" : "plain"),
      ]
      if summary.records.leftOut != nil {
        tiles.append(Tile(figure: summary.records.leftOutCount.grouped, label: "left out by maps", tone: "plain"))
      }
      tiles.append(Tile(figure: summary.eventCount.grouped, label: "events", tone: "plain"))
    }
    if report.mode != .dryRun {
      tiles.append(
        Tile(
          figure: summary.upload.eventsPosted.grouped, label: "posted",
          tone: summary.upload.eventsPosted > 0 ? "good" : "plain"))
    }
    for (count, label) in [
      (summary.upload.eventsFailed, "failed"), (summary.upload.eventsUnknown, "unknown"),
      (report.ledger.possibleDuplicates, "possibly twice"), (report.warningCount, "warnings"),
    ] where count > 0 {
      tiles.append(Tile(figure: count.grouped, label: label, tone: "attention"))
    }
    return tiles
  }

  static func uploads(_ report: RunReport) -> [Figure] {
    let upload = report.summary.upload
    var figures = [
      ("chunks", upload.chunks), ("requests", upload.requests), ("retries", upload.retries),
      ("events posted", upload.eventsPosted), ("events failed", upload.eventsFailed),
      ("events waiting", upload.eventsPending), ("events unknown", upload.eventsUnknown),
      ("events possibly twice at the service", report.ledger.possibleDuplicates),
      ("chunks recovered from an interrupted run", report.ledger.recoveredChunks),
    ]
    for (outcome, count) in report.ledger.outcomes.sorted(by: { $0.key.precedesByBytes($1.key) }) {
      figures.append(("attempts \(outcome)", count))
    }
    var rows = figures.map { Figure(name: $0.0, figure: $0.1.grouped) }
    for answer in report.ledger.answers {
      let share =
        switch answer.share {
        case .half: "median answer time"
        case .nearlyAll: "95th percentile answer time"
        case .all: "slowest answer"
        }
      rows.append(Figure(name: share, figure: Wording.seconds(answer.seconds)))
    }
    return rows
  }

  static func identities(_ identity: RunSummary.Identity) -> [Figure] {
    [
      ("checks", identity.checks), ("created", identity.created), ("updated", identity.updated),
      ("merged", identity.merged),
      ("conflicts", identity.conflicts), ("refused", identity.refused), ("decided by policy", identity.decidedByPolicy),
      ("audit rows", identity.auditRows),
    ].map { Figure(name: $0.0, figure: $0.1.grouped) }
  }
}
