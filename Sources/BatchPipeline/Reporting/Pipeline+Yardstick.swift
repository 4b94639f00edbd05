import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore

extension Pipeline {
  /// Returns the last good runs of the job (`Report.usualRuns`); nil if the run is not compared with them.
  func nightsBefore(_ storage: RunStorage) throws -> [NightFigures]? {
    let settings = request.settings.report
    guard settings.usualRuns > 0, request.mode.readsInputs, let store = storage.store else { return nil }
    let before = try store.runs.all().filter {
      $0.job == request.job.name && $0.exit == 0 && $0.id != storage.run && ["run", "no-upload"].contains($0.mode)
    }
    return try before.suffix(settings.usualRuns).compactMap { run in
      // A report of another release in another form is not compared.
      try store.runs.report(of: run.id).flatMap { try? NightFigures(StoredReport.report($0)) }
    }
  }

  /// Notes what is unusual about the run compared with the nights before.
  func compare(_ outcome: inout RunOutcome, with nights: [NightFigures]?) {
    outcome.report.unusual = nights.map {
      NightFigures(outcome.report).unusual(beside: $0, factor: request.settings.report.usualFactor)
    }
    if let owners = outcome.newOwners { outcome.report.unusual = (outcome.report.unusual ?? []) + [owners] }
  }

  /// Counts devices with a new owner, before any request for them; many at once suggest a fault of the export.
  func countOwners(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard request.job.identity, let (store, run) = storage.kept,
      let owners = try platform.newOwners(in: store, of: run)
    else { return }
    outcome.report.summary.identity.newOwners = owners.devices
    guard owners.known * 10 > owners.all else { return }
    outcome.newOwners =
      "devices with another mobile user id than before: \(owners.known.grouped) of \(owners.all.grouped) that have a recipient"
  }
}

/// The error that ends a run with `--fail-on unusual`.
struct UnusualRun: RunError, CustomStringConvertible {
  var figures: [String]
  var exit: RunExit { .inputRefused }
  var description: String {
    "error: unusual, so nothing is sent (--fail-on unusual): \(figures.joined(separator: "; "))"
  }
}
