/// What a person has to decide or do after a run; nothing if nothing needs one.
enum NextSteps {
  static func of(_ report: RunReport) -> [String] {
    let summary = report.summary
    var steps: [String] = []
    let store = report.store.map { " --store \(Wording.argument($0))" }
    if summary.records.quarantined > 0 {
      let lines = Wording.count(summary.records.quarantined, "line was", plural: "lines were")
      if let store, report.mode != .dryRun {
        steps.append("\(lines) set aside. See why: engage-batch quarantine list\(store)")
      } else {
        steps.append("\(lines) set aside; a run would keep them in quarantine. The reasons are in docs/quarantine.md")
      }
    }
    if summary.upload.eventsUnknown > 0, let store {
      steps.append(
        "\(Wording.count(summary.upload.eventsUnknown, "event is", plural: "events are")) held as UNKNOWN, for the answer "
          + "was lost. Check at the service, then decide: engage-batch store events --status UNKNOWN\(store)")
    }
    if summary.upload.eventsFailed > 0, let store {
      steps.append(
        "\(Wording.count(summary.upload.eventsFailed, "event")) could not be posted. When the cause is mended, send again: "
          + "engage-batch store requeue\(store)")
    }
    if summary.upload.eventsPending > 0, report.mode != .dryRun {
      steps.append(
        "\(Wording.count(summary.upload.eventsPending, "event waits", plural: "events wait")) in the store. The next run "
          + "sends them, or now: engage-batch post \(Wording.argument(report.jobFile))")
    }
    if report.ledger.possibleDuplicates > 0 {
      steps.append(
        "\(Wording.count(report.ledger.possibleDuplicates, "event")) may exist twice at the service, for an answer was lost "
          + "and Upload.onUnknown is 'resend'. See docs/operations.md")
    }
    let stopped = report.merges.count { $0.state == "conflict" || $0.state == "held" }
    if max(stopped, summary.identity.conflicts) > 0, let store {
      let plans = Wording.count(
        max(stopped, summary.identity.conflicts), "identity plan waits", plural: "identity plans wait")
      steps.append("\(plans) for a decision: engage-batch identity list\(store)")
    }
    let open = report.merges.count { $0.state == "open" || $0.state == "undoing" }
    if open > 0, let store {
      steps.append(
        "\(Wording.count(open, "identity plan is", plural: "identity plans are")) unfinished. The next run goes on, or now: "
          + "engage-batch identity resume\(store)")
    }
    return steps
  }
}
