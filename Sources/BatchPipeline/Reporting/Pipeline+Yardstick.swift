import BatchConfiguration
import BatchFoundation
import BatchPlatform
import BatchReport
import BatchStore

extension Pipeline {
  /// Tells what of the run is unusual beside the last runs of its job (`Report.usualRuns`).
  func compareWithNightsBefore(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    let settings = request.settings.report
    guard settings.usualRuns > 0, request.mode.readsInputs, let store = storage.store else { return }
    let before = try store.runs.all().filter {
      $0.job == request.job.name && $0.exit == 0 && $0.id != storage.run && ["run", "no-upload"].contains($0.mode)
    }
    let nights = try before.suffix(settings.usualRuns).compactMap { run in
      // A report that another release wrote in another form is not compared.
      try store.runs.report(of: run.id).flatMap { try? NightFigures(StoredReport.report($0)) }
    }
    outcome.report.unusual = NightFigures(outcome.report).unusual(beside: nights, factor: settings.usualFactor)
  }
}

/// What ends a run with `--fail-on unusual`.
struct UnusualRun: RunError, CustomStringConvertible {
  var figures: [String]
  var exit: RunExit { .inputRefused }
  var description: String {
    "error: unusual, so nothing is sent (--fail-on unusual): \(figures.joined(separator: "; "))"
  }
}
