import BatchConfiguration
import BatchFoundation
import BatchPlatform
import BatchReport
import BatchStore

/// What a store keeps of its runs, for whoever asks later.
extension Pipeline {
  /// Begins a run of the job, with how it was asked and what is configured.
  func beginRun(in store: EventStore) throws -> RunID {
    let digest = request.configurationDigest
    try store.keep(request.loaded.configuration.shownSettings, digest: digest)
    return try store.beginRun(
      job: request.job.name, mode: request.mode.name, configurationDigest: digest,
      started: request.now, asOf: request.asOf)
  }

  /// Notes how a run ended. What the store cannot note of a run that failed is not worth another error.
  func end(_ run: RunID, in store: EventStore, _ outcome: RunOutcome) throws {
    do {
      try store.finish(
        run, at: .now, exit: outcome.exit.rawValue, counters: outcome.report.summary.json)
    } catch  where !outcome.isWhole {
      monitor.note("the end of this run could not be noted: \(error)")
    }
  }
}

extension Configuration {
  /// Every setting but secrets, as `config show` shows it, with the layer, file and line that gave it.
  var shownSettings: [RunSetting] {
    resolved.filter { !$0.setting.isSecret }.map { resolved in
      RunSetting(
        name: resolved.setting.name, value: resolved.setting.shown(resolved.value),
        origin: resolved.given.layer == .defaults
          ? "built-in default" : "\(resolved.given.layer.rawValue) \(resolved.given.place)")
    }
  }
}
