package import BatchFoundation

/// What is told when runs of a job begin to fail, or are good again: figures and places, and nobody's id.
package struct Alarm: Sendable, Equatable {
  package var job: String
  package var exit: RunExit
  /// The words of what went wrong; nil where there are none.
  package var reason: String?
  /// Counts by name, in their order.
  package var figures: [PlatformReport.Figure] = []
  /// What became of the night.
  package var became: NightState
  /// Windows that no run has read: told by each run until they are read.
  package var missed: [MissedWindow] = []
  /// What continues, as it is typed; nil where nothing has to.
  package var command: String?
  /// The window of the run, or its time.
  package var night: String
  /// What the run was to send and did not.
  package var unsent = 0
  /// The machine that ran it; nil where nobody says.
  package var machine: String?
  /// The service of the job; nil where it is not known.
  package var address: String?
  /// How the connection to it failed, in a few words; nil where it did not.
  package var fault: String?
  /// The page of the run; nil where there is none.
  package var page: String?
  private var purpose = "To continue"
  private var ending: String

  /// Of a run that came to its end, well or not.
  ///
  /// - Parameter folder: where its report was written; nil if there is none.
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
      let events = unsent.counted("event of earlier runs waits", "events of earlier runs wait")
      reason = "\(reason ?? ""); \(events): 'post' or the next run sends them"
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
      purpose = missed.count == 1 ? "To read it" : "To read the first"
    }
    if report.storeIsDamaged == true, let store = report.store { tellDamage(of: store) }
  }

  /// A window of a day by its date.
  private static func night(_ report: RunReport) -> String {
    guard let from = report.from, let to = report.to else { return "run of \(report.startedAt.rfc3339)" }
    let isDay = Zone.utc.startOfDay(from, plus: 0) == from && Zone.utc.startOfDay(from, plus: 1) == to
    return isDay ? "night of \(from.rfc3339.prefix(10))" : "\(from.rfc3339) to \(to.rfc3339)"
  }

  /// An error can have many lines, and a message to a channel should not.
  private static let longestReason = 2000
  /// Of it in a message.
  private static let longestText = 400

  /// Names what shows the damage, in place of the run that would meet it again.
  package mutating func tellDamage(of store: String) {
    command = ShellCommand("store", "check", "--store", store).text
    purpose = "To see the damage"
  }

  /// Whether somebody is told: when good turned to failed or back, and while windows are missed. Of a job's first run that is known, only
  /// a failure is told.
  ///
  /// - Parameter before: how the run before ended; nil where there was none.
  package func isDue(after before: RunExit?) -> Bool {
    !missed.isEmpty || (exit == .done) != (before.map { $0 == .done } ?? true)
  }

  /// What happened, in short: the words of libraries stand in ``reason``.
  package var text: String {
    let counts = figures.filter { $0.count > 0 }.map { "\($0.count.grouped) \($0.name)" }.joined(separator: ", ")
    let head = "\(job), \(night)\(machine.map { " on \($0)" } ?? "")"
    var parts: [String]
    switch exit {
    case .done: parts = ["\(head): \(missed.isEmpty ? "good again" : became.rawValue)"]
    case .serviceUnavailable:
      let service = address ?? "the service"
      let what = unsent > 0 ? unsent.counted("event is", "events are") + " not sent" : "not done"
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

  /// On one line.
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
