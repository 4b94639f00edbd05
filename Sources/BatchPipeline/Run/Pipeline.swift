import BatchConfiguration
package import BatchDelivery
import BatchFoundation
import BatchReport
import BatchWire

/// The stages of a run in order, in any mode:
///
///     job + configuration -> records -> timelines per device -> events -> store -> chunks -> delivery
///                                             |                              ^
///                                             +-> identity checks -> merges -+        every stage -> report
package struct Pipeline: Sendable {
  let request: RunRequest
  let monitor: any RunMonitor
  let interruption: Interruption
  let clock: any DeliveryClock
  let seed: UInt64?

  /// - Parameter seed: the seed for the pauses before retries; nil for a random seed.
  package init(
    _ request: RunRequest, monitor: any RunMonitor = SilentMonitor(), interruption: Interruption = Interruption(),
    clock: any DeliveryClock = SystemDeliveryClock(), seed: UInt64? = nil
  ) {
    self.request = request
    self.monitor = monitor
    self.interruption = interruption
    self.clock = clock
    self.seed = seed
  }

  var platform: any Platform { request.platform }

  /// Runs the job, from its files to its report.
  ///
  /// Once the store is open, a run that changes it returns an outcome even if a stage fails. If so, the outcome
  /// includes the error and the work done before it.
  ///
  /// - Throws: any error before the store is open or after the last stage, and in a dry run at any time.
  package func run() throws -> RunOutcome {
    let clock = ContinuousClock()
    let started = clock.now
    request.storage.noteRetries(monitor.note)
    try request.refuseFuture()
    try request.checkOutputs()
    if request.loaded.refusal == nil { for line in platform.announcements(request.context) { monitor.note(line) } }
    var outcome = RunOutcome(report: RunReport(request))
    do {
      if let refusal = request.loaded.refusal { throw refusal }
      let preparation = try prepare()
      try request.refuseDecisionsOfNobody()
      let storage = try openStorage(preparation)
      outcome.report.knownUntil = storage.knownUntil
      try work(preparation, storage, &outcome)
      try conclude(storage, &outcome)
    } catch {
      report(error, &outcome)
      throw error
    }
    outcome.report.summary.stopped = outcome.report.failure
    outcome.report.summary.durationSeconds = started.duration(to: clock.now).seconds
    if !outcome.report.summary.records.isBalanced {
      // A bug in this program that must not go unnoticed.
      throw CommandError(
        .inputOutput,
        "internal error: the number of records read does not equal accepted + duplicates + out of window + forgotten + left out + quarantined; please report this"
      )
    }
    outcome.report.exit = outcome.exit
    if request.mode != .replay { writeReport(&outcome) }
    noteEnd(&outcome)
    return outcome
  }

  /// Runs the stages in the diagram, from left to right.
  private func work(_ preparation: RunPreparation, _ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    do {
      // A killed run may have left changes.
      try settleRewind(storage, &outcome)
      let nights = try nightsBefore(storage)
      if request.mode.readsInputs {
        guard try decide(preparation, storage, &outcome) else {
          try writeEvents(storage, &outcome)
          return try write(preparation.findings, &outcome)
        }
        try countOwners(storage, &outcome)
        compare(&outcome, with: nights)
        if request.failsOnUnusual, let unusual = outcome.report.unusual, !unusual.isEmpty {
          outcome.fail(
            CommandError(
              .inputRefused,
              "error: unusual figures, so nothing was sent (--fail-on unusual): \(unusual.joined(separator: "; "))"))
        }
      }
      if let lines = storage.replay { try replay(lines, preparation, storage, &outcome) }
      try writeChangePlan(preparation, storage, &outcome)
      try settleRewind(storage, &outcome)
      try storage.expire(outOf: request.window)
      // The results of refused input are kept, but not sent.
      if request.mode.sends, let service = preparation.service, outcome.exit == .done {
        let decisions = try decisionsFile()
        try deliver(to: service, storage, &outcome)
        // Identity conflicts are known only after the delivery.
        compare(&outcome, with: nights)
        try writeDecisions(storage, to: decisions, &outcome)
      }
      try writeEvents(storage, &outcome)
      try write(preparation.findings, &outcome)
    } catch {
      // Everything stored so far is kept; the report says where and why the run ended.
      guard request.mode.keeps else { throw error }
      if outcome.report.summary.records.read == 0 { outcome.report.knownUntil = storage.knownBefore }
      outcome.fail(error)
      outcome.isWhole = false
    }
  }
}
