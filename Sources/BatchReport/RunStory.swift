import BatchFoundation

/// A run in a few sentences, for readers who know campaigns rather than stages.
enum RunStory {
  static func text(_ report: RunReport) -> String {
    let summary = report.summary
    var sentences: [String] = []
    let couldNotBegin = report.failure != nil && summary.records.read == 0 && summary.upload.requests == 0
    if couldNotBegin { sentences.append("The run could not start: nothing was read or sent.") }
    if report.mode != .post, !couldNotBegin {
      let read = summary.records.read.counted("record was read", "records were read")
      let set = summary.campaignsSet
      let fewer = ", and \(set.countedOrFewer("campaign was", "campaigns were")) set"
      let campaigns = set == 0 ? "" : set < 0 ? fewer : ", and a campaign was set \(set.counted("time"))"
      let count = summary.eventCount
      if summary.records.read == 0 {
        sentences.append("No record was read.")
      } else if summary.records.accepted == 0 {
        let reasons = [
          (summary.records.duplicates, "was read before", "were read before"),
          (summary.records.outOfWindow, "is outside the window", "are outside the window"),
        ].filter { $0.0 > 0 }.map { $0.0.counted($0.1, $0.2) }
        sentences.append(
          reasons.isEmpty
            ? "\(read), none accepted." : "\(read), none accepted: \(reasons.joined(separator: ", ")).")
      } else {
        sentences.append("\(read) and \(summary.records.accepted.grouped) accepted.")
      }
      if summary.records.accepted != 0 || count != 0 {
        let became =
          summary.records.accepted == 0 ? "Inactivity led to" : count < 0 ? "They led to" : "They became"
        let events = "\(became) \(count.countedOrFewer("event"))"
        sentences.append(
          "\(events): \(summary.sessionsStarted.countedOrFewer("session")) began, \(report.endedSessions)\(campaigns).")
      }
    }
    switch report.mode {
    case .dryRun: sentences.append("This was a dry run: nothing was changed or sent.")
    case .noUpload where couldNotBegin: break
    case .noUpload: sentences.append("Nothing was sent; the events are in the store.")
    case .run, .post:
      let pending = report.unsent.reduce(0) { $0 + $1.events }
      if couldNotBegin, pending == 0 { break }
      if !couldNotBegin {
        let posted = summary.upload.eventsPosted
        let sent =
          posted.counted("event was sent", "events were sent") + (report.usesSandbox ? " to the sandbox." : ".")
        sentences.append(posted == 0 ? "Nothing was sent." : sent)
      }
      if pending > 0 {
        sentences.append(
          pending.counted("event in the store has", "events in the store have") + " not been sent.")
      }
      if report.stoppedPlans > 0 {
        sentences.append(
          report.stoppedPlans.counted("identity plan needs", "identity plans need") + " a decision.")
      }
      if pending + report.stoppedPlans == 0 { sentences.append("Nothing is pending.") }
    }
    if let forgotten = summary.records.forgotten, forgotten > 0 {
      sentences.append(
        forgotten.counted("record of a forgotten person was", "records of forgotten people were") + " left out.")
    }
    if summary.records.quarantined > 0 {
      let lines = summary.records.quarantined.counted("unusable line was", "unusable lines were")
      sentences.append("\(lines) \(report.mode == .dryRun ? "found" : "quarantined").")
    }
    if report.quarantinedEvents > 0 {
      let events = report.quarantinedEvents.counted("event was", "events were")
      let result = report.mode == .dryRun ? "found faulty by the checks" : "quarantined by the checks and not sent"
      sentences.append("\(events) \(result).")
    }
    return sentences.joined(separator: " ")
  }
}
