package import BatchConfiguration
package import BatchFoundation
package import BatchReport
package import BatchStore

/// Reconciles the service's recipients with the store's devices: sets up devices, processes checks, and carries out or
/// undoes merges.
///
/// All calls block. The next run finishes work interrupted by a fault or a kill, from the store alone.
package struct IdentityReconciler: Sendable {
  package var store: EventStore
  package var remote: any RecipientDatabase
  package var settings: IdentitySettings
  package var retryPolicy: RetryPolicy
  package var run: RunID
  /// The date of everything this run writes.
  package var now: Instant
  /// The transfer of lists as files; if nil, everything is looked up one by one.
  package var transfer: ListTransfer?
  /// Returns whether the run was asked to end; called after each set-up or check.
  package var shouldEnd: @Sendable () -> Bool = { false }
  /// Whether to write last known locations; otherwise only their columns are checked.
  var writesLocations = true
  /// Whether the service is the run's sandbox, which responds at once.
  package var isSandbox = false
  /// Whether to look up each recipient before adding it, because look-ups are free or to find out which ones are new.
  var looksBeforeAdding = false
  /// The description of the list; nil until it is needed.
  let layout = Guarded<ListLayout?>(nil)
  /// The only changes that may be written; nil allows all.
  var plannedChanges: PlannedChanges?
  /// Called before and after each change to the store; for tests.
  package var interruption: Kill?

  /// The comparison of written values with those that the list stores.
  var columns: WrittenColumns {
    WrittenColumns(settings: settings, database: remote, retryPolicy: retryPolicy, layout: layout)
  }

  /// Finishes open work from earlier runs, then sets up devices in the order in which they were first seen, then
  /// processes the checks in the order of their events. A device whose calls keep failing is left to a later run while
  /// others continue; if the service itself fails or refuses the credentials, the work ends. The result reports both.
  ///
  /// - Throws: ``ServiceSettingsError`` before anything is written; errors of the store.
  package func reconcile() throws -> IdentityResult { try reconcile(RunLog()) }

  func reconcile(_ log: RunLog) throws -> IdentityResult {
    if settings.recipient.createsAnonymousUsers { try store.identities.nameDevices() }
    let locations = try pendingLocations()
    let hasWork =
      try !store.merges.openPlans().isEmpty || !store.identities.personsToSetUp(after: nil, limit: 1).isEmpty
      || store.identities.pendingCheckCount() > 0 || !locations.isEmpty
    guard hasWork else { return log.result }
    return try result(log) {
      let finding = try preflight(locations: locations)
      try work(log, finding).finishOpenPlans()
      var worker = self
      if let index = try prepareIndex(log, without: finding.missingColumns) {
        worker.remote = index
        worker.looksBeforeAdding = true
      }
      let work = try worker.work(log, finding)
      try work.processAll()
      if writesLocations { try work.writeLocations() }
    }
  }

  /// Returns the result of `work`. A failure of the service is reported in it rather than thrown.
  private func result(_ log: RunLog, _ work: () throws -> Void) throws -> IdentityResult {
    do {
      try work()
    } catch let failure as RemoteFailure {
      log.fail(failure)
    }
    try log.rethrow()
    return log.result
  }

  func work(_ log: RunLog, _ finding: PreflightFinding) throws -> IdentityWork {
    IdentityWork(
      reconciler: self, log: log, missingColumns: finding.missingColumns,
      draft: MergeDraft(settings: settings, mobileUserIdIsKey: finding.mobileUserIdIsKey, now: now),
      forgotten: try store.erasures.forgottenPeople())
  }

  // MARK: Operators

  /// Continues all open and stopped plans, or only the one with the id. Checks whose plans are held are processed
  /// again.
  ///
  /// - Throws: ``CommandError`` for an unknown or ended plan; ``ServiceSettingsError``; errors of the store.
  package func resume(_ id: Int64? = nil) throws -> IdentityResult {
    let log = RunLog()
    let plans = try store.merges.openPlans().filter { id == nil || $0.id == id }
    if let id, plans.isEmpty {
      guard let plan = try store.merges.plan(id) else { throw CommandError.unknownPlan(id) }
      throw CommandError.ended(id, plan.state)
    }
    return try result(log) {
      let work = try self.work(log, preflight(locations: []))
      for plan in plans { try work.resume(plan) }
    }
  }

  /// Undoes a plan, and records that the same merge must not be made again. If `keepsAuditHistory` is true in this or
  /// an earlier attempt, the audit row is kept and a second one is added, with the roles exchanged.
  ///
  /// - Throws: ``CommandError`` for an unknown plan or one that cannot be undone now; errors of the store.
  package func undo(_ id: Int64, keepsAuditHistory: Bool = false) throws -> IdentityResult {
    let log = RunLog()
    guard var plan = try store.merges.plan(id) else { throw CommandError.unknownPlan(id) }
    guard plan.state != .undone, plan.state != .dropped else { throw CommandError.ended(id, plan.state) }
    guard plan.scenario.canBeUndone else { throw CommandError.irreversible(id, plan.scenario) }
    if plan.state != .undoing {
      if !plan.scenario.isInstruction, let later = try store.merges.laterPlan(than: plan) {
        throw CommandError.later(id, later)
      }
      plan.undoCause = .operator
      plan.keepsAuditHistory = plan.keepsAuditHistory || keepsAuditHistory
      plan.reason = "undone by an operator"
      let started = plan
      if let holder = try journal({ try store.merges.beginUndo(started) }) {
        throw CommandError(
          .storeIsHeld,
          "error: plan \(id) cannot be undone until plan \(holder) of the same recipient is finished")
      }
    }
    return try result(log) {
      var executor = MergeExecutor(reconciler: self)
      switch try executor.undo(&plan) {
      case .undone: break
      case .refused: log.count { $0.figures.refused += 1 }
      case .done, .conflict: log.count { $0.figures.conflicts += 1 }
      }
    }
  }

  /// Ends an unfinished plan and its check without any call, so that the service is left unchanged.
  ///
  /// - Throws: ``CommandError`` for an unknown or ended plan; errors of the store.
  package static func abandon(_ id: Int64, in store: EventStore, now: Instant) throws {
    guard let plan = try store.merges.plan(id) else { throw CommandError.unknownPlan(id) }
    guard !plan.state.isEnded else { throw CommandError.ended(id, plan.state) }
    let run = try store.runs.begin(job: "identity", configurationDigest: "", started: now, asOf: now)
    try store.merges.abandon(plan, run: run)
    try store.runs.finish(run, at: .now, counters: "{}")
  }

  func journal<Value>(_ change: () throws -> Value) throws -> Value {
    try interruption?(.beforeJournal)
    let value = try change()
    try interruption?(.afterJournal)
    return value
  }
}

/// The errors for plans that an operator names. Their exit code is that of an unknown device, event or run, because
/// trying again later does not help.
extension CommandError {
  package static func unknownPlan(_ id: Int64) -> CommandError {
    CommandError(.usage, "error: the store has no plan \(id); 'identity list' lists the plans")
  }

  static func ended(_ id: Int64, _ state: MergeState) -> CommandError {
    CommandError(.usage, "error: plan \(id) is already '\(state.rawValue)'")
  }

  static func later(_ id: Int64, _ later: Int64) -> CommandError {
    CommandError(.usage, "error: plan \(later) was carried out after plan \(id); undo the later one first")
  }

  static func irreversible(_ id: Int64, _ scenario: MergeScenario) -> CommandError {
    CommandError(
      .usage,
      "error: plan \(id) ('\(scenario.rawValue)') cannot be undone: the service's API cannot remove the recipient from the contact list or program; do that in the service's user interface"
    )
  }
}

package struct IdentityResult: Sendable, Equatable {
  package var figures = RunSummary.Identity()
  /// The number of devices reassigned to another recipient without a merge.
  package var reassigned = 0
  /// The number of last known locations written.
  package var locations = 0
  /// The reason why not everything was finished: the work ended early, or a device's calls kept failing. Unfinished
  /// work stays in the store. Nil if everything was processed.
  package var failure: RemoteFailure?
  /// The devices left to a later run while others continued, in the order in which they were found.
  package var postponed: [PostponedDevice] = []
  /// Further notes for whoever started the run.
  package var notes: [String] = []
}

/// A device whose set-up or check is left to a later run.
package struct PostponedDevice: Sendable, Equatable {
  package var device: String
  /// The pending check; nil for the set-up or last known location.
  package var check: Int64?
  /// The repeated failure of its calls; nil if it is postponed only because earlier work is pending.
  package var failure: RemoteFailure?
}

/// The configuration of identities (reference identity 5.1).
package struct IdentitySettings: Sendable {
  /// The id of the list (`General.databaseListId`).
  package var list: String
  package var recipient: Settings.Recipient
  /// The audit table; nil unless `AuditRecord.mergeHistoryInAuditRecordTable` is set.
  package var audit: Settings.Audit?
  /// The maximum number of concurrent calls.
  package var concurrency: Int
  /// The settings for last known locations; nil if `LocationServices.enabled` is false, so that none are written.
  package var locations: Settings.Location?

  package init(_ settings: Settings) {
    list = settings.general.listId
    recipient = settings.recipient
    audit = settings.audit.isWritten ? settings.audit : nil
    concurrency = settings.upload.concurrency
    locations = settings.location.isEnabled ? settings.location : nil
  }
}
