import BatchConfiguration
package import BatchFoundation
import BatchReport
import BatchStore

extension Pipeline {
  /// Checks whether everything in the job's store arrived at its service, by reading both.
  ///
  /// - Parameter limit: the maximum number of findings listed; all are counted.
  /// - Throws: ``CommandError``, ``StoreError``, ``ServiceSettingsError``, ``InterruptedError``.
  package func verify(limit: Int, _ policy: PersonalDataPolicy) throws -> Arrivals {
    let store = try EventStore.openReading(request.storePath, format: platform.storeFormat)
    try store.check(against: request.storeDestination, jobFile: request.job.file)
    var arrivals = Arrivals(limit: limit)
    var ended: UnsentEvents?
    for unsent in try platform.unsentEvents(in: store) {
      // This service accepts only events from a limited period: older ones do not count as missing, and nothing can be
      // done about them.
      if unsent.status == EventStatus.expired.name, platform.window(request.settings, asOf: request.asOf) != nil {
        ended = unsent
        continue
      }
      let isUnknown = unsent.status == EventStatus.unknown.name
      arrivals.add(
        Arrivals.Finding(
          isUnknown ? .unknown : .missing, .events, "",
          "\(unsent.events.counted("event")): \(unsent.reason) (\(unsent.status), \(unsent.setting))",
          repair: unsent.ends), of: unsent.events)
    }
    let names = ArrivalNames(
      PersonalData(policy, key: try store.runs.reportKey()), store: request.storePath, job: request.job.file)
    let corrections = try store.ledger.correctionCount()
    if corrections > 0 {
      arrivals.explain(
        .events,
        "\(corrections.counted("sent event")) would now be different or missing because of late records: "
          + names.onStore("store", "corrections"))
    }
    let keptBack = try store.quarantine.counts()[.schemaInvalid, default: 0]
    if keptBack > 0 {
      arrivals.add(
        Arrivals.Finding(
          .missing, .events, "",
          "\(keptBack.counted("event")): quarantined by the checks, not sent (\(QuarantineReason.schemaInvalid.rawValue))",
          repair: names.onStore("quarantine", "list", "--reason", QuarantineReason.schemaInvalid.rawValue)
            + ", then, once the schema or the export is fixed, "
            + ShellCommand("quarantine", "replay", "--store", request.storePath, "--job", request.job.file).text),
        of: keptBack)
    }
    try platform.service(of: request.context).compare(store, names, interruption, into: &arrivals)
    if let ended {
      arrivals.explain(
        .events,
        ended.events.counted("event was not sent, because it is", "events were not sent, because they are")
          + " \(ended.reason) (\(ended.status), \(ended.setting)); not counted as missing; will be sent by \(ended.ends)"
          + (ended.advice.map { ": \($0)" } ?? "")
      )
    }
    try interruption.check()
    try store.close()
    return arrivals
  }
}
