package import BatchFoundation

/// What is told when runs of a job begin to fail, or are good again: figures and places, and nobody's id.
package struct Alarm: Sendable, Equatable {
  package var job: String
  package var exit: RunExit
  /// The words of what went wrong; nil where there are none.
  package var reason: String?
  /// Counts by name, in their order.
  package var figures: [PlatformReport.Figure] = []
  /// What continues, as it is typed; nil where nothing has to.
  package var command: String?
  private var purpose = "To continue"
  private var ending: String

  package init(job: String, exit: RunExit, reason: String? = nil, command: String? = nil) {
    self.job = job
    self.exit = exit
    ending = Wording.ending(exit)
    self.reason = reason
    self.command = command
  }

  /// Of a run that came to its end, well or not.
  package init(_ report: RunReport) {
    self.init(job: report.job, exit: report.exit)
    ending = report.ending
    let reasons = report.failureLines.joined(separator: "; ")
    reason = reasons.isEmpty ? nil : reasons.clipped(toBytes: Self.longestReason)
    let summary = report.summary
    figures = [
      .init("read", summary.records.read), .init("quarantined", summary.records.quarantined),
      .init("events", summary.eventCount), .init("posted", summary.upload.eventsPosted),
      .init("waiting", summary.upload.eventsPending), .init("failed", summary.upload.eventsFailed),
    ]
    if report.exit != .done {
      let invocation = report.invocation
      command = (report.mode == .post ? invocation.post : invocation.run).text
    }
    if report.storeIsDamaged == true, let store = report.store { tellDamage(of: store) }
  }

  /// An error can have many lines, and a message to a channel should not.
  private static let longestReason = 2000

  /// Names what shows the damage, in place of the run that would meet it again.
  package mutating func tellDamage(of store: String) {
    command = ShellCommand("store", "check", "--store", store).text
    purpose = "To see the damage"
  }

  /// Whether somebody is told: when good turned to failed or back. Of a job's first run that is known, only a failure is told.
  ///
  /// - Parameter before: how the run before ended; nil where there was none.
  package func isDue(after before: RunExit?) -> Bool { (exit == .done) != (before.map { $0 == .done } ?? true) }

  package var text: String {
    let counts = figures.filter { $0.count > 0 }.map { "\($0.count.grouped) \($0.name)" }.joined(separator: ", ")
    var parts = [
      exit == .done
        ? "\(job): good again" : "\(job): failed with exit code \(exit.rawValue), \(ending)"
    ]
    if let reason, exit != .done { parts.append(reason) }
    if !counts.isEmpty { parts.append(counts) }
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
          "job": .text(job), "state": exit == .done ? "good" : "failed", "exit": .number(exit.rawValue),
          "reason": .text(reason), "figures": .object(figures.map { ($0.name, .number($0.count)) }),
          "command": .text(command), "text": .text(text),
        ]
      }
    return document.compactText
  }
}
