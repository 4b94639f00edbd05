import BatchFoundation

/// The actions and decisions that a run leaves to a person. The commands can be run as printed.
enum NextSteps {
  static func of(_ report: RunReport) -> [String] {
    let summary = report.summary
    let invocation = report.invocation
    var steps: [String] = []
    func command(_ words: String...) -> String? {
      report.store.map { ShellCommand(words + ["--store", $0]).text }
    }
    if report.exit == .serviceUnavailable, report.mode != .dryRun {
      steps.append(
        "The service could not be reached or kept failing. Nothing is lost: the next run continues where this one stopped"
      )
    }
    if report.exit == .configuration, report.mode != .dryRun, summary.records.read > 0 {
      steps.append("The records read are safe in the store. Fix the configuration, then run the job again")
    }
    if report.storeIsDamaged == true, let check = command("store", "check"),
      let salvage = report.store.map({ ShellCommand("store", "salvage", "--store", $0, "--to").text })
    {
      steps.append(
        "The store is damaged, so the job would fail again. To see the damage: \(check). To copy the intact data to a new store: \(salvage) FILE"
      )
    } else if [.interrupted, .terminated, .inputOutput].contains(report.exit), report.mode != .dryRun {
      let command = report.mode == .post ? invocation.post.text + invocation.omission : invocation.runText()
      let again = invocation.parts == nil || report.mode == .post ? command : "run the same 'collect' again"
      steps.append("The run did not finish; everything it stored is safe. To continue: \(again)")
    }
    if report.exit == .configuration, report.mode != .dryRun, summary.records.read == 0 {
      let check = ShellCommand("validate", invocation.jobFile).text
      steps.append("Correct the job or its configuration, and check it: \(check). Then: \(invocation.runText())")
    }
    if report.exit == .noInput, report.missingParts == nil, [.run, .noUpload].contains(report.mode) {
      steps.append("Nothing was processed. Once the export is complete: \(invocation.runText())")
    }
    steps += report.missed.prefix(shownWindows).map { missed in
      "\(report.shownZone.period(missed.from, missed.to)) was never read. Once its export is there: \(invocation.runText(missed.command(invocation)))"
    }
    if report.missed.count > shownWindows {
      steps.append(
        "\((report.missed.count - shownWindows).counted("more window was", "more windows were")) never read; see 'missed' in the summary"
      )
    }
    if report.nothingUsable == true {
      steps.append(
        "No line was usable. Correct the job or the export, then: \(invocation.runText()). If nothing in the export "
          + "is meant for this job, add --allow-empty")
    }
    let outside = summary.records.outOfWindow
    if outside > summary.records.read / 2, report.nothingUsable != true {
      let (are, were) = outside == 1 ? ("is", "it was") : ("are", "they were")
      let span = report.outOfWindow.map { span in
        let (first, last) = (report.shownZone.minute(span.lowerBound), report.shownZone.minute(span.upperBound))
        return first == last ? ": at \(first)" : ": from \(first) to \(last)"
      }
      steps.append(
        "\(outside.grouped) of \(summary.records.read.counted("record")) \(are) outside the window, so \(were) not processed\(span ?? ""). "
          + "If that is not intended, compare the job's window with the times of the export")
    }
    steps += wholeFiles(report)
    let lineCount = summary.records.quarantined - report.quarantinedFiles
    if lineCount > 0, report.hasPendingQuarantine {
      let lines = lineCount.counted("line was", "lines were")
      if let list = command("quarantine", "list"), report.mode != .dryRun {
        steps.append("\(lines) quarantined. See why: \(list)")
      } else {
        let them = lineCount == 1 ? "it" : "them"
        steps.append(
          "\(lines) quarantined; a run would keep \(them) in quarantine. 'engage-batch explain REASON' explains each reason"
        )
      }
    }
    if let choice = consentChoice(report) { steps.append(choice) }
    if report.quarantinedEvents > 0 {
      let events = report.quarantinedEvents.counted("event was", "events were")
      if let store = report.store, report.mode != .dryRun {
        let list = ShellCommand(
          "quarantine", "list", "--store", store, "--reason", QuarantineReason.schemaInvalid.rawValue)
        let replay = invocation.replay(in: store)
        steps.append(
          "\(events) quarantined by the checks. Fix faults that no schema allows, such as a bad name, "
            + "where the events are recorded. See why: \(list.text). "
            + "Once the schema or the settings accept the events, replay them: \(replay.text)\(invocation.omission)")
      } else {
        steps.append(
          "\(events) found faulty; a run would quarantine such events. --findings-out FILE lists the faults of each")
      }
    }
    if summary.upload.eventsUnknown > 0, let list = command("store", "events", "--status", "UNKNOWN") {
      steps.append(
        "\(summary.upload.eventsUnknown.counted("event is", "events are")) held as UNKNOWN, because it is unknown "
          + "whether the service accepted \(summary.upload.eventsUnknown == 1 ? "it" : "them"). "
          + "To see which events to look up in the service: \(list)")
    }
    if summary.upload.eventsFailed > 0, let requeue = command("store", "requeue", "--status", "FAILED_POST") {
      steps.append(
        "\(summary.upload.eventsFailed.counted("event")) could not be posted\(rejections(report)). Once the cause is fixed, requeue "
          + "\(summary.upload.eventsFailed == 1 ? "it" : "them") for the next run: \(requeue)")
    }
    // Nothing is sent while parts are missing.
    let isKept = report.mode == .noUpload && report.exit != .noInput
    let kept = isKept ? (summary.store["NOT_POSTED"] ?? 0) + (summary.store["EXPIRED"] ?? 0) : 0
    let pending = report.missingParts == nil ? max(summary.upload.eventsPending, kept) : 0
    if pending > 0, report.mode != .dryRun {
      // Until its cause is corrected, a refusal recurs with each attempt.
      let first =
        switch report.exit {
        case .credentialsRefused:
          "Correct \(report.platform.access ?? "the credentials") (\(ShellCommand("doctor", invocation.jobFile).text)); then the next run "
        case .configuration: "Once the configuration is fixed, the next run "
        case .protocolRefused where summary.upload.eventsUnknown == 0 && summary.identity.refused == 0:
          "Fix the TLS or protocol error, such as a wrong address or certificate (\(ShellCommand("doctor", invocation.jobFile).text)); then the next run "
        case .inputRefused: "The next run that is not refused "
        default: "The next run "
        }
      let them = pending == 1 ? "it" : "them"
      let send = invocation.parts == nil ? "\(first)sends \(them); to send now" : "Send \(them)"
      steps.append(
        "\(pending.counted("event is", "events are")) pending in the store. \(send): \(invocation.post.text)\(invocation.omission)"
      )
    }
    if report.exit == .serviceUnavailable, report.failureLines.contains(where: { $0.contains("web page") }) {
      steps.append(
        "Something in front of the service answers instead, such as a maintenance or login page. Check the service's address: "
          + ShellCommand("doctor", invocation.jobFile).text)
    }
    if let outdated = report.outdated { steps.append(outdated.advice) }
    steps += report.unsent.compactMap { unsent in
      // After an outage, the next run may still identify the devices, so releasing their events would be premature.
      let release = report.exit == .serviceUnavailable ? nil : unsent.release
      return unsent.advice.map {
        "\(unsent.events.counted("event is", "events are")) not sent (\(unsent.status)): \($0)\(release.map { "; \($0)" } ?? "")"
      }
    }
    if report.ledger.possibleDuplicates > 0 {
      steps.append(
        "\(report.ledger.possibleDuplicates.counted("event")) may exist twice at the service, because the outcome of a request was "
          + "unknown and Upload.onUnknown is 'resend'. See docs/failures.md")
    }
    if summary.rewind.corrections > 0, report.mode != .dryRun, let list = command("store", "corrections") {
      let events = summary.rewind.corrections.counted("event was", "events were")
      steps.append(
        "\(events) sent before late records changed \(summary.rewind.corrections == 1 ? "it" : "them"), and sent events cannot be recalled. To compare the sent events with the correct ones: "
          + list)
    }
    if report.stoppedPlans > 0, let list = command("identity", "list", "--open") {
      let plans = report.stoppedPlans.counted("identity plan needs", "identity plans need")
      steps.append("\(plans) a decision: \(list)")
    }
    if summary.identity.refused > 0, let store = report.store, let list = command("identity", "list", "--open") {
      let plans = summary.identity.refused.counted("identity plan was", "identity plans were")
      steps.append(
        "\(plans) refused by the service: \(list). Once the cause is fixed, the next run tries again; to try now: "
          + "\(invocation.resumeIdentities(in: store).text)\(invocation.omission)")
    }
    let open = report.merges.count { $0.state == "open" || $0.state == "undoing" }
    if open > 0, let store = report.store {
      steps.append(
        "\(open.counted("identity plan is", "identity plans are")) unfinished. The next run continues \(open == 1 ? "it" : "them"); to continue now: "
          + "\(invocation.resumeIdentities(in: store).text)\(invocation.omission)")
    }
    return steps
  }

  private static let shownWindows = 10

  /// Returns the service's most frequent reasons for rejecting events, in words; empty if there are none.
  private static func rejections(_ report: RunReport) -> String {
    let most = (report.ledger.rejections ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3)
    return most.isEmpty ? "" : " (\(most.map { "\($0.value.grouped): \($0.key)" }.joined(separator: "; ")))"
  }

  /// Returns the steps for whole files. Their findings concern no individual line, although each counts as a
  /// quarantined line.
  private static func wholeFiles(_ report: RunReport) -> [String] {
    guard report.hasPendingQuarantine else { return [] }
    return [
      (
        QuarantineReason.damagedFile, "is truncated or damaged", "are truncated or damaged",
        "The complete lines before the damage were read. To import the rest, deliver the whole file again and run the job again",
        "The complete lines before the damage were read. To import the rest, deliver the whole files again and run the job again"
      ),
      (
        .otherForm, "does not have the form that its entry in the job expects, and was not read",
        "do not have the form that their entries in the job expect, and were not read",
        "Usually, the job's entry for such a file must name a map with its 'form' (docs/maps.md)",
        "Add maps of the files' forms to their entries in the job (docs/maps.md)"
      ),
    ].compactMap { reason, one, several, remedyOfOne, remedyOfSeveral in
      let files = report.summary.quarantineReasons[reason, default: 0]
      guard files > 0 else { return nil }
      // If many lines are quarantined, the samples may not include such a file.
      let sample = report.orderedQuarantine.first { $0.reason == reason }
      let name = sample.map { files == 1 ? " (\($0.file): \($0.detail))" : " (such as \($0.file): \($0.detail))" } ?? ""
      return "\(files.counted("file \(one)", "files \(several)"))\(name). \(files == 1 ? remedyOfOne : remedyOfSeveral)"
    }
  }

  /// Returns the decision that is needed if consent records were ignored for lack of a setting; nil for none.
  static func consentChoice(_ report: RunReport) -> String? {
    let setting = "Recipient.consentRecords"
    guard let ignored = report.warnings.first(where: { $0.kind == "ignored-consent" }),
      !report.configuration.settings.contains(where: { $0.name == setting })
    else { return nil }
    return ignored.occurrences.counted("consent record was", "consent records were")
      + " ignored, because the job does not specify how to treat such records. "
      + "Set \(setting) to 'apply' to send nothing from a device while "
      + "it denies consent, or to 'ignore' to keep ignoring such records"
  }
}

extension RunReport {
  package var consentChoice: String? { NextSteps.consentChoice(self) }
}

/// Questions that a reader of a report may ask next, and the commands that answer them.
enum FurtherQuestions {
  static func of(_ report: RunReport) -> [(question: String, command: ShellCommand)] {
    var questions: [(question: String, command: ShellCommand)] = []
    if let store = report.store, report.mode != .dryRun {
      questions.append(
        (
          "Which events are in the store? Pass an id from the first column to 'why'",
          ShellCommand("store", "events", "--store", store, "--limit", "20")
        ))
      questions.append(("What did earlier runs do?", ShellCommand("history", "--store", store)))
      if report.mode != .noUpload { questions.append(("Did everything arrive?", report.invocation.verify)) }
    }
    if report.mode != .post, let setting = report.platform.settingToTry {
      questions.append(
        (
          "What would a different setting change? The command writes an HTML page",
          report.invocation.compare(with: setting, page: "compare.html")
        ))
    }
    return questions
  }
}
