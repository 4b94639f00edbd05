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

  var lines: [String] {
    let counts = outcome.counts
    let records = outcome.records.records
    var lines = [
      "\(rerun.from.rfc3339) to \(rerun.to.rfc3339), from \(outcome.files.counted("file")): \(records.read) read: "
        + "\(records.accepted) accepted, \(records.duplicates.counted("duplicate")), \(records.outOfWindow) out of window, "
        + (records.forgotten ?? 0 > 0 ? "\(records.forgotten ?? 0) forgotten, " : "")
        + "\(records.quarantined) quarantined"
        + (records.leftOut == nil ? "" : ", \(records.leftOutCount) left out by maps"),
      "waited before: \(counts.removed.counted("event")); wait now: \(counts.stored), of which \(counts.unchanged) as before",
      "sent before: \((counts.same + counts.different + counts.gone).counted("event")); \(counts.same) the same now, "
        + "\(counts.different) with other attributes, \(counts.gone) no longer produced",
    ]
    if let taken = outcome.taken, taken.records.accepted > 0 {
      let rewind = taken.rewind
      lines.insert(
        taken.records.accepted.counted("line that no run had read", "lines that no run had read")
          + " taken in: \(rewind.devices.counted("device")) decided anew, \(rewind.added.counted("event")) added, "
          + "\(rewind.replaced.grouped) replaced, \(rewind.withdrawn.grouped) withdrawn, "
          + rewind.corrections.counted("correction"), at: 1)
    }
    if counts.inDoubt > 0 {
      lines.append("for \(counts.inDoubt) of these it is unknown whether the service has them (see 'store events')")
    }
    return lines
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

  var document: JSONNode {
    let counts = outcome.counts
    let records = outcome.records.records
    return [
      "from": .text(rerun.from.rfc3339), "to": .text(rerun.to.rfc3339), "dryRun": .flag(rerun.isRehearsal),
      "files": .number(outcome.files), "missingFiles": .number(outcome.missingFiles),
      "records": [
        "read": .number(records.read), "accepted": .number(records.accepted),
        "duplicates": .number(records.duplicates), "outOfWindow": .number(records.outOfWindow),
        "forgotten": .number(records.forgotten ?? 0), "leftOut": .number(records.leftOutCount),
        "quarantined": .number(records.quarantined),
      ],
      "taken": outcome.taken.map { taken in
        [
          "records": .number(taken.records.accepted), "devices": .number(taken.rewind.devices),
          "replaced": .number(taken.rewind.replaced), "withdrawn": .number(taken.rewind.withdrawn),
          "added": .number(taken.rewind.added), "corrections": .number(taken.rewind.corrections),
        ]
      } ?? [:],
      "waiting": [
        "before": .number(counts.removed), "now": .number(counts.stored), "unchanged": .number(counts.unchanged),
        "heldBack": .number(counts.heldBack),
      ],
      "sent": [
        "same": .number(counts.same), "different": .number(counts.different), "gone": .number(counts.gone),
        "inDoubt": .number(counts.inDoubt),
      ],
    ]
  }
}
