package import BatchFoundation

/// The metrics of a job's last run in the Prometheus text format (`docs/watch.md`).
package struct MetricsText: Sendable {
  package var job: String
  package var exit: RunExit
  package var endedAt: Instant
  /// The last time at which a run of the job ended with exit code 0, as far as is known; nil for never.
  package var lastSuccess: Instant?
  package var report: RunReport?
  /// False if the run ended before its figures were known.
  package var isWhole = true

  package init(
    job: String, exit: RunExit, endedAt: Instant, lastSuccess: Instant?, report: RunReport? = nil, isWhole: Bool = true
  ) {
    self.isWhole = isWhole
    self.job = job
    self.exit = exit
    self.endedAt = endedAt
    self.lastSuccess = exit == .done ? endedAt : lastSuccess
    self.report = report
  }

  private static let success = "engage_batch_last_success_time_seconds"

  /// Reads the time of the job's last run with exit code 0 from an earlier metrics text; nil if it has none.
  package static func lastSuccess(of job: String, in text: String) -> Instant? {
    let begin = "\(success){\(label("job", job))} "
    for line in text.split(separator: "\n") where line.hasPrefix(begin) {
      return DecimalSeconds(line.dropFirst(begin.count)).map { Instant(milliseconds: $0.milliseconds) }
    }
    return nil
  }

  /// Returns the job label of a metrics text; nil if there is none, or if it has escapes.
  package static func job(in text: String) -> String? {
    let name = text.firstRange(of: "{job=\"").map { text[$0.upperBound...].prefix { $0 != "\"" } }
    return name.flatMap { $0.contains("\\") ? nil : String($0) }
  }

  /// The metrics in the Prometheus text format, ending with a line feed.
  package var text: String { families.map { $0.text(job: job) }.joined() }

  private var night: NightState { report?.night ?? NightState(exit, hasFindings: false) }

  var families: [Family] {
    var families: [Family] = [
      Family("engage_batch_run_end_time_seconds", "Time at which the last run ended.", [([], Self.seconds(endedAt))]),
      Family("engage_batch_run_exit_code", "Exit code of the last run.", [([], String(exit.rawValue))]),
      Self.counts(
        "engage_batch_night", "State of the last run's night: 1 for the current state, 0 for the others.", "state",
        NightState.allCases.map { ($0.rawValue, $0 == night ? 1 : 0) }),
    ]
    if let lastSuccess {
      families.append(
        Family(Self.success, "Time at which a run last ended with exit code 0.", [([], Self.seconds(lastSuccess))]))
    }
    if let report { families += isWhole ? Self.families(report) : [Self.missed(report)] }
    return families
  }

  private static func missed(_ report: RunReport) -> Family {
    Family(
      "engage_batch_missed_windows", "Windows of the job that no run has read.", [([], String(report.missed.count))])
  }

  private static func families(_ report: RunReport) -> [Family] {
    let summary = report.summary
    let (records, upload, identity) = (summary.records, summary.upload, summary.identity)
    return [
      Family(
        "engage_batch_run_duration_seconds", "Duration of the last run.",
        [([], "\((summary.durationSeconds * 1000).rounded() / 1000)")]),
      counts(
        "engage_batch_run_records", "Records that the last run read, by result.", "result",
        [
          ("accepted", records.accepted), ("duplicate", records.duplicates), ("out_of_window", records.outOfWindow),
          ("forgotten", records.forgotten ?? 0), ("quarantined", records.quarantined),
        ] + (records.leftOut == nil ? [] : [("left_out", records.leftOutCount)])),
      counts(
        "engage_batch_run_quarantined", "Lines that the last run quarantined, by reason.", "reason",
        QuarantineReason.allCases.compactMap { reason in summary.quarantineReasons[reason].map { (reason.rawValue, $0) }
        }),
      counts(
        "engage_batch_run_events", "Events of the last run, by code.", "code",
        summary.eventsByType.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }
          + (summary.otherEvents > 0 ? [("others", summary.otherEvents)] : [])),
      counts(
        "engage_batch_devices", "Devices of the last run, by what they did.", "did",
        (summary.people?.inDevices ?? []).map { ($0.name, $0.devices) }),
      counts(
        "engage_batch_run_uploaded_events", "Events that the last run sent or left unsent, by outcome.", "outcome",
        [
          ("posted", upload.eventsPosted), ("failed", upload.eventsFailed), ("pending", upload.eventsPending),
          ("unknown", upload.eventsUnknown),
        ]),
      counts(
        "engage_batch_run_requests", "Requests of the last run.", "attempt",
        [("first", upload.requests - upload.retries), ("repeated", upload.retries)]),
      counts(
        "engage_batch_run_identities", "Identity checks of the last run and their results.", "result",
        [
          ("checked", identity.checks), ("created", identity.created), ("updated", identity.updated),
          ("merged", identity.merged), ("conflict", identity.conflicts), ("refused", identity.refused),
        ]),
      counts(
        "engage_batch_run_warnings", "Warnings of the last run, by kind.", "kind",
        report.orderedWarnings.map { ($0.kind, $0.occurrences) }),
      missed(report),
      Family(
        "engage_batch_run_possible_duplicates", "Events of the last run that the service may have twice.",
        [([], String(report.ledger.possibleDuplicates))]),
      counts(
        "engage_batch_store_events", "Events of the whole store, by status.", "status",
        summary.store.sorted { $0.key.precedesByBytes($1.key) }.map { ($0.key, $0.value) }),
    ].filter { !$0.samples.isEmpty }
  }

  private static func counts(_ name: String, _ help: String, _ label: String, _ values: [(String, Int)]) -> Family {
    Family(name, help, values.map { ([(label, $0.0)], String($0.1)) })
  }

  private static func seconds(_ instant: Instant) -> String {
    let (seconds, fraction) = instant.milliseconds.quotientAndRemainder(dividingBy: 1000)
    let digits = String(fraction)
    return "\(seconds).\(String(repeating: "0", count: 3 - digits.utf8.count))\(digits)"
  }

  fileprivate static func label(_ name: String, _ value: String) -> String {
    let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    return "\(name)=\"\(escaped)\""
  }

  /// A metric with its values. All are gauges, because each run begins at 0.
  struct Family {
    var name: String
    var help: String
    var samples: [(labels: [(String, String)], value: String)]

    init(_ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: String)]) {
      self.name = name
      self.help = help
      self.samples = samples
    }

    fileprivate func text(job: String) -> String {
      let lines = samples.map { sample in
        let labels = ([("job", job)] + sample.labels).map { MetricsText.label($0.0, $0.1) }.joined(separator: ",")
        return "\(name){\(labels)} \(sample.value)\n"
      }
      return "# HELP \(name) \(help)\n# TYPE \(name) gauge\n" + lines.joined()
    }
  }
}

/// Seconds with three decimals, as ``MetricsText`` writes them.
private struct DecimalSeconds {
  var milliseconds: Int64

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 3, let seconds = Int64(parts[0]), let fraction = Int64(parts[1]),
      seconds >= 0, fraction >= 0, seconds <= Instant.last.milliseconds / 1000
    else { return nil }
    milliseconds = seconds * 1000 + fraction
  }
}
