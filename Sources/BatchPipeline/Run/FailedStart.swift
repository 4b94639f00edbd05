import BatchFoundation
package import BatchReport
package import BatchStore
import FoundationEssentials

/// A run that ended before it read anything, noted in an existing store for the history (reference decisions 49).
package struct FailedStart {
  package var report: RunReport
  package var mode: RunMode

  package init(report: RunReport, mode: RunMode) { (self.report, self.mode) = (report, mode) }

  /// Keeps nothing of a trial, of one that another run turned away, and where there is no store of the platform.
  ///
  /// - Parameter complete: adds facts from the store to the report.
  /// - Returns: all runs of the store including this one; empty if it is not kept.
  @discardableResult
  package func keep(
    in path: String, of platform: any Platform,
    _ complete: (EventStore, inout RunReport) throws -> Void = { _, _ in }
  ) -> [StoredRun] {
    guard mode.keeps, report.exit != .storeIsHeld, !report.job.isEmpty, FileManager.default.fileExists(atPath: path)
    else { return [] }
    do {
      let store = try EventStore.open(path, format: platform.storeFormat)
      try store.check(against: StoreDestination(kind: platform.name), jobFile: nil)
      let run = try store.runs.begin(
        job: report.job, mode: mode.name, configurationDigest: "", started: report.startedAt, asOf: report.asOf,
        window: TimeWindow(from: report.from, to: report.to))
      let ended = Instant.now
      var report = report
      report.store = path
      try complete(store, &report)
      report.summary.durationSeconds = max(0, Double(ended.milliseconds - report.startedAt.milliseconds) / 1000)
      try store.runs.finish(
        run, at: ended, exit: report.exit.rawValue, counters: report.summaryJSON, report: StoredReport.bytes(report))
      let runs = try store.runs.all()
      try store.close()
      return runs
    } catch {
      // An error of the store ended the run, or ends the next one; the store records the run that holds it.
      return []
    }
  }
}
