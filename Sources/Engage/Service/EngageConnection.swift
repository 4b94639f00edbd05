import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire

/// Engage as one run talks to it: who is who first, so that events carry what is found out; then the events; then what was refused later.
struct EngageConnection: PlatformService {
  let service: EngageService
  let context: RunContext
  let submission: EngageDestination
  /// The plan that the run is held to; nil decides by what is found.
  var changePlan: IdentityChangePlan?
  /// Stands in for the service's recipients where time is simulated: no pause takes any.
  var recipients: (any RecipientDatabase)?

  /// - Throws: ``ServiceSettingsError``.
  init(_ context: RunContext) throws {
    self.context = context
    service = try EngageService.of(context.settings.connection, sandbox: context.sandboxAddress)
    submission = EngageDestination(
      service, sendsContactID: context.settings.recipient.sendsContactIdInHeader)
  }

  var origin: String { service.address.origin }

  var destination: any Destination { submission }

  func beforeDelivery(_ stage: inout ServiceStage) throws {
    let (store, upload) = (stage.store, context.settings.upload)
    service.limit(
      calls: try Self.limit(upload.maxCallsPerHour, "engage calls", store),
      tokens: try Self.limit(upload.maxTokensPerHour, "engage tokens", store))
    if context.job.identity { try reconcile(&stage) }
    if !stage.skipsDelivery { try hold(&stage) }
  }

  private static func limit(_ most: Int, _ name: String, _ store: EventStore) throws -> HourlyLimit? {
    if most == 0 { return nil }
    return HourlyLimit(most, used: try store.ledger.mark(name), now: { Instant.now.milliseconds / 1000 }) { used in
      // A store that cannot be written ends the run at its next step.
      _ = try? store.ledger.setMark(name, used)
    }
  }

  private func reconcile(_ stage: inout ServiceStage) throws {
    stage.note("Identity: reconciling with \(origin)")
    let (store, run, interruption, note) = (stage.store, stage.run, stage.interruption, stage.note)
    let earlier = try store.merges.openPlans().map(\.id)
    let result = try stage.report.timed(.identity) {
      try reconciling(store, run, interruption, note: note) { reconciler in
        try changePlan.map { try reconciler.reconcile($0, inputs: $0.inputs) } ?? reconciler.reconcile()
      }
    }
    stage.report.merges = try IdentityMerge.merges(
      in: store, of: run, earlier: earlier, stage.report.personalData)
    let owners = stage.report.summary.identity.newOwners
    stage.report.summary.identity = RunSummary.Identity(result.figures)
    stage.report.summary.identity.newOwners = owners
    for note in result.notes {
      stage.report.notes.append("identity: \(note)")
      stage.note("Identity: \(note)")
    }
    try tell(of: result.waiting, &stage)
    tellOfRefusals(result.figures.refused, &stage)
    guard let failure = result.failure else { return }
    stage.report.notes.append("identity: \(failure)")
    stage.report.failure = "identities are unfinished: \(failure)"
    stage.note("Identity: \(failure); what is unfinished continues with the next run")
    stage.exit = failure.exit
    guard case .stopped(let stop, let reason) = failure else { return }
    // Nothing of this run can do better, and events would go out with identities that are not known.
    let counts = try store.ledger.statusCounts()
    stage.report.summary.upload.eventsPending = (counts[.notPosted] ?? 0) + (counts[.expired] ?? 0)
    stage.report.summary.upload.eventsUnknown = counts[.unknown] ?? 0
    stage.report.ledger.stop = stop == .credentials ? "\(ServiceStop.credentials) (\(reason))" : reason
    stage.skipsDelivery = true
  }

  /// So many devices that wait are named on the terminal and in the report; the others are counted.
  private static let named = 20

  /// Names devices whose calls kept failing, while others went on.
  private func tell(of waiting: [WaitingDevice], _ stage: inout ServiceStage) throws {
    if waiting.isEmpty { return }
    let personalData = PersonalData(stage.report.personalData, key: try stage.store.runs.reportKey())
    for device in waiting.prefix(Self.named) {
      let id = personalData.id(device.device).text.map { "device \($0)" } ?? "a device"
      let source = try stage.store.identities.recordSource(ofCheck: device.check, of: device.device)
      let name = source.map { "\(id) (\(device.check == nil ? "first seen at" : "record at") \($0))" } ?? id
      let reason = device.failure.map { "\($0)" } ?? "an earlier one with the same id or recipient waits"
      stage.report.notes.append("identity: \(name) waits for the next run: \(reason)")
      stage.note("Identity: \(name) waits for the next run: \(reason)")
    }
    if waiting.count > Self.named {
      stage.report.notes.append("identity: devices that wait in all: \(waiting.count)")
      stage.note("Identity: devices that wait in all: \(waiting.count)")
    }
  }

  /// Somebody is needed, and nobody else is stopped: what the service refuses for good ends the run with 76 (reference decisions 37).
  private func tellOfRefusals(_ count: Int, _ stage: inout ServiceStage) {
    if count == 0 { return }
    let named = stage.report.merges.filter { $0.state == MergeState.refused.rawValue }.prefix(Self.named)
    for refused in named { stage.note("Identity: \(refused.refusal)") }
    if count > named.count { stage.note("Identity: and \((count - named.count).grouped) more are refused") }
    let words =
      "the service refuses " + count.counted("set-up, check or merge", "set-ups, checks or merges") + " for good"
    stage.report.notes.append("identity: \(words)")
    if stage.exit == .done { stage.exit = .protocolRefused }
  }

  /// Events of devices whose set-up is due have nobody to belong to and wait (reference decisions 62), those of devices whose identity is
  /// unfinished if the configuration says so.
  private func hold(_ stage: inout ServiceStage) throws {
    guard context.job.identity else {
      _ = try stage.store.ledger.hold(eventsOf: [])
      return
    }
    let waits = context.settings.recipient.holdsEventsUntilIdentified
    let awaiting = try stage.store.identities.awaiting()
    let held = try stage.store.ledger.hold(
      eventsOf: awaiting.map(\.device) + (waits ? stage.store.identities.devicesWithoutIdentity() : []))
    guard held > 0 else { return }
    let events = held.counted("event waits", "events wait")
    guard let since = awaiting.first?.since else {
      stage.report.notes.append("\(events) until the identity of the device is known")
      return stage.note("Identity: \(events) (Recipient.holdEventsUntilIdentified)")
    }
    let words =
      "\(events) on HOLD: \(awaiting.count.counted("device has", "devices have")) no recipient yet, since \(since.rfc3339)"
    stage.report.notes.append("identity: \(words)")
    stage.note("Identity: \(words); the next run tries again, 'identity abandon --device' lets them go without one")
  }

  /// What the service took and refused later, of this run or an earlier one, goes to quarantine with its words.
  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {
    // Where nothing was ever taken, nothing can be refused later.
    guard report.stop == nil, try stage.store.ledger.statusCounts()[.successfullyPosted, default: 0] > 0 else { return }
    let (store, run, submission) = (stage.store, stage.run, submission)
    let reading = try stage.interruption.during(
      { try submission.readRejections(into: store, run: run) }, end: { submission.abort() })
    switch reading {
    case .read(_, let found, let ofRun, let isWhole):
      if !isWhole { stage.report.notes.append("later refusals were read in part; the next run continues there") }
      guard found > 0 else { return }
      stage.report.summary.upload.eventsFailed += found
      // Each event has one end.
      stage.report.summary.upload.eventsPosted -= ofRun
      stage.report.notes.append(
        found.counted("event that the service had taken was", "events that the service had taken were")
          + " refused later; see the quarantine")
    case .unavailable(let reason, _):
      let note = "events that the service refused later could not be asked for: \(reason)"
      stage.report.notes.append(note)
      stage.note("Delivery: \(note)")
    }
  }
}

extension RunSummary.Identity {
  fileprivate init(_ figures: IdentityFigures) {
    self.init()
    checks = figures.checks
    created = figures.created
    updated = figures.updated
    merged = figures.merged
    conflicts = figures.conflicts
    refused = figures.refused
    decidedByPolicy = figures.decidedByPolicy
    auditRows = figures.auditRows
  }
}
