import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

extension RunStorage {
  /// Returns the first instant whose records can be processed in their place (reference decisions 34); nil for none.
  static func reach(of known: Instant?, _ settings: Settings) -> Instant? {
    guard let known, settings.ingest.rewind > .zero else { return nil }
    return Instant(milliseconds: max(0, known.milliseconds - settings.ingest.rewind.count))
  }

  func reach(_ settings: Settings) -> Instant? { Self.reach(of: knownUntil, settings) }
}

/// Late records within the reach of a rewind (reference decisions 34).
extension Pipeline {
  /// Sets up the options so that late records are read and devices are rewound for them.
  func prepareRewind(_ storage: RunStorage, _ options: inout DecisionStage.Options) throws {
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

  /// Returns the rules for settings of earlier runs, each made once, with the present content of their files.
  private func earlierRules(_ storage: RunStorage) -> @Sendable (String) throws -> (any DecisionRules)? {
    let made = Guarded<[String: (any DecisionRules)?]>([:])
    let (store, request, platform, monitor) = (storage.store, request, platform, monitor)
    return { digest in
      try made.withLock { made in
        if let known = made[digest] { return known }
        var rules: (any DecisionRules)?
        if let text = try store?.timelines.ruleSettings(digest) {
          do {
            var context = request.context
            context.settings = try request.loaded.configuration.settings(with: text)
            rules = try platform.rules(for: context)
          } catch {
            monitor.note(
              "Rewind: late records of nights with other settings follow Ingest.lateRecords, because those settings are not available: \(error)"
            )
          }
        }
        made[digest] = .some(rules)
        return rules
      }
    }
  }

  /// Carries out the changes of this run, and of one that was killed, before anything is sent.
  func settleRewind(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    // The events are in the store that collects parts.
    guard request.part == nil else { return }
    try settleRewind(in: storage.sink.store, storage.sink.run, of: storage.store, &outcome)
  }

  /// - Parameter jobStore: the store that the note refers to.
  func settleRewind(
    in store: EventStore, _ run: RunID, of jobStore: EventStore?, _ outcome: inout RunOutcome
  ) throws {
    let limits = platform.limits(request.settings)
    let events = try store.ledger.settleChanges(by: run, limits: limits)
    try store.ledger.renumberWaiting(by: run, limits: limits)
    note(events, of: jobStore, &outcome)
  }

  private func note(_ events: RewoundEvents, of store: EventStore?, _ outcome: inout RunOutcome) {
    outcome.report.summary.rewind.replaced += events.replaced
    outcome.report.summary.rewind.withdrawn += events.withdrawn
    outcome.report.summary.rewind.added += events.added
    outcome.report.summary.rewind.corrections += events.corrections
    let inVain = (outcome.report.summary.rewind.sentInVain ?? 0) + events.sentInVain
    outcome.report.summary.rewind.sentInVain = inVain == 0 ? nil : inVain
    let rewind = outcome.report.summary.rewind
    guard events != RewoundEvents() || rewind.added > 0 else { return }
    var note =
      "\(rewind.devices.counted("device")) processed again for late records (\(rewind.records.counted("record"))): "
      + "\(rewind.added.counted("event")) added, \(rewind.replaced.grouped) replaced and \(rewind.withdrawn.grouped) withdrawn "
      + (request.mode.isDryRun ? "or already sent and corrected" : "before they could be sent")
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
  /// The settings that affect rules: those of services, files and reports change no event.
  fileprivate var ruleSettings: String {
    loaded.configuration.text(
      of: Set(SettingSection.allCases).subtracting([
        .networking, .connection, .upload, .ingest, .report, .sandbox, .localEventStore, .auditRecord,
      ]))
  }
}

/// The parameters for rewinding devices in a run (reference decisions 34).
struct Rewind: Sendable {
  /// The instant from which late records are processed in their place.
  var reach: Instant
  /// The known time of the store before the run; nil if nothing was known.
  var knownBefore: Instant?
  /// Whether records older than the rewind window are processed rather than quarantined.
  var takesBeyond: Bool
  /// A digest of the settings that affect rules.
  var rules: String
  /// Returns the rules of another digest; nil if they are no longer available.
  var earlierRules: @Sendable (_ digest: String) throws -> (any DecisionRules)?
  var wireForm: WireForm
}

/// A device that was rewound and processed again, up to the known time of the store.
struct RewoundDevice {
  var state: StoredDevice
  var nights: [StoredNight]
  /// The number of records processed again, including late ones.
  var records: Int
  var changes: [EventChange]
  /// Rows for requests that the service has never received.
  var rows: (any PlatformRows)?
  /// Events that were not quarantined before.
  var quarantine: [QuarantinedLine]
}

/// The nights that late records belong to: each goes to the night that knew its time, whose settings then apply.
struct NightPlaces {
  /// The processed time before each night; nil for the first of a device.
  let begins: [DecidedTime?]
  /// The time, for each night, before which records belong to the night before.
  let starts: [Instant]
  /// The first night that a rewind can return to.
  let first: Int

  func night(of instant: Instant, _ kind: InputKind, _ source: StoredSource) -> Int? {
    let last = begins.indices.last { place in
      place >= first && (place == first || instant >= starts[place])
        && begins[place].map { !$0.covers(instant, kind, source, until: $0.silence) } ?? true
    }
    if let last { return last }
    // Additional counts may reach further back than the nights.
    guard begins.indices.contains(first), let begin = begins[first] else { return nil }
    return begin.covers(instant, kind, source, until: begin.end) ? nil : first
  }
}

extension StoredNight {
  /// The time of its first record, which can be before the known time of that night.
  var firstRecord: Instant? {
    get throws { try ([night.records] + additions).compactMap { try RecordTimeline.first(kept: $0) }.min() }
  }
}
