import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport

/// Reads the windows that earlier runs of a job missed, oldest first, each as its own run, before the run at hand reads its own
/// (reference decisions 49).
struct CatchUp {
  let windows: [MissedWindow]
  let interruption: Interruption
  /// The request of a run for a window; nil for the run's own window.
  let request: @Sendable (MissedWindow?) throws -> RunRequest
  private var total = BackfillTotal()
  /// How the first window ended that did not end well; an export that is still missing is told by the run at hand.
  private(set) var exit = RunExit.done

  init(
    _ windows: [MissedWindow], _ interruption: Interruption,
    request: @escaping @Sendable (MissedWindow?) throws -> RunRequest
  ) {
    (self.windows, self.interruption, self.request) = (windows, interruption, request)
  }

  /// Whether some of them had records that could be used, or were known.
  var isUsable: Bool { total.isUsable }

  /// - Throws: what would end the run at hand as well.
  mutating func run(_ note: (String) -> Void) throws {
    for (number, window) in windows.enumerated() {
      var request = try request(window)
      request.isOneOfMany = true
      if !request.allowsEmpty {
        let (isUsable, others) = (total.isUsable, windows[(number + 1)...].map(Optional.some) + [nil])
        request.isUsableElsewhere = { [interruption, request = self.request] in
          try isUsable || JudgedTogether.anyIsUsable(others, interruption, request)
        }
      }
      do {
        let outcome = try Pipeline(request, interruption: interruption).run()
        let report = outcome.report
        total.add(report)
        let isUseless = report.summary.records.isUseless(true) && !request.allowsEmpty
        note(
          "\(isUseless ? "Missed" : "Caught up"): \(window.words)  \(BackfillTotal.words(report.summary, events: report.quarantinedEvents))"
        )
        if let failure = report.failure { note(failure) }
        if exit == .done, outcome.exit != .noInput { exit = outcome.exit }
      } catch let error as InputError {
        note("Missed: \(window.words)  \(error)")
      }
    }
  }
}

/// Windows of one command are judged together: whether anything of some can be used (reference decisions 48).
enum JudgedTogether {
  /// Reads them in dry runs, until one has a record that can be used, or is known.
  static func anyIsUsable<Window>(
    _ windows: [Window], _ interruption: Interruption, _ request: (Window) throws -> RunRequest
  ) throws -> Bool {
    for window in windows {
      var request = try request(window)
      request.mode = .dryRun(sends: false)
      request.loaded.job.reports = nil
      do {
        let report = try Pipeline(request, interruption: interruption).run().report
        if report.summary.records.read > 0, report.nothingUsable != true { return true }
      } catch is InputError {
        // Nothing is there for it.
      }
    }
    return false
  }
}
