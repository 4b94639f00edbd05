import BatchFoundation

/// What a person has to decide or do after a run; nothing if nothing needs one. Each command can be run as it is printed.
enum NextSteps {
  static func of(_ report: RunReport) -> [String] {
    let summary = report.summary
    let invocation = report.invocation
    var steps: [String] = []
    func command(_ words: String...) -> String? {
      report.store.map { ShellCommand(words + ["--store", $0]).text }
    }
    if report.exit == .configuration, report.mode != .dryRun, summary.records.read > 0 {
      steps.append("What was read is stored, and is not lost. Fix the configuration, then run the job again")
    }
    if [.interrupted, .terminated, .inputOutput].contains(report.exit), report.mode != .dryRun {
      let command = report.mode == .post ? invocation.post : invocation.run
      steps.append(
        "The run did not come to its end; what was stored is safe. To continue: \(command.text)\(invocation.omission)")
    }
    if summary.records.quarantined > 0, report.quarantineWaits {
      let lines = Wording.count(summary.records.quarantined, "line was", plural: "lines were")
      if let list = command("quarantine", "list"), report.mode != .dryRun {
        steps.append("\(lines) quarantined. See why: \(list)")
      } else {
        steps.append("\(lines) quarantined; a run would keep them in quarantine. The reasons are in docs/quarantine.md")
      }
    }
    if report.quarantinedEvents > 0 {
      let events = Wording.count(report.quarantinedEvents, "event was", plural: "events were")
      if let store = report.store, report.mode != .dryRun {
        let list = ShellCommand(
          "quarantine", "list", "--store", store, "--reason", QuarantineReason.schemaInvalid.rawValue)
        let replay = invocation.replay(in: store)
        steps.append(
          "\(events) quarantined because of what the checks found: \(list.text). Once the schema knows them: \(replay.text)"
            + invocation.omission)
      } else {
        steps.append(
          "\(events) found faulty; a run would set them aside. --findings-out FILE says what is wrong with each")
      }
    }
    if summary.upload.eventsUnknown > 0, let list = command("store", "events", "--status", "UNKNOWN") {
      steps.append(
        "\(Wording.count(summary.upload.eventsUnknown, "event is", plural: "events are")) held as UNKNOWN, because the answer "
          + "was lost. Check at the service, then decide: \(list)")
    }
    if summary.upload.eventsFailed > 0, let requeue = command("store", "requeue", "--status", "FAILED_POST") {
      steps.append(
        "\(Wording.count(summary.upload.eventsFailed, "event")) could not be posted. When the cause is fixed, send again: "
          + requeue)
    }
    let kept = report.mode == .noUpload ? (summary.store["NOT_POSTED"] ?? 0) + (summary.store["EXPIRED"] ?? 0) : 0
    let pending = max(summary.upload.eventsPending, kept)
    if pending > 0, report.mode != .dryRun {
      steps.append(
        "\(Wording.count(pending, "event waits", plural: "events wait")) in the store. The next run "
          + "sends them, or now: \(invocation.post.text)\(invocation.omission)")
    }
    if report.ledger.possibleDuplicates > 0 {
      steps.append(
        "\(Wording.count(report.ledger.possibleDuplicates, "event")) may exist twice at the service, because an answer was lost "
          + "and Upload.onUnknown is 'resend'. See docs/operations.md")
    }
    if report.stoppedPlans > 0, let list = command("identity", "list", "--open") {
      let plans = Wording.count(report.stoppedPlans, "identity plan waits", plural: "identity plans wait")
      steps.append("\(plans) for a decision: \(list)")
    }
    let open = report.merges.count { $0.state == "open" || $0.state == "undoing" }
    if open > 0, let store = report.store {
      steps.append(
        "\(Wording.count(open, "identity plan is", plural: "identity plans are")) unfinished. The next run continues, or now: "
          + "\(invocation.resumeIdentities(in: store).text)\(invocation.omission)")
    }
    return steps
  }
}
