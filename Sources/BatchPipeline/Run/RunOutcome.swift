package import BatchFoundation
package import BatchIngest
package import BatchReport
import BatchStore

package struct RunOutcome: Sendable {
  package var report: RunReport
  package var exit = RunExit.done
  /// The folder of the report; nil if there is none.
  package var reportFolder: String?
  /// The exit in the report as written; nil if no report was written.
  var reported: RunExit?
  /// The result of `--explain`; nil if there is no device to explain.
  package var explanation: Facts?
  package var findings = Findings()
  /// The outcome of a replay; nil for other runs.
  package var replay: ReplayOutcome?
  /// All runs in the store, including this one, oldest first; empty if the run keeps nothing.
  var runs: [ListedRun] = []
  /// A message about an unusual number of devices with new owners; nil if the number is normal.
  var newOwners: String?
  /// The platform's figures.
  var figures: [String: Int] = [:]
  var details: ProcessingDetails?
  /// The run in the store, and the exit noted there; nil if nothing is noted.
  var noted: (run: RunID, exit: RunExit)?
  /// The number of the run in its store; nil if nothing is noted.
  package var run: Int64? { noted?.run.number }
  package var isWhole = true

  /// Notes an error that ended the run or prevented an output; finished work is kept.
  package mutating func fail(_ error: any Error) {
    let words = "\(error)"
    // Writing a report again may cause the same error.
    report.failure = report.failure.map { $0.hasSuffix(words) ? $0 : "\($0)\n\(words)" } ?? words
    if let error = error as? StoreError, error.isDamage { report.storeIsDamaged = true }
    if exit == .done { exit = RunExit(of: error) }
    report.exit = exit
  }

  /// Does work that is not essential for the run; an error is noted and not thrown.
  package mutating func attempt(_ work: (inout RunOutcome) throws -> Void) {
    do {
      try work(&self)
    } catch {
      fail(error)
    }
  }
}

package protocol RunMonitor: Sendable {
  func note(_ text: String)
  /// Called repeatedly, on several threads.
  func progress(_ progress: IngestProgress, of total: UInt64)
  /// Called repeatedly while events are sent. `total` is the number that were pending at the start.
  func delivered(_ events: Int, of total: Int)
}

package struct SilentMonitor: RunMonitor {
  package func note(_ text: String) {}
  package func progress(_ progress: IngestProgress, of total: UInt64) {}
  package func delivered(_ events: Int, of total: Int) {}
}
