package import BatchFoundation

/// The message that is sent when a job's runs begin to fail or recover. It contains figures and places, but no ids.
package struct Alarm: Sendable, Equatable {
  package var job: String
  package var exit: RunExit
  /// The error message; nil if there is none.
  package var reason: String?
  /// The counts to show, in this order.
  package var figures: [PlatformReport.Figure] = []
  package var became: NightState
  /// Windows that no run has read; each run reports them until they are read.
  package var missed: [MissedWindow] = []
  /// The command for the next step; nil if none is needed.
  package var command: String?
  /// The window of the run in words, or the run's start time if the window is open.
  package var night: String
  /// The number of events that the run should have sent but did not.
  package var unsent = 0
  /// The machine of the run; nil if unknown.
  package var machine: String?
  /// The address of the service; nil if unknown.
  package var address: String?
  /// The connection failure in a few words; nil if there was none.
  package var fault: String?
  /// The path of the run's page; nil if there is none.
  package var page: String?
  private var purpose = "To continue"
  private var ending: String

  /// Describes a finished run, successful or not; `folder` is the folder with its report; nil if there is none.
  package init(_ report: RunReport, folder: String? = nil) {
    (job, exit, ending) = (report.job, report.exit, report.missingParts == nil ? report.cause : report.ending)
    (became, missed) = (report.night, report.missed)
    night = Self.night(report)
    page = folder.map { "\($0)/report.html" }
    let reasons = report.failureLines.joined(separator: "; ")
    reason = reasons.isEmpty ? nil : reasons.clipped(toBytes: Self.longestReason)
    let summary = report.summary
    unsent = summary.upload.eventsPending
    if report.nothingUsable == true, unsent > 0 {
      let events = unsent.counted("event from an earlier run is pending", "events from earlier runs are pending")
      reason = "\(reason ?? ""); \(events): 'post' or the next run sends \(unsent == 1 ? "it" : "them")"
    }
    figures = [
      .init("read", summary.records.read), .init("quarantined", summary.records.quarantined),
      .init("events", summary.eventCount), .init("posted", summary.upload.eventsPosted),
      .init("waiting", summary.upload.eventsPending), .init("failed", summary.upload.eventsFailed),
    ]
    if report.exit != .done {
      let invocation = report.invocation
      command = (report.mode == .post ? invocation.post : invocation.run).text
    } else if let first = missed.first {
      command = first.command(report.invocation).text
      purpose = missed.count == 1 ? "To read the missed window" : "To read the first missed window"
    }
    if report.storeIsDamaged == true, let store = report.store { noteDamage(of: store) }
  }

  /// Returns the window in words: its date if it is one day in the job's zone, or the run's start time if it is open.
  private static func night(_ report: RunReport) -> String {
    guard let from = report.from, let to = report.to else { return "run of \(report.startedAt.rfc3339)" }
    let zone = report.shownZone
    let isDay = zone.startOfDay(from) == from && zone.startOfDay(from, plus: 1) == to
    return isDay ? "night of \(zone.period(from, to))" : "\(from.rfc3339) to \(to.rfc3339)"
  }

  /// The maximum number of bytes in ``reason``, because an error may have many lines.
  private static let longestReason = 2000
  /// The maximum number of bytes of the reason that ``text`` shows.
  private static let longestText = 400

  /// Suggests the command that shows the damage instead of another run, which would encounter it again.
  package mutating func noteDamage(of store: String) {
    command = ShellCommand("store", "check", "--store", store).text
    purpose = "To see the damage"
  }

  /// Returns whether to send the message: after a change between success and failure, and while windows are missed. For
  /// a job's first known run (`before` is nil), only a failure counts.
  package func isDue(after before: RunExit?) -> Bool {
    !missed.isEmpty || (exit == .done) != (before.map { $0 == .done } ?? true)
  }

  /// The message for people, on one line. It contains a shortened ``reason``, or ``fault`` if the service was
  /// unavailable.
  package var text: String {
    let counts = figures.filter { $0.count > 0 }.map { "\($0.count.grouped) \($0.name)" }.joined(separator: ", ")
    let head = "\(job), \(night)\(machine.map { " on \($0)" } ?? "")"
    var parts: [String]
    switch exit {
    case .done: parts = ["\(head): \(missed.isEmpty ? "good again" : became.rawValue)"]
    case .serviceUnavailable:
      let service = address ?? "the service"
      let what = unsent > 0 ? unsent.counted("event was", "events were") + " not sent" : "not done"
      parts = ["\(head): \(what)", fault.map { "\(service) did not answer (\($0))" } ?? "\(service) kept failing"]
      if unsent > 0 { parts.append("The next run sends \(unsent == 1 ? "it" : "them")") }
    default:
      parts = ["\(head): failed, \(ending) (exit code \(exit.rawValue))"]
      if let reason { parts.append(reason.clipped(toBytes: Self.longestText)) }
    }
    if !missed.isEmpty {
      let shown = missed.prefix(5).map(\.words).joined(separator: ", ")
      parts.append("Never read: \(shown)\(missed.count > 5 ? " and \(missed.count - 5) more" : "")")
    }
    if !counts.isEmpty, fault == nil { parts.append(counts) }
    if let page { parts.append("Report: \(page)") }
    if let command { parts.append("\(purpose): \(command)") }
    return parts.joined(separator: ". ").printable
  }

  /// Returns the request body on one line.
  package func body(_ form: AlarmForm) -> String {
    let document: JSONNode =
      switch form {
      case .slack: ["text": .text(text)]
      case .teams:
        [
          "type": "message",
          "attachments": [
            [
              "contentType": "application/vnd.microsoft.card.adaptive",
              "content": [
                "type": "AdaptiveCard", "version": "1.4",
                "body": [["type": "TextBlock", "wrap": true, "text": .text(text)]],
              ],
            ]
          ],
        ]
      case .json:
        [
          "job": .text(job), "night": .text(night), "machine": .text(machine), "address": .text(address),
          "report": .text(page), "state": exit != .done ? "failed" : missed.isEmpty ? "good" : "missed",
          "became": .text(became.rawValue), "exit": .number(exit.rawValue),
          "missed": .array(missed.map { ["from": .text($0.from.rfc3339), "to": .text($0.to.rfc3339)] }),
          "reason": .text(reason), "figures": .object(figures.map { ($0.name, .number($0.count)) }),
          "command": .text(command), "text": .text(text),
        ]
      }
    return document.compactText
  }
}
