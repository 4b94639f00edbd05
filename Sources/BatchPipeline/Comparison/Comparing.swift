import BatchConfiguration
import BatchFoundation
package import BatchReport
import BatchStore

/// Compares the results of a job under two sets of settings, by processing its inputs twice.
package struct Comparing {
  /// The maximum number of changed devices shown.
  private static let examples = 10
  /// The maximum number of campaign names counted, so that an export with a name for each push cannot exhaust memory.
  private static let campaigns = Activity.campaignLimit
  private static let shownCampaigns = 50

  /// The unchanged job, and the job with different settings.
  private let before: Pipeline
  private let after: Pipeline

  package init(_ before: Pipeline, _ after: Pipeline) {
    self.before = before
    self.after = after
  }

  /// - Throws: the errors of a dry run.
  package func run() throws -> Comparison {
    let (one, other) = (try before.processAnew(), try after.processAnew())
    let request = before.request
    var comparison = Comparison(job: request.job.name, asOf: request.asOf, settings: settings)
    comparison.figures = Self.figures(one.report, other.report)
    let names = one.report.platform.typeNames.merging(other.report.platform.typeNames) { old, _ in old }
    comparison.events = Self.figures(
      one.report.summary.eventsByType, other.report.summary.eventsByType,
      words: { PlatformReport.words(ofType: $0.string, names[$0.string]) })
    try compareDevices(one, other, names, &comparison)
    return comparison
  }

  private var settings: [Comparison.Setting] {
    let (one, other) = (before.platform.name, after.platform.name)
    let destination = Comparison.Setting(name: "destination", before: one, after: other, hasEffect: true)
    return (one.utf8.elementsEqual(other.utf8) ? [] : [destination])
      + zip(before.request.loaded.configuration.resolved, after.request.loaded.configuration.resolved).compactMap {
        old, new in
        let (shown, changed) = (old.shown, new.shown)
        guard old.given.value != new.given.value else { return nil }
        return Comparison.Setting(
          name: old.setting.name, before: shown, after: changed,
          hasEffect: !old.setting.isWithoutEffect && before.platform.reads(old.setting))
      }
  }

  /// Returns the figures of both runs: those that every platform has, and those specific to the platform of the
  /// unchanged job.
  private static func figures(_ before: RunReport, _ after: RunReport) -> [Comparison.Figure] {
    let (one, other) = (before.summary, after.summary)
    let common = [
      Comparison.Figure("records accepted", one.records.accepted, other.records.accepted),
      Comparison.Figure("lines quarantined", one.records.quarantined, other.records.quarantined),
      Comparison.Figure("events", one.eventCount, other.eventCount),
    ]
    let sessions = [
      Comparison.Figure("sessions started", one.sessionsStarted, other.sessionsStarted),
      Comparison.Figure("sessions ended", one.sessionsEnded, other.sessionsEnded),
    ]
    let quarantined = [Comparison.Figure("events quarantined", before.quarantinedEvents, after.quarantinedEvents)]
      .filter { $0.before > 0 || $0.after > 0 }
    let after = Dictionary(after.platform.figures.map { ($0.name, $0.count) }) { first, _ in first }
    return common + quarantined + sessions
      + before.platform.figures.map { Comparison.Figure($0.name, $0.count, after[$0.name, default: 0]) }
  }

  private static func figures(
    _ one: [ByteText: Int], _ other: [ByteText: Int], words: (ByteText) -> String
  ) -> [Comparison.Figure] {
    Set(one.keys).union(other.keys).sorted().map { Comparison.Figure(words($0), one[$0] ?? 0, other[$0] ?? 0) }
  }

  // MARK: - Devices

  private func compareDevices(
    _ one: ProcessedEvents, _ other: ProcessedEvents, _ names: [String: String], _ comparison: inout Comparison
  ) throws {
    // If there is a store, the hashes are the same as in other reports on it.
    let key = try before.request.reportKey() ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    let personal = PersonalData(one.report.personalData, key: key)
    var campaigns: [ByteText: (before: Int, after: Int)] = [:]
    func count(_ behavior: DeviceBehavior, _ add: (inout (before: Int, after: Int), Int) -> Void) {
      for (name, count) in behavior.outline.campaigns {
        let name = ByteText(name)
        guard campaigns[name] != nil || campaigns.count < Self.campaigns else { continue }
        add(&campaigns[name, default: (0, 0)], count)
      }
    }
    try ProcessedEvents.forEachDevice(in: [one, other]) { device, behaviors in
      try before.interruption.check()
      let (was, becomes) = (behaviors[0], behaviors[1])
      count(was) { $0.before += $1 }
      count(becomes) { $0.after += $1 }
      comparison.devices += 1
      guard was != becomes else { return }
      comparison.changedDevices += 1
      guard comparison.examples.count < Self.examples else { return }
      comparison.examples.append(
        Comparison.Device(
          id: personal.id(String(decoding: device, as: UTF8.self)),
          changes: Self.changes(was.outline, becomes.outline, names))
      )
    }
    comparison.campaigns = campaigns.map { Comparison.Figure($0.key.string, $0.value.before, $0.value.after) }
      .sorted { one, other in
        let (left, right) = (abs(one.after - one.before), abs(other.after - other.before))
        return left != right ? left > right : ByteText(one.name) < ByteText(other.name)
      }
    comparison.campaigns.removeLast(max(0, comparison.campaigns.count - Self.shownCampaigns))
  }

  private static func changes(
    _ one: DeviceOutline, _ other: DeviceOutline, _ names: [String: String]
  ) -> [Comparison.Figure] {
    func changed(_ old: [String: Int], _ new: [String: Int], _ words: (String) -> String) -> [Comparison.Figure] {
      Set(old.keys).union(new.keys).map { ByteText($0) }.sorted()
        .map { Comparison.Figure(words($0.string), old[$0.string] ?? 0, new[$0.string] ?? 0) }
        .filter { $0.before != $0.after }
    }
    let sessions = Comparison.Figure("sessions", one.sessions.count, other.sessions.count)
    return (sessions.before == sessions.after ? [] : [sessions])
      + changed(one.events, other.events) { PlatformReport.words(ofType: $0, names[$0]) }
      + changed(one.campaigns, other.campaigns) { "events with campaign '\($0.printable)'" }
  }
}

extension RunRequest {
  /// Returns the key for hashes in reports on the job's store, or on the store of its `--sandbox` runs; nil if neither
  /// exists.
  fileprivate func reportKey() throws -> [UInt8]? {
    var sandbox = self
    sandbox.usesSandbox = true
    for path in [storePath, sandbox.storePath] {
      do {
        let store = try EventStore.openReading(path, format: platform.storeFormat)
        let key = try store.runs.reportKey()
        try store.close()
        return key
      } catch StoreError.missing {
        continue
      }
    }
    return nil
  }
}
