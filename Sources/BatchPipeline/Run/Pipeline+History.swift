import BatchConfiguration
import BatchFoundation
package import BatchReport
package import BatchStore

/// What a store keeps of its runs, for whoever asks later.
extension Pipeline {
  /// Begins a run of the job, with how it was asked and what is configured.
  ///
  /// - Parameters:
  ///   - store: where it is noted.
  ///   - mode: how it was asked; nil for the mode of the request.
  ///   - window: what it is to read; nil for the window of the job, where inputs are read.
  func beginRun(in store: EventStore, mode: String? = nil, window: TimeWindow? = nil) throws -> RunID {
    let digest = request.configurationDigest
    try store.runs.keep(request.shownSettings, digest: digest)
    return try store.runs.begin(
      job: request.job.name, mode: mode ?? request.mode.name, configurationDigest: digest,
      started: request.now, asOf: request.asOf,
      window: window ?? (request.mode.readsInputs ? request.job.window : TimeWindow()))
  }

  /// Says which maps are not what they were in the last run of the job: what they make otherwise counts as new (reference decisions 46).
  func noteChangedMaps(in store: EventStore) throws {
    guard !request.maps.isEmpty,
      let last = try store.runs.all().last(where: { $0.job == request.job.name && !$0.configurationDigest.isEmpty })
    else { return }
    let before = try store.runs.settings(digest: last.configurationDigest)
    for map in request.maps
    where before.contains(where: { $0.name == "map \(map.name)" && $0.value != map.text }) {
      monitor.note(
        "Maps: '\(map.name.printable)' is not what it was in run \(last.id.number): a line of which it makes another record now "
          + "counts as new, and its events are sent besides the earlier ones. To replace those: engage-batch rerun, with "
          + "--dry-run to see what would change")
    }
  }

  /// Notes how a run ended, with its report. What the store cannot note of a run that failed is not worth another error.
  func end(_ run: RunID, in store: EventStore, _ outcome: RunOutcome) throws {
    let ended = Instant.now
    var report = outcome.report
    report.exit = outcome.exit
    report.summary.stopped = report.failure
    report.summary.durationSeconds = max(0, Double(ended.milliseconds - request.now.milliseconds) / 1000)
    do {
      try store.runs.finish(
        run, at: ended, exit: outcome.exit.rawValue, counters: report.summaryJSON, report: StoredReport.bytes(report))
    } catch  where !outcome.isWhole {
      monitor.note("the end of this run could not be noted: \(error)")
    }
  }

  /// Notes an end anew that turned out otherwise after it was noted or reported, because an output could not be written.
  package func noteEnd(_ outcome: inout RunOutcome) {
    if let noted = outcome.noted, noted.exit != outcome.exit {
      outcome.noted?.exit = outcome.exit
      do {
        let store = try EventStore.open(request.storePath, format: platform.storeFormat)
        try end(noted.run, in: store, outcome)
        if !outcome.runs.isEmpty { outcome.runs = try store.runs.all().map { ListedRun($0, of: platform.name) } }
        try store.close()
      } catch {
        monitor.note("the store has another end of this run than it had: \(error)")
      }
    }
    guard let told = outcome.told, told != outcome.exit else { return }
    outcome.report.summary.stopped = outcome.report.failure
    writeReport(&outcome)
  }

  /// Keeps a run that could not even begin (reference decisions 49), and writes its report if the job asks for reports. A command that was
  /// given wrongly leaves everything as it is.
  func report(_ error: any Error, _ outcome: inout RunOutcome) {
    guard request.mode != .replay, RunFailure.exit(of: error) != .usage else { return }
    outcome.fail(error)
    outcome.report.summary.stopped = outcome.report.failure
    if request.part == nil {
      outcome.runs = FailedStart(report: outcome.report, mode: request.mode)
        .keep(in: request.storePath, of: platform) { store, report in
          report.summary.missed = try missedWindows(in: store, nil)
          report.invocation.parts = try store.parts.partitions().last?.parts
          (outcome.report.summary.missed, outcome.report.invocation) = (report.summary.missed, report.invocation)
        }.map { ListedRun($0, of: platform.name) }
    }
    let failure = outcome.report.failure
    writeReport(&outcome)
    if let path = outcome.reportFolder {
      monitor.note("Report: \(path)/report.html")
    } else if let more = outcome.report.failure, more != failure {
      monitor.note(more)
    }
  }
}

extension StoredRun {
  /// What became of its night, as it noted that; nil for a run that did not end, and for one of a release that did not say it.
  package var night: NightState? {
    // What is not a JSON object is from another program.
    counters.flatMap { try? JSONNode.parse(Array($0.utf8)) }?["night"]?.string.flatMap(NightState.init(rawValue:))
  }
}

extension ListedRun {
  /// Figures of a run that did not end, or of a release that kept none, are 0.
  ///
  /// - Parameter platform: the name of the platform, under which the summary has what it alone counts.
  init(_ run: StoredRun, of platform: String) {
    self.init(
      number: run.id.number, job: run.job, mode: run.mode ?? "", started: run.started, asOf: run.asOf,
      // A release that kept no exit codes kept the end of runs that were done.
      exit: run.finished.flatMap { _ in RunExit(rawValue: run.exit ?? 0) })
    (until, window, night) = (run.until, run.window, run.night)
    seconds = run.finished.map { Double($0.milliseconds - run.started.milliseconds) / 1000 }
    // What is not a JSON object is from another program; the run is listed all the same.
    guard let counters = run.counters.flatMap({ try? JSONNode.parse(Array($0.utf8)) }) else { return }
    func figure(_ section: String, _ name: String) -> Int { counters[section]?[name]?.integer.map { Int($0) } ?? 0 }
    accepted = figure("records", "accepted")
    quarantined = figure("records", "quarantined") + figure(platform, "invalid")
    events = figure("events", "total")
    posted = figure("upload", "eventsPosted")
    failed = figure("upload", "eventsFailed")
    stopped = counters["stopped"]?.string
    missed = (counters["missed"]?.array ?? []).compactMap { $0["to"]?.string.flatMap { Instant.parse(rfc3339: $0) } }
  }
}

extension RunRequest {
  /// All that ``configurationDigest`` is made of.
  var shownSettings: [RunSetting] {
    loaded.configuration.shownSettings()
      + maps.map { RunSetting(name: "map \($0.name)", value: $0.text, origin: "map of the job") }
  }
}

extension Configuration {
  /// Settings but secrets, as `config show` shows them, with the layer, file and line that gave them.
  func shownSettings(_ isWanted: (ResolvedSetting) -> Bool = { _ in true }) -> [RunSetting] {
    resolved.filter { !$0.setting.isSecret && isWanted($0) }.map { resolved in
      RunSetting(
        name: resolved.setting.name, value: resolved.shown,
        origin: resolved.given.layer == .defaults
          ? "built-in default" : "\(resolved.given.layer.rawValue) \(resolved.given.origin)")
    }
  }
}
