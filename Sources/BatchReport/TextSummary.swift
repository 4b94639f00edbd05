import BatchFoundation

/// The summary of a run in words, for stderr.
package struct TextSummary: Sendable {
  /// The lines, without line endings or control characters.
  package let lines: [String]

  /// - Parameters:
  ///   - reportFolder: The folder of the report; nil if there is none.
  ///   - namesLines: Whether the causes of quarantined lines are listed.
  package init(_ report: RunReport, reportFolder: String? = nil, namesLines: Bool = true) {
    var text = Table()
    let summary = report.summary
    text.title(Self.head(report))
    for line in report.failureLines { text.row("", line) }
    let records = summary.records
    if let known = report.knownUntil { text.row("known", "until \(known.rfc3339)") }
    if report.mode != .post {
      text.row(
        "records",
        "\(records.read.grouped) read: \(records.accepted.grouped) accepted, "
          + "\(records.duplicates.counted("duplicate")), \(records.outOfWindow.grouped) out of window, "
          + (records.forgotten ?? 0 > 0 ? "\(records.forgotten?.grouped ?? "") forgotten, " : "")
          + "\(records.quarantined.grouped) quarantined"
          + (records.leftOut == nil ? "" : ", \(records.leftOutCount.grouped) left out by maps"))
      for line in report.inputs ?? [] { text.row("", line) }
      for (reason, count) in (records.leftOut ?? [:]).sorted(by: { $0.key.precedesByBytes($1.key) }) {
        text.row("", figure: count, "left out: \(reason)")
      }
      Self.addQuarantine(report, namesLines: namesLines, to: &text)
      if report.quarantinedEvents > 0 {
        let events = report.quarantinedEvents == 1 ? "event" : "events"
        text.row(
          "", figure: report.quarantinedEvents, "\(events) quarantined: \(QuarantineReason.schemaInvalid.rawValue)")
      }
      let count = summary.eventCount
      text.row("events", "\(count.orFewer) \(count < 0 ? "than before" : "from") these records")
      let shown = ShownTypes(summary, atMost: Self.shownTypes)
      for (code, count) in shown.types {
        let code = code.clipped(toBytes: Self.longestName)
        text.row(
          "", figure: count,
          [code, report.platform.typeNames[code] ?? report.platform.unnamedType].filter { !$0.isEmpty }.joined(
            separator: " "))
      }
      if shown.others != 0 { text.row("", figure: shown.others, "of other types") }
      Self.addRewind(summary.rewind, to: &text)
      text.row("sessions", "\(summary.sessionsStarted.orFewer) started, \(report.endedSessions)")
      for line in report.platform.lines {
        text.row(line.label, line.text)
        for count in line.counts { text.row("", figure: count.count, count.name) }
      }
    }
    Self.addIdentity(report, to: &text)
    Self.addUpload(report, to: &text)
    if !summary.store.isEmpty {
      let statuses = summary.store.sorted { $0.key.precedesByBytes($1.key) }
      text.row("store", statuses.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", "))
      for unsent in report.unsent { text.row("", figure: unsent.events, unsent.words) }
    }
    if report.warningCount > 0 {
      text.row("warnings", "\(report.warningCount.grouped); 'engage-batch explain KIND' explains each")
      for warning in report.orderedWarnings { text.row("", figure: warning.occurrences, warning.kind) }
    }
    for (number, sentence) in (report.unusual ?? []).enumerated() { text.row(number == 0 ? "unusual" : "", sentence) }
    if !report.unknownFields.isEmpty {
      let names = report.orderedFields.prefix(5).map {
        "\($0.name.clipped(toBytes: Self.longestName)) (\($0.records.grouped))"
      }
      let more = report.unknownFields.count > 5 ? ", and \(report.unknownFields.count - 5) more" : ""
      text.row("ignored", "unknown fields: \(names.joined(separator: ", "))\(more)")
    }
    if let reportFolder { text.row("report", "\(reportFolder)/report.html") }
    let steps = NextSteps.of(report)
    if !steps.isEmpty { text.title("To do") }
    for step in steps { text.item(step) }
    lines = text.lines
  }

  private static func head(_ report: RunReport) -> String {
    let time = report.summary.durationSeconds.inSeconds
    let ending = report.ending
    let result =
      report.exit == .done ? "\(ending) in \(time)" : "\(ending) (exit code \(report.exit.rawValue)), after \(time)"
    let mode = report.mode == .run ? "" : " (\(report.mode.words))"
    return "\(report.job): \(result)\(mode)\(report.usesSandbox ? ", against the sandbox" : "")"
  }

  /// Adds the changes that late records caused, and the numbers by which they reduced the event count.
  private static func addRewind(_ rewind: RunSummary.Rewind, to text: inout Table) {
    guard rewind.added + rewind.replaced + rewind.withdrawn + rewind.corrections > 0 else { return }
    text.row("rewind", "\(rewind.devices.counted("device")) processed again: \(rewind.words)")
    let wrong = rewind.sentWrongly ?? 0
    if rewind.withdrawn > 0 { text.row("", figure: rewind.withdrawn, "withdrawn, deducted from the events above") }
    if wrong > 0 { text.row("", figure: wrong, "already sent but now wrong, deducted from the events above") }
  }

  /// Adds the numbers of quarantined lines by reason and, if `namesLines` is set, their causes.
  private static func addQuarantine(_ report: RunReport, namesLines: Bool, to text: inout Table) {
    for reason in QuarantineReason.allCases {
      guard let count = report.summary.quarantineReasons[reason] else { continue }
      text.row("", figure: count, "quarantined: \(reason.rawValue)")
      guard namesLines else { continue }
      let causes = (report.quarantineCauses ?? []).filter { $0.reason.isIdentical(to: reason.rawValue) }
      for cause in causes.prefix(shownCauses) { text.row("", "            \(cause.text)") }
      if causes.count > shownCauses {
        text.row("", "            and \((causes.count - shownCauses).counted("other cause"))")
      }
    }
  }

  private static let shownCauses = 5
  private static let shownLines = 20
  private static let shownTypes = 50
  private static let longestName = 100

  private static func addIdentity(_ report: RunReport, to text: inout Table) {
    let identity = report.summary.identity
    guard identity != RunSummary.Identity() else { return }
    if report.mode == .dryRun {
      text.row("identity", "\(identity.checks.counted("check")) would be performed")
      return
    }
    text.row(
      "identity",
      "\(identity.checks.counted("check")); recipients: \(identity.created.grouped) created, "
        + "\(identity.updated.grouped) updated, \(identity.merged.grouped) merged; "
        + "\(identity.conflicts.counted("conflict")), \(identity.auditRows.counted("audit row"))")
    if identity.refused > 0 {
      let plans = identity.refused == 1 ? "plan" : "plans"
      text.row("", figure: identity.refused, "\(plans) refused by the service for good")
      let shown = report.merges.filter { $0.state == IdentityMerge.refused }.prefix(shownLines)
      for merge in shown { text.row("", "  \(merge.refusal)") }
      if identity.refused > shown.count {
        text.row("", "  and \((identity.refused - shown.count).grouped) more: see 'identity list --open'")
      }
    }
    if identity.newOwners > 0 {
      let devices = identity.newOwners == 1 ? "device" : "devices"
      text.row("", figure: identity.newOwners, "\(devices) with a new owner (Recipient.onNewUserId)")
    }
    if identity.decidedByPolicy > 0 {
      let checks = identity.decidedByPolicy == 1 ? "check" : "checks"
      text.row(
        "", figure: identity.decidedByPolicy,
        "\(checks) without a change, by policy (Recipient.sharedDevice, undone merges)")
    }
  }

  private static func addUpload(_ report: RunReport, to text: inout Table) {
    guard report.mode != .dryRun else { return }
    let upload = report.summary.upload
    text.row(
      "upload",
      "\(upload.eventsPosted.counted("event")) posted in \(upload.chunks.counted("chunk")), "
        + "\(upload.requests.counted("request")), \(upload.retries.counted("retry", "retries"))")
    for (count, words) in [
      (upload.eventsFailed, "failed"), (upload.eventsPending, "pending"), (upload.eventsUnknown, "held as UNKNOWN"),
      (report.ledger.possibleDuplicates, "possibly duplicated at the service"),
    ] where count > 0 {
      text.row("", figure: count, words)
    }
    // If the stop ended the run, the failure at the top already gives the reason.
    if let stop = report.ledger.stop, report.failure?.contains(stop) != true { text.row("", "stopped early: \(stop)") }
  }

  private struct Table {
    private static let labelWidth = 11
    var lines: [String] = []

    mutating func title(_ text: String) { lines.append(text.printable) }

    mutating func row(_ label: String, _ text: String) {
      lines.append("  " + label.filled(to: Self.labelWidth) + text.printable)
    }

    mutating func row(_ label: String, figure: Int, _ text: String) {
      let digits = abs(figure).grouped
      let indent = String(repeating: " ", count: max(0, 8 - digits.count))
      row(label, indent + digits + "  " + (figure < 0 ? "fewer: " : "") + text)
    }

    mutating func item(_ text: String) { lines.append("  - " + text.printable) }
  }
}

/// The order of event codes: numbers by value, then other codes by their bytes.
enum EventCodeOrder {
  static func precedes(_ one: String, _ other: String) -> Bool {
    switch (Int(one), Int(other)) {
    case (let left?, let right?): left != right ? left < right : one.precedesByBytes(other)
    case (nil, nil): one.precedesByBytes(other)
    case (let left, _): left != nil
    }
  }
}

/// The displayed numbers of events: the most frequent types in the order of their codes, and the sum of the others.
struct ShownTypes {
  let types: [(code: String, events: Int)]
  let others: Int

  init(_ summary: RunSummary, atMost limit: Int) {
    let most = summary.eventsByType.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
    types = most.prefix(limit).map { ($0.key.string, $0.value) }.sorted { EventCodeOrder.precedes($0.code, $1.code) }
    others = summary.eventCount - types.reduce(0) { $0 + $1.events }
  }
}
