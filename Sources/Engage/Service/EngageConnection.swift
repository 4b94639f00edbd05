import BatchConfiguration
import BatchDelivery
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire
import FoundationEssentials

/// A run's connection to Engage: before delivery, it reconciles identities; afterwards, it reads the events that the
/// service rejected later.
struct EngageConnection: PlatformService {
  let service: EngageService
  let context: RunContext
  let submission: EngageDestination
  /// The change plan that the run must follow; if nil, the run acts on what it finds.
  var changePlan: IdentityChangePlan?
  /// The recipients to use instead of the service's if time is simulated, so that pauses take no time; otherwise nil.
  var recipients: (any RecipientDatabase)?

  /// - Throws: ``ServiceSettingsError``.
  init(_ context: RunContext) throws {
    self.context = context
    service = try EngageService.of(context.settings.connection, sandbox: context.sandboxAddress)
    submission = EngageDestination(service, form: EngagePlatform().form(context.settings))
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
      // If the store cannot be written, the run ends at its next step.
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
    stage.report.summary.identity = result.figures
    stage.report.summary.identity.newOwners = owners
    for note in result.notes { self.note(note, &stage) }
    try notePostponed(result.postponed, &stage)
    noteRefusals(result.figures.refused, &stage)
    guard let failure = result.failure else { return }
    stage.report.notes.append("identity: \(failure)")
    stage.report.failure = "identity reconciliation is unfinished: \(failure)"
    stage.note("Identity: \(failure); the next run continues the unfinished work")
    stage.exit = failure.exit
    guard case .stopped(let stop, let reason) = failure else { return }
    // No further call can succeed, and events must not be sent without their known identities.
    let counts = try store.ledger.statusCounts()
    stage.report.summary.upload.eventsPending = (counts[.notPosted] ?? 0) + (counts[.expired] ?? 0)
    stage.report.summary.upload.eventsUnknown = counts[.unknown] ?? 0
    stage.report.ledger.stop = stop == .credentials ? "\(ServiceStop.credentials) (\(reason))" : reason
    stage.skipsDelivery = true
  }

  /// The maximum number of devices named on the terminal and in the report; any others are only counted.
  private static let named = 20

  /// Reports the devices that are left to a later run while others continued.
  private func notePostponed(_ devices: [PostponedDevice], _ stage: inout ServiceStage) throws {
    if devices.isEmpty { return }
    let personalData = PersonalData(stage.report.personalData, key: try stage.store.runs.reportKey())
    for device in devices.prefix(Self.named) {
      let id = personalData.id(device.device).text.map { "device \($0)" } ?? "a device"
      let source = try stage.store.identities.recordSource(ofCheck: device.check, of: device.device)
      let name = source.map { "\(id) (\(device.check == nil ? "first seen at" : "record at") \($0))" } ?? id
      let reason = device.failure.map { "\($0)" } ?? "earlier work on the same id or recipient is pending"
      note("\(name) is left for the next run: \(reason)", &stage)
    }
    if devices.count > Self.named { note("devices left for the next run: \(devices.count)", &stage) }
  }

  /// Notes something about identities in the report and on the terminal.
  private func note(_ words: String, _ stage: inout ServiceStage) {
    stage.report.notes.append("identity: \(words)")
    stage.note("Identity: \(words)")
  }

  /// Reports permanent refusals. They need an operator, and the run ends with exit code 76 (reference decisions 37).
  private func noteRefusals(_ count: Int, _ stage: inout ServiceStage) {
    if count == 0 { return }
    let named = stage.report.merges.filter { $0.state == MergeState.refused.rawValue }.prefix(Self.named)
    for refused in named { stage.note("Identity: \(refused.refusal)") }
    if count > named.count {
      let rest = (count - named.count).counted("refusal is", "refusals are")
      stage.note("Identity: \(rest) not listed here")
    }
    let words =
      "the service permanently refuses "
      + count.counted("set-up, check, merge or location update", "set-ups, checks, merges or location updates")
    stage.report.notes.append("identity: \(words)")
    if stage.exit == .done { stage.exit = .protocolRefused }
  }

  /// Holds the events of devices that have no recipient yet (reference decisions 62) and, if configured, of devices
  /// whose identity is unfinished.
  private func hold(_ stage: inout ServiceStage) throws {
    guard context.job.identity else {
      _ = try stage.store.ledger.hold(eventsOf: [])
      return
    }
    let holdsUnidentified = context.settings.recipient.holdsEventsUntilIdentified
    let awaiting = try stage.store.identities.awaiting()
    let held = try stage.store.ledger.hold(
      eventsOf: awaiting.map(\.device) + (holdsUnidentified ? stage.store.identities.devicesWithoutIdentity() : []))
    guard held > 0 else { return }
    let events = held.counted("event is pending", "events are pending")
    guard let since = awaiting.first?.since else {
      stage.report.notes.append("\(events) until \(held == 1 ? "its device is" : "their devices are") identified")
      return stage.note("Identity: \(events) (Recipient.holdEventsUntilIdentified)")
    }
    let words =
      "\(events) (HOLD): \(awaiting.count.counted("device has", "devices have")) no recipient yet (since \(since.rfc3339))"
    stage.report.notes.append("identity: \(words)")
    stage.note("Identity: \(words); the next run tries again")
  }

  /// Quarantines events that the service rejected after accepting them, in this or an earlier run, with its message.
  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {
    // Without accepted events, nothing can be rejected later.
    guard report.stop == nil, try stage.store.ledger.statusCounts()[.successfullyPosted, default: 0] > 0 else { return }
    let (store, run, submission) = (stage.store, stage.run, submission)
    let reading = try stage.interruption.during(
      { try submission.readRejections(into: store, run: run) }, end: { submission.abort() })
    switch reading {
    case .read(_, let found, let ofRun, let isWhole):
      if !isWhole {
        stage.report.notes.append("the list of later rejections was read only in part; the next run continues")
      }
      guard found > 0 else { return }
      stage.report.summary.upload.eventsFailed += found
      // An event must count only once.
      stage.report.summary.upload.eventsPosted -= ofRun
      stage.report.notes.append(
        found.counted("event that the service had accepted was", "events that the service had accepted were")
          + " rejected later; see the quarantine")
    case .unavailable(let reason, _):
      let note = "the events that the service rejected later could not be listed: \(reason)"
      stage.report.notes.append(note)
      stage.note("Delivery: \(note)")
    }
  }
}

extension EngageConnection {
  /// Passes `body` a reconciler whose calls and pauses end on a signal; the journal lets a later run continue.
  ///
  /// - Throws: ``InterruptedError`` after a signal, regardless of the result of `body`.
  func reconciling<Value>(
    _ store: EventStore, _ run: RunID, _ interruption: Interruption,
    note: @escaping @Sendable (String) -> Void, _ body: (IdentityReconciler) throws -> Value
  ) throws -> Value {
    let settings = context.settings
    return try calling(interruption, Outage.Patience(settings)) { database, retryPolicy, cancellation in
      var retryPolicy = retryPolicy
      let notes = RetryNotes(note)
      retryPolicy.announce = { notes.announce($0, $1) }
      var reconciler = IdentityReconciler(
        store: store, remote: recipients ?? database, settings: IdentitySettings(settings), retryPolicy: retryPolicy,
        run: run, now: context.asOf)
      reconciler.shouldEnd = { cancellation.isCancelled }
      reconciler.isSandbox = context.sandboxAddress != nil
      reconciler.transfer = database.transfer(settings, retryPolicy)
      return try body(reconciler)
    }
  }

  /// Passes `body` the service's database and the policy for repeating calls; a signal ends calls and pauses.
  ///
  /// - Throws: ``InterruptedError`` after a signal, regardless of the result of `body`.
  func calling<Value>(
    _ interruption: Interruption, _ patience: Outage.Patience,
    _ body: (ServiceDatabase, RetryPolicy, HTTPCancellation) throws -> Value
  ) throws -> Value {
    let cancellation = HTTPCancellation()
    let isSimulated = recipients != nil
    let pause: @Sendable (Milliseconds) -> Void = { RetryPolicy.rest($0) { isSimulated || cancellation.isCancelled } }
    let database = ServiceDatabase(
      context.settings, service, patience: patience, cancellation: cancellation, pause: pause)
    let retryPolicy = RetryPolicy(context.settings, pause: pause)
    let result = Result {
      try interruption.during({ try body(database, retryPolicy, cancellation) }, end: { cancellation.cancel() })
    }
    try interruption.check()
    return try result.get()
  }
}

extension EngageConnection: ChangePlanning {
  func planningStore(of store: EventStore?) throws -> EventStore {
    try store?.planningCopy() ?? EventStore.temporary(format: EngagePlatform().storeFormat)
  }

  func plan(inputs: String, _ stage: inout ServiceStage) throws -> ChangePlan {
    stage.note("Identity: planning with \(origin)")
    let (store, run, interruption) = (stage.store, stage.run, stage.interruption)
    let changePlan = try reconciling(store, run, interruption, note: stage.note) { try $0.changePlan(inputs: inputs) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return ChangePlan(
      document: String(decoding: try encoder.encode(changePlan), as: UTF8.self) + "\n",
      summary: "Identity: the change plan has \(changePlan.changes.count.counted("entry", "entries"))")
  }

  /// - Throws: ``CommandError``.
  func following(_ document: [UInt8], file: String, inputs: String) throws -> any PlatformService {
    let changePlan: IdentityChangePlan
    do {
      changePlan = try JSONDecoder().decode(IdentityChangePlan.self, from: Data(document))
    } catch {
      throw CommandError(
        .inputRefused,
        "\(file): error: the file is not a change plan of this release; create one with --dry-run --online-plan")
    }
    guard changePlan.inputs == inputs else { throw IdentityChangePlan.otherInputs }
    var connection = self
    connection.changePlan = changePlan
    return connection
  }
}
