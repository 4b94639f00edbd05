import BatchFoundation
import BatchPipeline
import BatchReport

/// The result of a rerun, for people and for programs.
struct RerunReport {
  private let outcome: RerunOutcome
  private let rerun: Rerun
  private let request: RunRequest

  /// - Parameter request: The request of the unchanged job, for the commands to run next.
  init(_ outcome: RerunOutcome, _ rerun: Rerun, _ request: RunRequest) {
    self.outcome = outcome
    self.rerun = rerun
    self.request = request
  }

  var facts: Facts {
    let counts = outcome.counts
    let records = outcome.records.records
    var facts: Facts = [
      "from": .text(rerun.from.rfc3339), "to": .text(rerun.to.rfc3339), "dryRun": .flag(rerun.isRehearsal),
      "files": .number(outcome.files), "missingFiles": .number(outcome.missingFiles),
    ]
    facts.add(
      "records", records.json,
      "\(rerun.from.rfc3339) to \(rerun.to.rfc3339), from \(outcome.files.counted("file")): \(records.read) read: "
        + "\(records.accepted) accepted, \(records.duplicates.counted("duplicate")), \(records.outOfWindow) out of window, "
        + (records.forgotten ?? 0 > 0 ? "\(records.forgotten ?? 0) forgotten, " : "")
        + "\(records.quarantined) quarantined"
        + (records.leftOut == nil ? "" : ", \(records.leftOutCount) left out by maps"))
    if let (accepted, rewind) = outcome.taken.map({ ($0.records.accepted, $0.rewind) }) {
      let members = (["records": .number(accepted)] as JSONNode).adding(rewind.json.members ?? [])
      let lines = accepted.counted("line that no run had read", "lines that no run had read")
      facts.add(
        "taken", members,
        accepted == 0 ? [] : ["\(lines) taken in: \(rewind.devices.counted("device")) decided anew, \(rewind.words)"])
    } else {
      facts.add("taken", [:])
    }
    facts.add(
      "waiting",
      [
        "before": .number(counts.removed), "now": .number(counts.stored), "unchanged": .number(counts.unchanged),
        "heldBack": .number(counts.heldBack),
      ],
      "waited before: \(counts.removed.counted("event")); wait now: \(counts.stored), of which \(counts.unchanged) as before"
    )
    let sent = (counts.same + counts.different + counts.gone).counted("event")
    let doubt = "for \(counts.inDoubt) of these it is unknown whether the service has them (see 'store events')"
    facts.add(
      "sent",
      [
        "same": .number(counts.same), "different": .number(counts.different), "gone": .number(counts.gone),
        "inDoubt": .number(counts.inDoubt),
      ],
      [
        "sent before: \(sent); \(counts.same) the same now, \(counts.different) with other attributes, "
          + "\(counts.gone) no longer produced"
      ] + (counts.inDoubt > 0 ? [doubt] : []))
    return facts
  }

  var notes: [String] {
    let counts = outcome.counts
    var notes: [String] = []
    if counts.heldBack > 0 {
      notes.append(
        counts.heldBack.counted(
          "event was left as it is: its device holds", "events were left as they are: their devices hold")
          + " events back (HOLD) or did, and a state is not replaced")
    }
    if outcome.missingFiles > 0 {
      notes.append(
        "\(outcome.missingFiles.counted("file")) of earlier runs \(outcome.missingFiles == 1 ? "is" : "are") gone: what was decided "
          + "of the devices there counted for nothing")
    }
    if outcome.taken == nil, outcome.records.records.quarantined > 0 {
      notes.append("quarantined lines were left to the next run that reads them; 'validate' lists them")
    }
    if counts.different > 0, rerun.sendsAgain == nil {
      notes.append("what was sent with other attributes is not sent again without --send-again different")
    }
    if rerun.isRehearsal {
      notes.append("nothing was changed")
    } else if counts.stored > 0 {
      let invocation = request.invocation
      notes.append("To send what waits: \(invocation.post.text)\(invocation.omission)")
    }
    return notes
  }
}
