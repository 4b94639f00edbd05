import BatchConfiguration
package import BatchFoundation
package import BatchReport
package import BatchStore

extension Pipeline {
  /// Begins a run of the job in the store, with its mode and configuration.
  ///
  /// - Parameters:
  ///   - mode: the name of the mode; nil to use the mode of the request.
  ///   - window: the window to read; nil to use the job's window, if inputs are read.
  func beginRun(in store: EventStore, mode: String? = nil, window: TimeWindow? = nil) throws -> RunID {
    let digest = request.configurationDigest
    try store.runs.keep(request.shownSettings, digest: digest)
    return try store.runs.begin(
      job: request.job.name, mode: mode ?? request.mode.name, configurationDigest: digest,
      started: request.now, asOf: request.asOf,
      window: window ?? (request.mode.readsInputs ? request.job.window : TimeWindow()))
  }

  /// Shows which maps changed since the job's last run: lines mapped differently count as new (reference decisions 46).
  func noteChangedMaps(in store: EventStore) throws {
    guard !request.maps.isEmpty,
      let last = try store.runs.all().last(where: { $0.job == request.job.name && !$0.configurationDigest.isEmpty })
    else { return }
    let before = try store.runs.settings(digest: last.configurationDigest)
    for map in request.maps
    where before.contains(where: { $0.name == "map \(map.name)" && $0.value != map.text }) {
      monitor.note(
        "Maps: '\(map.name.printable)' has changed since run \(last.id.number): a line that it now maps to a different record "
          + "counts as new, and its events are sent in addition to the earlier ones. To replace those not yet sent, run 'engage-batch rerun'; "
          + "with --dry-run, it only shows what would change")
    }
  }

  /// Stores the end of a run and its report. If the run has already failed, a store error is shown instead of being
  /// thrown.
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
      monitor.note("the result of this run could not be stored: \(error)")
    }
  }

  /// Stores and reports the end of the run again if its exit has changed because an output could not be written.
  package func noteEnd(_ outcome: inout RunOutcome) {
    if let noted = outcome.noted, noted.exit != outcome.exit {
      outcome.noted?.exit = outcome.exit
      do {
        try EventStore.change(request.storePath, format: platform.storeFormat) { store in
          try end(noted.run, in: store, outcome)
          if !outcome.runs.isEmpty { outcome.runs = try ListedRun.all(in: store, of: platform) }
        }
      } catch {
        monitor.note("the store could not be updated with the result of this run: \(error)")
      }
    }
    guard let reported = outcome.reported, reported != outcome.exit else { return }
    outcome.report.summary.stopped = outcome.report.failure
    writeReport(&outcome)
  }

  /// Stores a run that could not begin, and its report (reference decisions 49); does nothing for a replay or after a
  /// usage error.
  func report(_ error: any Error, _ outcome: inout RunOutcome) {
    guard request.mode != .replay, RunExit(of: error) != .usage else { return }
    outcome.fail(error)
    outcome.report.summary.stopped = outcome.report.failure
    if request.part == nil { outcome.runs = keepFailedStart(&outcome.report) }
    let failure = outcome.report.failure
    writeReport(&outcome)
    if let path = outcome.reportFolder {
      monitor.note("Report: \(path)/report.html")
    } else if let more = outcome.report.failure, more != failure {
      monitor.note(more)
    }
  }
}

extension Pipeline {
  /// Adds a run that ended before it read anything to the history in an existing store (reference decisions 49), unless
  /// its mode keeps nothing, another run held the store, or the platform has no store at the path.
  ///
  /// - Returns: all runs in the store, including this one; empty if this one was not stored.
  private func keepFailedStart(_ report: inout RunReport) -> [ListedRun] {
    guard request.mode.keeps, report.exit != .storeIsHeld, !report.job.isEmpty else { return [] }
    do {
      return try EventStore.change(request.storePath, format: platform.storeFormat) { store in
        try store.check(against: StoreDestination(kind: platform.name), jobFile: nil)
        let run = try store.runs.begin(
          job: report.job, mode: request.mode.name, configurationDigest: "", started: report.startedAt,
          asOf: report.asOf, window: TimeWindow(from: report.from, to: report.to))
        let ended = Instant.now
        let (missed, partition) = (try missedWindows(in: store, nil), try store.parts.partitions().last)
        (report.summary.missed, report.invocation.parts) = (missed, partition?.parts)
        var kept = report
        kept.store = request.storePath
        kept.summary.durationSeconds = max(0, Double(ended.milliseconds - report.startedAt.milliseconds) / 1000)
        try store.runs.finish(
          run, at: ended, exit: kept.exit.rawValue, counters: kept.summaryJSON, report: StoredReport.bytes(kept))
        return try ListedRun.all(in: store, of: platform)
      }
    } catch {
      // The error has ended this run or will end the next. If another run holds the store, the history shows that one.
      return []
    }
  }
}

extension StoredRun {
  /// The figures of the summary; nil if there are none, or if another program wrote something other than JSON.
  package var figures: JSONNode? { counters.flatMap { try? JSONNode.parse(Array($0.utf8)) } }

  /// The stored state of the night; nil if the run did not end, or if its release did not store the state.
  package var night: NightState? { figures?["night"]?.string.flatMap(NightState.init(rawValue:)) }
}

extension ListedRun {
  /// Returns all runs in the store, oldest first.
  static func all(in store: EventStore, of platform: any Platform) throws -> [ListedRun] {
    let repaired = try store.quarantine.replayedLines()
    return try store.runs.all().map { run in
      var listed = ListedRun(run, of: platform.name)
      listed.repaired = repaired[run.id.number] ?? [:]
      return listed
    }
  }

  /// Creates the entry for a run; the figures are 0 if the run did not end, or if its release did not keep them.
  ///
  /// - Parameter platform: the name of the platform, which is the key of the platform's figures in the summary.
  init(_ run: StoredRun, of platform: String) {
    self.init(
      number: run.id.number, job: run.job, mode: run.mode ?? "", started: run.started, asOf: run.asOf,
      // Releases that did not store exit codes stored an end only for successful runs.
      exit: run.finished.flatMap { _ in RunExit(rawValue: run.exit ?? 0) })
    (until, window, night) = (run.until, run.window, run.night)
    seconds = run.finished.map { Double($0.milliseconds - run.started.milliseconds) / 1000 }
    guard let counters = run.figures else { return }
    func figure(_ section: String, _ name: String) -> Int { counters[section]?[name]?.integer.map { Int($0) } ?? 0 }
    accepted = figure("records", "accepted")
    quarantined = figure("records", "quarantined") + figure(platform, "invalid")
    events = figure("events", "total")
    posted = figure("upload", "eventsPosted")
    failed = figure("upload", "eventsFailed")
    pending = figure("upload", "eventsPending")
    unsent = counters["store"]?.members.map { statuses in
      statuses.reduce(0) { $0 + ($1.key == EventStatus.successfullyPosted.name ? 0 : Int($1.value.integer ?? 0)) }
    }
    stopped = counters["stopped"]?.string
    missed = (counters["missed"]?.array ?? []).compactMap { $0["to"]?.string.flatMap { Instant.parse(rfc3339: $0) } }
  }
}

extension RunRequest {
  /// All values that ``configurationDigest`` covers.
  var shownSettings: [RunSetting] {
    // A job without `Storage` settings keeps the digest that it had before this section existed.
    loaded.configuration.shownSettings { $0.setting.section != .storage || $0.given.layer != .defaults }
      + maps.map { RunSetting(name: "map \($0.name)", value: $0.text, origin: "map of the job") }
  }
}

extension Configuration {
  /// Returns the settings except secrets, as `config show` shows them, with the layer, file and line that gave them.
  func shownSettings(_ isWanted: (ResolvedSetting) -> Bool = { _ in true }) -> [RunSetting] {
    resolved.filter { !$0.setting.isSecret && isWanted($0) }.map { resolved in
      RunSetting(
        name: resolved.setting.name, value: resolved.shown,
        origin: resolved.given.layer == .defaults
          ? "built-in default" : "\(resolved.given.layer.rawValue) \(resolved.given.origin)")
    }
  }
}

extension Pipeline {
  /// Returns the figures of the job's last successful runs (`Report.usualRuns`), oldest first, and the device
  /// counts of the same number of nights; nil if the run is not compared. For each window up to this run's,
  /// the run that accepted the most records counts as the night.
  func nightsBefore(_ storage: RunStorage) throws -> (figures: [NightFigures], people: [People])? {
    let settings = request.settings.report
    guard settings.usualRuns > 0, request.mode.readsInputs, let store = storage.store else { return nil }
    let before = try store.runs.all().filter {
      $0.job == request.job.name && $0.exit == 0 && $0.id != storage.run && ["run", "no-upload"].contains($0.mode)
    }
    let read = before.map { (run: $0, accepted: ListedRun($0, of: platform.name).accepted) }.filter { $0.accepted > 0 }
    let most = Dictionary(grouping: read, by: \.run.window).mapValues { $0.map(\.accepted).max() ?? 0 }
    var windows: Set<TimeWindow> = [request.job.window]
    let nights = read.reversed().filter { run, accepted in
      guard let to = run.window.to, let own = request.job.window.to else { return true }
      return to <= own && accepted == most[run.window] && windows.insert(run.window).inserted
    }
    func figures(_ run: StoredRun) throws -> NightFigures? {
      // A report in another release's format is not compared.
      try store.runs.report(of: run.id).flatMap { try? NightFigures(StoredReport.report($0)) }
    }
    return (
      try before.suffix(settings.usualRuns).compactMap(figures),
      try nights.prefix(settings.usualRuns).reversed().compactMap { try figures($0.run)?.people }
    )
  }

  /// Notes the figures of the run that are unusual compared with previous nights.
  func compare(_ outcome: inout RunOutcome, with nights: (figures: [NightFigures], people: [People])?) {
    outcome.report.unusual = nights.map {
      NightFigures(outcome.report).unusual(beside: $0.figures, factor: request.settings.report.usualFactor)
    }
    outcome.report.peopleBefore = nights?.people
    if let owners = outcome.newOwners { outcome.report.unusual = (outcome.report.unusual ?? []) + [owners] }
  }

  /// Counts devices with a new owner before any request is sent for them. A large share suggests a fault in the export.
  func countOwners(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    guard request.job.identity, let (store, run) = storage.kept,
      let owners = try platform.newOwners(in: store, of: run)
    else { return }
    outcome.report.summary.identity.newOwners = owners.devices
    guard owners.known * 10 > owners.all else { return }
    outcome.newOwners =
      "devices with a different mobile user id than before: \(owners.known.grouped) of \(owners.all.grouped) that have a recipient"
  }
}
