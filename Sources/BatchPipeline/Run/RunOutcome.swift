package import BatchFoundation
package import BatchIngest
package import BatchReport
import BatchStore

/// How a run went, and how it ends for whoever started it.
package struct RunOutcome: Sendable {
  package var report: RunReport
  package var exit: RunExit
  /// Where the report was written; nil if there is none.
  package var reportFolder: String?
  /// How the report says that it ended; nil if there is none.
  var told: RunExit?
  /// `--explain`; nil if no device was to be explained.
  package var explanation: DeviceExplanation?
  /// What a dry run found about the inputs.
  package var findings = Findings()
  /// Of a replay; nil for other runs.
  package var replay: ReplayOutcome?
  /// All runs of the store with this one, oldest first; none for a run that keeps nothing.
  var runs: [ListedRun] = []
  /// What is unusual about devices that changed hands; nil for nothing.
  var newOwners: String?
  /// What the platform counted.
  var figures: [String: Int] = [:]
  var details: (any PlatformDetails)?
  /// The run in the store, and how it noted that this ended; nil where nothing is noted.
  var noted: (run: RunID, exit: RunExit)?
  /// The number of the run in its store; nil where nothing is noted.
  package var run: Int64? { noted?.run.number }
  /// Whether no error ended it early.
  package var isWhole = true

  init(report: RunReport) {
    self.report = report
    exit = .done
  }

  /// Notes what ended the run, or an output that could not be written: what was done stays done, and the run says so with its
  /// figures.
  package mutating func fail(_ error: any Error) {
    let words = "\(error)"
    // A report that is written anew may meet the same again.
    report.failure = report.failure.map { $0.hasSuffix(words) ? $0 : "\($0)\n\(words)" } ?? words
    if let error = error as? StoreError, error.isDamage { report.storeIsDamaged = true }
    if exit == .done { exit = RunFailure.exit(of: error) }
    report.exit = exit
  }

  /// Does what the run can end without; an error of it is noted.
  package mutating func attempt(_ work: (inout RunOutcome) throws -> Void) {
    do {
      try work(&self)
    } catch {
      fail(error)
    }
  }
}

/// Whom a run tells what it is doing.
package protocol RunMonitor: Sendable {
  /// A line for people.
  func note(_ text: String)
  /// Called now and then from several threads; throw to stop the run.
  func progress(_ progress: IngestProgress, of total: UInt64)
  /// Called now and then while events are sent, with those that waited when that began.
  func delivered(_ events: Int, of total: Int)
}

/// Nobody is told anything.
package struct SilentMonitor: RunMonitor {
  package init() {}

  package func note(_ text: String) {}
  package func progress(_ progress: IngestProgress, of total: UInt64) {}
  package func delivered(_ events: Int, of total: Int) {}
}
