import BatchConfiguration
package import BatchFoundation
package import BatchStore
import EngageRules

/// Brings the service's recipients and the devices of the store together: set-ups, checks, merges, and their way back.
///
/// All calls block. What is interrupted, by a fault or by a kill, is finished by the next run from the store alone.
package struct IdentityReconciler: Sendable {
  package var store: EventStore
  package var remote: any RecipientDatabase
  package var settings: IdentitySettings
  package var retryPolicy: RetryPolicy
  package var run: RunID
  /// The date of everything this run writes.
  package var now: Instant
  /// How lists go as files; nil makes all look-ups one by one.
  package var transfer: ListTransfer?
  /// Whether the run was told to end; asked before each check.
  package var shouldEnd: @Sendable () -> Bool = { false }
  /// Last known locations are only looked at for the columns that they need.
  var writesLocations = true
  /// The service is the sandbox of the run, whose answers take no time.
  package var isSandbox = false
  /// Recipients are never added without a look-up: because it costs nothing, or because added ones are to be told from others.
  var looksBeforeAdding = false
  /// How the list keeps what is written to it.
  let columns: WrittenColumns
  /// Plans that may be carried out; nil allows all.
  var plannedChanges: PlannedChanges?
  /// Around each change of the store; for tests.
  package var interruption: Kill?

  package init(
    store: EventStore, remote: any RecipientDatabase, settings: IdentitySettings, retryPolicy: RetryPolicy, run: RunID,
    now: Instant
  ) {
    self.store = store
    self.remote = ConcurrencyLimiter(remote, concurrency: settings.concurrency)
    self.settings = settings
    columns = WrittenColumns(settings)
    self.retryPolicy = retryPolicy
    self.run = run
    self.now = now
  }

  /// Finishes what an earlier run left open, then sets devices up in the order in which they were first seen, then makes the
  /// checks in the order of their events.
  ///
  /// - Throws: ``IdentityConfigurationError`` before anything is written; errors of the store. A device whose calls keep failing
  ///   waits, and all others go on; when the service itself keeps failing or refuses the credentials, the work ends. The result
  ///   says so.
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
      try session(log, finding).finishOpenPlans()
      var worker = self
      if let index = try prepareIndex(log, without: finding.missingColumns) {
        worker.remote = index
        worker.looksBeforeAdding = true
      }
      let session = try worker.session(log, finding)
      try session.work()
      if writesLocations { try session.writeLocations() }
    }
  }

  /// What came of some work; what the service did not do is a part of it.
  private func result(_ log: RunLog, _ work: () throws -> Void) throws -> IdentityResult {
    do {
      try work()
    } catch let failure as RemoteFailure {
      log.fail(failure)
    }
    try log.rethrow()
    return log.result
  }

  /// Checks columns and tables without writing anything.
  package func preflight() throws { _ = try preflight(locations: pendingLocations()) }

  func preflight(locations: [LastKnownLocation]) throws -> Preflight.Finding {
    try Preflight(settings: settings, remote: remote, retryPolicy: retryPolicy, columns: columns)
      .run(
        searched: store.identities.searchedColumns(), writesLocations: !locations.isEmpty,
        addsRecipients: store.identities.needsRecipients())
  }

  func session(_ log: RunLog, _ finding: Preflight.Finding) throws -> IdentitySession {
    IdentitySession(
      reconciler: self, log: log, missingColumns: finding.missingColumns,
      draft: MergeDraft(settings: settings, mobileUserIdIsKey: finding.mobileUserIdIsKey, now: now),
      forgotten: try store.erasures.forgottenPeople())
  }

  // MARK: Operators

  package enum OperatorError: RunError, Equatable, CustomStringConvertible {
    case unknownPlan(Int64)
    /// The plan has ended in a state that cannot be changed.
    case ended(Int64, MergeState)
    /// Another plan holds one of the recipients.
    case locked(Int64, by: Int64)
    /// A later plan that was carried out stands on this one.
    case later(Int64, Int64)
    /// The API has no way back.
    case irreversible(Int64, MergeScenario)

    package var exit: RunExit {
      switch self {
      // As for a device, event or run that the store does not have; trying again later helps with none of these.
      case .unknownPlan, .ended, .later, .irreversible: .usage
      case .locked: .storeIsHeld
      }
    }

    package var description: String {
      switch self {
      case .unknownPlan(let id): "error: there is no plan \(id)"
      case .ended(let id, let state): "error: plan \(id) is '\(state.rawValue)' already"
      case .locked(let id, let holder): "error: plan \(id) must wait for plan \(holder), which has the same recipient"
      case .irreversible(let id, let scenario):
        "error: plan \(id) is '\(scenario.rawValue)': the service's API cannot take a recipient out again; do that in its own pages"
      case .later(let id, let later): "error: plan \(later) was carried out after plan \(id); undo the later one first"
      }
    }
  }

  /// Goes on with open and stopped plans, or with one of them. Held checks are decided anew.
  package func resume(_ id: Int64? = nil) throws -> IdentityResult {
    let log = RunLog()
    let plans = try store.merges.openPlans().filter { id == nil || $0.id == id }
    if let id, plans.isEmpty {
      guard let plan = try store.merges.plan(id) else { throw OperatorError.unknownPlan(id) }
      throw OperatorError.ended(id, plan.state)
    }
    return try result(log) {
      let session = try session(log, preflight(locations: []))
      for plan in plans { try session.resume(plan) }
    }
  }

  /// Takes a plan back, from wherever it is, and leaves a mark that the same merge is not made again.
  ///
  /// - Parameter keepsAuditHistory: the audit row stays and is joined by a second one with the roles exchanged; holds for later attempts.
  package func undo(_ id: Int64, keepsAuditHistory: Bool = false) throws -> IdentityResult {
    let log = RunLog()
    guard var plan = try store.merges.plan(id) else { throw OperatorError.unknownPlan(id) }
    guard plan.state != .undone, plan.state != .dropped else { throw OperatorError.ended(id, plan.state) }
    guard plan.scenario.canBeUndone else { throw OperatorError.irreversible(id, plan.scenario) }
    if plan.state != .undoing {
      if !plan.scenario.isInstruction, let later = try store.merges.laterPlan(than: plan) {
        throw OperatorError.later(id, later)
      }
      plan.undoCause = .operator
      plan.keepsAuditHistory = plan.keepsAuditHistory || keepsAuditHistory
      plan.reason = "undone by an operator"
      let started = plan
      if let holder = try journal({ try store.merges.beginUndo(started) }) {
        throw OperatorError.locked(id, by: holder)
      }
    }
    return try result(log) {
      var executor = executor()
      switch try executor.takeBack(&plan) {
      case .undone: break
      case .refused: log.count { $0.refused += 1 }
      case .done, .conflict: log.count { $0.conflicts += 1 }
      }
    }
  }

  /// Ends a stopped plan and asks nothing of the service, which stays as it is. Its check counts as finished by a run of its own.
  package static func abandon(_ id: Int64, in store: EventStore, now: Instant) throws {
    guard let plan = try store.merges.plan(id) else { throw OperatorError.unknownPlan(id) }
    guard !plan.state.isEnded else { throw OperatorError.ended(id, plan.state) }
    let run = try store.runs.begin(job: "identity", configurationDigest: "", started: now, asOf: now)
    try store.merges.abandon(plan, run: run)
    try store.runs.finish(run, at: .now, counters: "{}")
  }

  func executor(fresh: [RecipientImage] = []) -> MergeExecutor {
    MergeExecutor(reconciler: self, fresh: fresh)
  }

  func journal<Value>(_ change: () throws -> Value) throws -> Value {
    try interruption?(.beforeJournal)
    let value = try change()
    try interruption?(.afterJournal)
    return value
  }
}
