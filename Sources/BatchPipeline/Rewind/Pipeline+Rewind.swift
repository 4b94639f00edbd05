import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

extension RunStorage {
  /// Returns the first instant whose late records can be processed in chronological order (reference decisions 34); nil
  /// if there is none.
  static func reach(of known: Instant?, _ settings: Settings) -> Instant? {
    guard let known, settings.ingest.rewind > .zero else { return nil }
    return Instant(milliseconds: max(0, known.milliseconds - settings.ingest.rewind.count))
  }

  func reach(_ settings: Settings) -> Instant? { Self.reach(of: knownUntil, settings) }
}

/// Late records within the reach of a rewind (reference decisions 34).
extension Pipeline {
  /// Sets up the options so that late records are read and devices are rewound for them.
  func prepareRewind(_ storage: RunStorage, _ options: inout ProcessingStage.Options) throws {
    guard let reach = storage.reach(request.settings) else { return }
    let settings = request.ruleSettings
    let digest = Hexadecimal.text(of: SHA256.hash(settings).prefix(8))
    options.rewind = Rewind(
      reach: reach, knownBefore: storage.knownBefore, takesBeyond: request.settings.ingest.lateRecords == .accept,
      rules: digest, earlierRules: earlierRules(storage), wireForm: platform.storeFormat.wireForm)
    if let from = options.ingest.window.from, let before = storage.knownBefore, reach < min(from, before) {
      options.ingest.late = reach..<min(from, before)
    }
    guard let (store, run) = storage.kept else { return }
    try store.timelines.beginNights(
      of: run, rules: digest, settings: settings, knownBefore: storage.knownBefore, known: storage.knownUntil)
  }

  /// Returns a function that creates the rules for the settings of an earlier run, from the current content of the
  /// files that the settings name. The rules for each digest of settings are created only once.
  private func earlierRules(_ storage: RunStorage) -> @Sendable (String) throws -> (any PlatformRules)? {
    let made = Guarded<[String: (any PlatformRules)?]>([:])
    let (store, request, platform, monitor) = (storage.store, request, platform, monitor)
    return { digest in
      try made.withLock { made in
        if let known = made[digest] { return known }
        var rules: (any PlatformRules)?
        if let text = try store?.timelines.ruleSettings(digest) {
          do {
            var context = request.context
            context.settings = try request.loaded.configuration.settings(with: text)
            rules = try platform.rules(for: context)
          } catch {
            monitor.note(
              "Rewind: late records of nights with different settings are handled according to Ingest.lateRecords, because those settings are not available: \(error)"
            )
          }
        }
        made[digest] = .some(rules)
        return rules
      }
    }
  }

  /// Applies the event changes from this run, and those left by a killed run, before anything is sent.
  func settleRewind(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    // The events to change are in the store that collects the parts.
    guard request.part == nil else { return }
    try settleRewind(in: storage.sink.store, storage.sink.run, of: storage.store, &outcome)
  }

  /// - Parameter jobStore: the store that the note refers to.
  func settleRewind(
    in store: EventStore, _ run: RunID, of jobStore: EventStore?, _ outcome: inout RunOutcome
  ) throws {
    let limits = platform.limits(request.settings)
    let events = try store.ledger.settleChanges(by: run, limits: limits)
    try store.ledger.renumberPending(by: run, limits: limits)
    note(events, of: jobStore, &outcome)
  }

  private func note(_ events: RewoundEvents, of store: EventStore?, _ outcome: inout RunOutcome) {
    outcome.report.summary.rewind.replaced += events.replaced
    outcome.report.summary.rewind.withdrawn += events.withdrawn
    outcome.report.summary.rewind.added += events.added
    outcome.report.summary.rewind.corrections += events.corrections
    let wrong = (outcome.report.summary.rewind.sentWrongly ?? 0) + events.sentWrongly
    outcome.report.summary.rewind.sentWrongly = wrong == 0 ? nil : wrong
    let rewind = outcome.report.summary.rewind
    guard events != RewoundEvents() || rewind.added > 0 else { return }
    var note =
      "\(rewind.devices.counted("device")) (\(rewind.records.counted("record"))) processed again for late records: "
      + "\(rewind.added.counted("event")) added, \(rewind.replaced.grouped) replaced and \(rewind.withdrawn.grouped) withdrawn "
      + (request.mode.isDryRun ? "(already sent or not)" : "before they could be sent")
    if let store, rewind.corrections > 0 {
      note +=
        "; \(rewind.corrections.counted("event")) already sent would now be different or missing: "
        + ShellCommand("store", "corrections", "--store", store.path).text
    }
    outcome.report.notes.append(note)
    monitor.note("Rewind: \(note)")
  }
}

extension RunRequest {
  /// The settings that affect rules, as text; settings for services, inputs, stores and reports do not change events.
  fileprivate var ruleSettings: String {
    loaded.configuration.text(
      of: Set(SettingSection.allCases).subtracting([
        .networking, .connection, .upload, .ingest, .report, .sandbox, .localEventStore, .auditRecord,
      ]))
  }
}

/// The parameters for rewinding devices in a run (reference decisions 34).
struct Rewind: Sendable {
  /// The instant from which late records are processed in chronological order.
  var reach: Instant
  /// The known time of the store before the run; nil if nothing was known.
  var knownBefore: Instant?
  /// Whether records older than the rewind window are processed rather than quarantined.
  var takesBeyond: Bool
  /// A digest of the settings that affect rules.
  var rules: String
  /// Returns the rules for settings with a different digest; nil if these settings are not available.
  var earlierRules: @Sendable (_ digest: String) throws -> (any PlatformRules)?
  var wireForm: WireForm
}

/// A device that was rewound and processed again, up to the known time of the store.
struct RewoundDevice {
  var state: StoredDevice
  var nights: [StoredNight]
  /// The number of records processed again, including late ones.
  var records: Int
  /// The difference between the new and the earlier steps.
  var steps: DeviceSteps
  var changes: [EventChange]
  /// New platform rows, for requests that the service has never received.
  var rows: (any PlatformRows)?
  /// Events that are quarantined now, but were not before.
  var quarantine: [QuarantinedLine]
}

/// The nights of a device, used to find the night to which a late record belongs and whose settings apply to the
/// record. It is the night whose known time was the first to cover the record, or whose records surround it.
struct NightPlaces {
  /// The times up to which the device had been processed before each night; nil for its first night.
  let begins: [ProcessedTime?]
  /// For each night, the time before which records belong to an earlier night.
  let starts: [Instant]
  /// The index of the first night that a rewind can return to.
  let first: Int

  func night(of instant: Instant, _ kind: InputKind, _ source: StoredSource) -> Int? {
    let last = begins.indices.last { place in
      place >= first && (place == first || instant >= starts[place])
        && begins[place].map { !$0.covers(instant, kind, source, until: $0.silence) } ?? true
    }
    if let last { return last }
    // A record after `end` that only interrupts a period of inactivity can change only counts, so it belongs to the
    // first night.
    guard begins.indices.contains(first), let begin = begins[first] else { return nil }
    return begin.covers(instant, kind, source, until: begin.end) ? nil : first
  }
}

extension StoredNight {
  /// The time of the night's first record, which can be before ``knownBefore``; nil if the night has no records.
  var firstRecord: Instant? {
    get throws { try ([night.records] + additions).compactMap { try RecordTimeline.first(kept: $0) }.min() }
  }
}
