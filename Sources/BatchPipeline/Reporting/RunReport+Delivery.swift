import BatchDelivery
import BatchReport
import BatchStore

extension RunReport {
  mutating func add(_ delivery: DeliveryReport) {
    summary.upload = RunSummary.Upload(delivery)
    ledger = UploadLedger(delivery)
    if let stop = ledger.stop { failure = "sending stopped early: \(stop)" }
  }
}

extension UploadLedger {
  fileprivate init(_ report: DeliveryReport) {
    self.init()
    possibleDuplicates = report.eventsInDoubt
    recoveredChunks = report.recoveredChunks
    refusals = report.refusals.isEmpty ? nil : report.refusals
    for (outcome, count) in report.attempts { outcomes[outcome.name] = count }
    stop = report.stop.map { stop in "\(stop)" + (report.stopReason.map { " (\($0))" } ?? "") }
  }
}

extension RunSummary.Upload {
  fileprivate init(_ report: DeliveryReport) {
    self.init()
    chunks = report.chunks
    eventsPosted = report.eventsPosted
    eventsFailed = report.eventsFailed
    eventsPending = report.eventsPending
    eventsUnknown = report.eventsUnknown
    requests = report.requests
    retries = report.retries
  }
}
