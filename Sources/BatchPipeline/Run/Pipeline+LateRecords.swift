import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchReport
import BatchStore

/// A run whose window lies before what its store has decided, and that does not say what is to become of its records.
package struct BackwardRunError: RunError, Equatable, CustomStringConvertible {
  package var store: String
  package var to: Instant
  package var decided: Instant
  /// The same run, with the setting that lets it go on.
  package var command: String

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(store): error: the window ends at \(to.rfc3339), but the store has decided records from \(decided.rfc3339) on, and nothing "
      + "before. State is not wound back: known devices would get their events with a warning each, but no sessions and no "
      + "campaigns. Use a store of its own for the earlier time, or say that this is meant: \(command)"
  }
}

extension Pipeline {
  /// Refuses a run that goes backwards as a whole, unless `Ingest.lateRecords` was set by somebody.
  ///
  /// A window of which anything was read before is a repetition, and goes on.
  ///
  /// - Throws: ``BackwardRunError`` before anything is read.
  func refuseBackwardRun(_ store: EventStore) throws {
    guard request.mode.readsInputs, !policyIsGiven, let to = request.job.window.to,
      let decided = try store.firstDecided(after: to, withNothingSince: request.job.window.from)
    else { return }
    var invocation = request.invocation
    invocation.settings.append("Ingest.lateRecords=accept")
    throw BackwardRunError(store: store.path, to: to, decided: decided, command: invocation.run.text)
  }

  /// Whether a file, the job, the environment or the command line sets `Ingest.lateRecords`.
  private var policyIsGiven: Bool {
    (request.loaded.configuration.resolved(named: "Ingest.lateRecords")?.chain.count ?? 0) > 1
  }

  /// What late records mean, for the end of a run that met some; nil for one that met none.
  func lateNote(_ late: Int) -> String? {
    guard late > 0 else { return nil }
    let records = late.counted(
      "record was older than what earlier runs had decided of its device",
      "records were older than what earlier runs had decided of their devices")
    return request.settings.ingest.lateRecords == .quarantine
      ? "\(records), and quarantined (Ingest.lateRecords is 'quarantine'); 'quarantine replay' with "
        + "--set Ingest.lateRecords=accept takes such records in"
      : "\(records). What is late becomes an event of its own time, but sessions and campaigns are not wound back "
        + "(Ingest.lateRecords is 'accept'; with 'quarantine' such records are quarantined)"
  }
}

extension DecisionResult {
  /// Records that were older than what earlier runs had decided of their devices, taken in or not.
  var lateRecords: Int {
    (tally.warnings[QuarantineReason.lateRecord.rawValue]?.occurrences ?? 0)
      + (ingest.counts.reasons[.lateRecord] ?? 0)
  }
}
