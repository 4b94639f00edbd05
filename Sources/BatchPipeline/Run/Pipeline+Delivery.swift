import BatchDelivery
import BatchFoundation
package import BatchReport
package import BatchStore

extension Pipeline {
  /// Does the platform's work before delivery, sends the chunks, and makes the platform's calls after
  /// delivery.
  func deliver(
    to service: any PlatformService, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    guard let (store, run) = storage.kept else { return }
    var stage = ServiceStage(
      store: store, run: run, interruption: interruption, note: { monitor.note($0) }, report: outcome.report,
      figures: outcome.figures, exit: outcome.exit)
    defer {
      outcome.report = stage.report
      outcome.figures = stage.figures
      outcome.exit = stage.exit
      platform.add(outcome.figures, outcome.details, of: request.context, to: &outcome.report)
    }
    try service.beforeDelivery(&stage)
    guard !stage.skipsDelivery else { return }
    monitor.note("Delivery: sending to \(service.origin)")
    let delivery = Delivery(
      ledger: store.ledger, destination: service.destination, settings: platform.deliverySettings(request.settings),
      clock: clock, seed: seed)
    let pending = try store.ledger.statusCounts()[.notPosted, default: 0]
    let report = try stage.report.timed(.delivery) {
      try interruption.during(
        {
          try delivery.run(
            run, progress: { monitor.delivered($0, of: pending) },
            trouble: { monitor.note("Delivery: \($0.description)") })
        }, end: { delivery.end() })
    }
    stage.report.add(report)
    stage.report.ledger.answers = AnswerTime.times(try store.ledger.answerTimes(of: run))
    if let signal = interruption.signal {
      stage.exit = InterruptedError(signal: signal).exit
      return
    }
    // A service failure during identity checks takes precedence over a delivery result that needs a person.
    if report.exit != .done, stage.exit != .serviceUnavailable || report.exit != .protocolRefused {
      stage.exit = report.exit
    }
    try service.afterDelivery(report, &stage)
    if let signal = interruption.signal { stage.exit = InterruptedError(signal: signal).exit }
  }
}

extension RunReport {
  mutating func add(_ delivery: DeliveryReport) {
    summary.upload = delivery.upload
    ledger = UploadLedger()
    ledger.possibleDuplicates = delivery.eventsInDoubt
    ledger.recoveredChunks = delivery.recoveredChunks
    ledger.rejections = delivery.rejections.isEmpty ? nil : delivery.rejections
    for (outcome, count) in delivery.attempts { ledger.outcomes[outcome.name] = count }
    guard let stop = delivery.stop else { return }
    let words = "\(stop)" + (delivery.stopReason.map { " (\($0))" } ?? "")
    (ledger.stop, failure) = (words, "sending stopped early: \(words)")
  }
}

extension UnsentEvents {
  /// Returns a store's unsent events by reason. The reasons of `held` and `expired` depend on the platform.
  ///
  /// - Parameters:
  ///   - held: the events with status `HOLD`.
  ///   - expired: the events with status `EXPIRED`; nil if there are none.
  ///   - tries: the name of the setting that limits the attempts for a request.
  /// - Throws: ``StoreError``.
  package static func all(
    in store: EventStore, held: [UnsentEvents], expired: UnsentEvents?, tries: String = "Networking.maxNumRetries"
  ) throws -> [UnsentEvents] {
    let counts = try store.ledger.statusCounts()
    let rest = [
      of(
        .notPosted, counts, "queued: not sent yet, or every attempt failed",
        "--no-upload, --max-quarantine, Networking", "the next run, or 'post'"),
      expired,
      of(
        .processing, counts, "in a request from a run that is still running or was killed", "Upload.onUnknown",
        "the next run, or 'post'"),
      of(
        .unknown, counts, "it is unknown whether the service accepted the request", "Upload.onUnknown, which is 'hold'",
        "'store requeue --status UNKNOWN', after checking the service"),
      of(
        .failedPost, counts, "rejected by the service, or failed repeatedly",
        tries, "'store requeue --status FAILED_POST', once the cause is fixed"),
    ]
    return held + rest.compactMap(\.self)
  }

  /// Returns the events that have a status, all for one reason; nil if there are none.
  package static func of(
    _ status: EventStatus, _ counts: [EventStatus: Int], _ reason: String, _ setting: String, _ ends: String
  ) -> UnsentEvents? {
    guard let count = counts[status], count > 0 else { return nil }
    return UnsentEvents(status: status.name, events: count, reason: reason, setting: setting, ends: ends)
  }
}
