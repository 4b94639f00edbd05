import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport

/// A catch-up on windows that earlier runs missed. Each window is a separate run, oldest first, before the
/// current run's own window (reference decisions 49).
struct CatchUp {
  let windows: [MissedWindow]
  let interruption: Interruption
  /// Returns the request for a window; nil means the run's own window.
  let request: @Sendable (MissedWindow?) throws -> RunRequest
  private var total = BackfillTotal()
  /// The exit code of the first window that failed. A missing export does not count, because the current run
  /// reports it.
  private(set) var exit = RunExit.done
  /// Whether any window ended with exit code 65.
  private(set) var isRefused = false

  init(
    _ windows: [MissedWindow], _ interruption: Interruption,
    request: @escaping @Sendable (MissedWindow?) throws -> RunRequest
  ) {
    (self.windows, self.interruption, self.request) = (windows, interruption, request)
  }

  /// Whether any window had a record that was usable or already known.
  var isUsable: Bool { total.isUsable }

  /// - Throws: Any error that would end the current run too.
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
        let result = isUseless ? "Missed" : outcome.exit == .done ? "Caught up" : "Not caught up"
        note(
          "\(result): \(window.words)  \(BackfillTotal.words(report.summary, events: report.quarantinedEvents))"
        )
        if let failure = report.failure { note(failure) }
        if outcome.exit == .inputRefused { isRefused = true }
        if exit == .done, outcome.exit != .noInput { exit = outcome.exit }
      } catch let error as InputError {
        note("Missed: \(window.words)  \(error)")
      }
    }
  }
}

/// Judges the windows of a command together: one usable record is enough (reference decisions 48).
enum JudgedTogether {
  /// Returns whether a window has a usable or already known record. Reads the windows in dry runs until one has.
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
        // The window has no input.
      }
    }
    return false
  }
}
