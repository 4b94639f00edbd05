import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// A run that lies before what its store has decided, and that does not say what is to become of its records.
package struct BackwardRunError: RunError, Equatable, CustomStringConvertible {
  package var store: String
  package var evidence: Evidence
  /// The same run, with the setting that lets it go on.
  package var command: String

  package enum Evidence: Sendable, Equatable {
    /// The window ends at `to`; what was decided begins at `decided`.
    case window(to: Instant, decided: Instant)
    /// Of `known` devices that the store knows, `behind` have no record after `newest`, but were decided up to `decided`.
    case devices(behind: Int, known: Int, newest: Instant, decided: Instant)
  }

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(store): error: \(evidence). State is not wound back: known devices would get their events with a warning each, but no "
      + "sessions and no campaigns. No record was taken in. Use a store of its own for the earlier time, or say that this is "
      + "meant: \(command)"
  }
}

extension BackwardRunError.Evidence: CustomStringConvertible {
  package var description: String {
    switch self {
    case .window(let to, let decided):
      "the window ends at \(to.rfc3339), but the store has decided records from \(decided.rfc3339) on, and nothing before"
    case .devices(let behind, let known, let newest, let decided):
      "the records go backwards: of \(known.counted("known device")) looked at, \(behind.grouped) have none after what was "
        + "decided of them; their records end at \(newest.rfc3339), but the store has decided up to \(decided.rfc3339)"
    }
  }
}

extension Pipeline {
  /// Refuses a run whose window lies before everything that the store has decided, unless `Ingest.lateRecords` was set by somebody.
  ///
  /// A window of which anything was read before is a repetition, and goes on.
  ///
  /// - Throws: ``BackwardRunError`` before anything is read.
  func refuseBackwardRun(_ store: EventStore) throws {
    guard request.mode.readsInputs, !policyIsGiven, let to = request.job.window.to,
      try RunStorage.reach(of: store.runs.knownUntil(), request.settings).map({ to <= $0 }) ?? true,
      let decided = try store.timelines.firstDecided(after: to, withNothingSince: request.job.window.from)
    else { return }
    throw BackwardRunError(
      store: store.path, evidence: .window(to: to, decided: decided), command: acceptingCommand(store))
  }

  /// The same by the records themselves, for jobs without a window or with a wide one, and for lines that come back from quarantine.
  ///
  /// - Throws: ``BackwardRunError``.
  func refuse(_ share: BackwardShare, _ store: EventStore) throws {
    guard share.isBackward else { return }
    throw BackwardRunError(
      store: store.path,
      evidence: .devices(
        behind: share.behind, known: share.behind + share.ahead, newest: share.newest, decided: share.decided),
      command: acceptingCommand(store))
  }

  private func acceptingCommand(_ store: EventStore) -> String {
    var invocation = request.invocation
    invocation.settings.append("Ingest.lateRecords=accept")
    let command = request.mode == .replay ? invocation.replay(in: store.path) : invocation.run
    return command.text + invocation.omission
  }

  /// Whether a file, the job, the environment or the command line sets `Ingest.lateRecords`.
  var policyIsGiven: Bool {
    (request.loaded.configuration.resolved(named: "Ingest.lateRecords")?.chain.count ?? 0) > 1
  }

  /// What late records mean, and the command that decides them right, for the end of a run that met some; nil for one that met none.
  ///
  /// - Parameter rules: which say from when on events may be others.
  func lateNote(
    _ late: LateRecords, _ rules: any DecisionRules, _ files: InputFiles, _ store: EventStore
  ) -> String? {
    guard late.count > 0 else { return nil }
    let records =
      late.count.counted(
        "record lies before what was decided of its device", "records lie before what was decided of their devices")
      + " (\(late.fileNames(files)))"
    if request.settings.ingest.lateRecords == .quarantine {
      return "\(records), and went to quarantine (Ingest.lateRecords is 'quarantine'); 'quarantine replay' with "
        + "--set Ingest.lateRecords=accept takes such records in"
    }
    var invocation = request.invocation
    if request.mode == .replay { invocation.store = store.path }
    let command = rerun(invocation, from: late.first, to: late.last, rules)
    return
      "\(records): events outside sessions and campaigns came of them. Decide them right, as far as events were not sent: \(command)"
  }

  /// What decides the time of records once more, from where on they can change something.
  func rerun(_ invocation: RunInvocation, from first: Instant, to last: Instant, _ rules: any DecisionRules) -> String {
    let lookback = max(rules.lookback, rules.longestSilence)
    let begin = Instant(milliseconds: max(0, first.milliseconds - lookback.count))
    let end = min(max(last + Milliseconds(1), request.asOf), .last)
    return invocation.rerun(from: begin, to: end).text + invocation.omission
  }
}
