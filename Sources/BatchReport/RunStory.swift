/// A run in a few sentences, for readers who know campaigns rather than stages.
enum RunStory {
  static func text(_ report: RunReport) -> String {
    let summary = report.summary
    var sentences: [String] = []
    if report.mode != .post {
      let read = Wording.count(summary.records.read, "record")
      sentences.append(
        "\(read) were read and \(Wording.grouped(summary.records.accepted)) counted. They became "
          + "\(Wording.count(summary.eventCount, "event")): \(Wording.count(summary.sessionsStarted, "session")) began, "
          + "\(Wording.grouped(summary.sessionsEnded)) ended, and a campaign was set "
          + "\(Wording.count(summary.campaignsSet, "time")).")
    }
    switch report.mode {
    case .dryRun: sentences.append("It was a trial: nothing was changed or sent.")
    case .noUpload: sentences.append("Nothing was sent; the events are in the store.")
    case .run, .post:
      sentences.append("\(Wording.count(summary.upload.eventsPosted, "event")) were sent.")
      let waiting = report.unsent.reduce(0) { $0 + $1.events }
      sentences.append(
        waiting == 0 ? "Nothing waits." : "\(Wording.count(waiting, "event")) of the store are not at the service yet.")
    }
    if summary.records.quarantined > 0 {
      sentences.append("\(Wording.count(summary.records.quarantined, "line")) could not be used and were quarantined.")
    }
    return sentences.joined(separator: " ")
  }
}
