import BatchConfiguration
import BatchFoundation
import BatchHash
import BatchIngest
import BatchJSON
import BatchPlatform
import BatchReport
import BatchStore

extension RunStorage {
  /// The first instant whose records can still be decided in their place (reference decisions 34); nil where there is none.
  static func reach(of known: Instant?, _ settings: Settings) -> Instant? {
    guard let known, settings.ingest.rewind > .zero else { return nil }
    return Instant(milliseconds: max(0, known.milliseconds - settings.ingest.rewind.count))
  }

  func reach(_ settings: Settings) -> Instant? { Self.reach(of: knownUntil, settings) }
}

/// Late records within the reach of a rewind (reference decisions 34).
extension Pipeline {
  /// Lets late records be read and devices be taken back for them.
  func prepareRewind(_ storage: RunStorage, _ options: inout DecisionStage.Options) throws {
    // A rerun decides everything from the first record on.
    guard !(storage.sink is RerunSink), let reach = storage.reach(request.settings) else { return }
    let platform = platform
    options.rewind = Rewind(
      reach: reach, knownBefore: storage.knownBefore, rules: request.ruleDigest, codec: platform.storeFormat.codec,
      type: { platform.describe(try JSONNode.parse($0), device: "").type })
    if let from = options.ingest.window.from, let before = storage.knownBefore, reach < min(from, before) {
      options.ingest.late = reach..<min(from, before)
    }
    guard let (store, run) = storage.kept else { return }
    try store.beginNights(
      of: run, rules: request.ruleDigest, knownBefore: storage.knownBefore, known: storage.knownUntil)
  }

  /// Carries out what this run decided otherwise, and what one decided that was killed, before anything is sent.
  func settleRewind(_ storage: RunStorage, _ outcome: inout RunOutcome) throws {
    // The events are where parts are collected.
    guard let (store, run) = storage.kept, request.part == nil else { return }
    try settleRewind(in: store, run, &outcome)
  }

  func settleRewind(in store: EventStore, _ run: RunID, _ outcome: inout RunOutcome) throws {
    let events = try store.settleChanges(by: run, limits: platform.limits(request.settings))
    outcome.report.summary.rewind.replaced += events.replaced
    outcome.report.summary.rewind.withdrawn += events.withdrawn
    outcome.report.summary.rewind.added += events.added
    outcome.report.summary.rewind.corrections += events.corrections
    let rewind = outcome.report.summary.rewind
    guard events != RewoundEvents() else { return }
    var note =
      "\(rewind.devices.counted("device")) decided anew for late records: \(rewind.added.counted("event")) added, "
      + "\(rewind.replaced.grouped) replaced and \(rewind.withdrawn.grouped) withdrawn before a service could have them"
    if rewind.corrections > 0 {
      note +=
        "; \(rewind.corrections.counted("event")) sent before would be different or missing now: "
        + ShellCommand("store", "corrections", "--store", store.path).text
    }
    outcome.report.notes.append(note)
    monitor.note("Rewind: \(note)")
  }
}

extension RunRequest {
  /// A digest of the settings that rules go by: those of services, files and reports change no event.
  fileprivate var ruleDigest: String {
    let others: Set<SettingSection> = [
      .networking, .connection, .upload, .ingest, .report, .sandbox, .localEventStore, .auditRecord,
    ]
    let text = loaded.configuration.resolved.filter { !others.contains($0.setting.section) && !$0.setting.isSecret }
      .map { "\($0.setting.name)=\($0.value)\n" }.joined()
    return Hexadecimal.text(of: SHA256.hash(text).prefix(8))
  }
}
