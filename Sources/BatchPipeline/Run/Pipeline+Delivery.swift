import BatchDelivery
import BatchFoundation
import BatchReport
import BatchStore

extension Pipeline {
  /// Does the platform's work before delivery, sends the chunks, and makes the platform's calls after
  /// delivery.
  func deliver(
    to service: any PlatformService, _ storage: RunStorage, _ outcome: inout RunOutcome
  ) throws {
    guard let (store, run) = storage.kept else { return }
    var stage = ServiceStage(
      store: store, run: run, context: request.context, interruption: interruption, report: outcome.report,
      figures: outcome.figures, exit: outcome.exit, note: { monitor.note($0) })
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
    let waiting = try store.ledger.statusCounts()[.notPosted, default: 0]
    let report = try stage.report.timed(.delivery) {
      try interruption.during(
        {
          try delivery.run(
            run, progress: { monitor.delivered($0, of: waiting) },
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
