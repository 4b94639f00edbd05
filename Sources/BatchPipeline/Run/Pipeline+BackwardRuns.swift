import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// The error for a run that precedes everything its store has processed, if no setting permits that.
package struct BackwardRunError: RunError, CustomStringConvertible {
  package let description: String

  package var exit: RunExit { .configuration }

  /// - Parameter command: the command for the same run, with the setting that permits it.
  fileprivate init(_ store: EventStore, _ evidence: String, command: String) {
    description =
      "\(store.path): error: \(evidence). Devices cannot be rewound that far: events of known devices would be created, each with a warning, but "
      + "without sessions or campaigns. No record was imported. Use a separate store for the earlier period, or confirm that this is "
      + "intended: \(command)"
  }
}

extension Pipeline {
  /// Refuses a run whose window precedes everything that the store has processed, unless `Ingest.lateRecords` is set.
  ///
  /// A window that was partly read already is a repetition and therefore permitted.
  ///
  /// - Throws: ``BackwardRunError`` before anything is read.
  func refuseBackwardRun(_ store: EventStore) throws {
    guard request.mode.readsInputs, !policyIsGiven, let to = request.job.window.to,
      try RunStorage.reach(of: store.runs.knownUntil(), request.settings).map({ to <= $0 }) ?? true,
      let processed = try store.timelines.firstProcessed(after: to, withNothingSince: request.job.window.from)
    else { return }
    throw BackwardRunError(
      store,
      "the window ends at \(to.rfc3339), but the store has processed only records from \(processed.rfc3339) onwards",
      command: acceptingCommand(store))
  }

  /// Refuses a run because of its records. This covers jobs without a window or with a wide one, and replays.
  ///
  /// - Throws: ``BackwardRunError``.
  func refuse(_ share: BackwardShare, _ store: EventStore) throws {
    guard share.isBackward else { return }
    let known = share.lagging + share.ahead
    throw BackwardRunError(
      store,
      "the records go back in time: of \(known.counted("known device")) examined, \(share.lagging.grouped) have no records after the time already "
        + "processed for them; their records end at \(share.newest.rfc3339), but the store has processed records up to \(share.processed.rfc3339)",
      command: acceptingCommand(store))
  }

  private func acceptingCommand(_ store: EventStore) -> String {
    var invocation = request.invocation
    invocation.settings.append("Ingest.lateRecords=accept")
    let command = request.mode == .replay ? invocation.replay(in: store.path) : invocation.run
    return command.text + invocation.omission
  }

  /// Whether a file, the job, the environment or the command line sets `Ingest.lateRecords`.
  var policyIsGiven: Bool {
    (request.loaded.configuration.resolved(named: "Ingest.lateRecords")?.chain.count ?? 0) > 1
  }

  /// Returns a note about late records, with the command that processes them correctly; nil if there are none.
  ///
  /// - Parameter rules: the rules, which define the range of events that may change.
  func lateNote(
    _ late: LateRecordTally, _ rules: any PlatformRules, _ files: InputFiles, _ store: EventStore
  ) -> String? {
    guard late.count > 0 else { return nil }
    let records =
      late.count.counted(
        "record falls in a period already processed for its device",
        "records fall in periods already processed for their devices")
      + " (\(late.fileNames(files)))"
    if request.settings.ingest.lateRecords == .quarantine {
      return
        "\(records), and Ingest.lateRecords quarantines such records; to import them, run 'quarantine replay' with "
        + "--set Ingest.lateRecords=accept"
    }
    var invocation = request.invocation
    if request.mode == .replay { invocation.store = store.path }
    let command = rerun(invocation, from: late.first, to: late.last, rules)
    let (their, them) = late.count == 1 ? ("its", "it") : ("their", "them")
    return
      "\(records): \(their) events are outside sessions and campaigns. To process \(them) in time order (only unsent events are replaced): \(command)"
  }

  /// Returns the command that reruns a span of records, from the earliest time at which they can change events.
  func rerun(_ invocation: RunInvocation, from first: Instant, to last: Instant, _ rules: any PlatformRules) -> String {
    let lookback = max(rules.lookback, rules.longestSilence)
    let begin = Instant(milliseconds: max(0, first.milliseconds - lookback.count))
    let end = min(max(last + Milliseconds(1), request.asOf), .last)
    return invocation.rerun(from: begin, to: end).text + invocation.omission
  }
}

/// The share of an input's devices whose records all precede those that earlier runs processed.
///
/// Late records are normal, and some devices may have no others. An input is backward if that is true of nearly all its
/// devices that the store knows, and if these are many and a substantial share of the store's devices. For a large
/// input, a sample of the buckets is examined.
struct BackwardShare: Sendable, Equatable {
  /// The number of devices whose new records are all late.
  private(set) var lagging = 0
  /// The number of devices with a new record that is not late.
  private(set) var ahead = 0
  /// The latest instant in the new records of lagging devices.
  private(set) var newest = Instant(milliseconds: 0)
  /// The latest instant to which earlier runs processed lagging devices; at most `reach`.
  private(set) var processed = Instant(milliseconds: 0)
  /// The number of devices that the store has in the buckets examined.
  private var stored = 0
  private var devices = 0
  private var records = 0

  /// The minimum number of lagging devices in a backward input. Fewer are normal, regardless of their share.
  private static let fewest = 100
  private static let enoughDevices = 2000
  private static let enoughRecords = 1 << 20

  /// - Parameter reach: the start of the rewind window, whose records never count as lagging; nil if there is no
  ///   rewind.
  /// - Throws: the errors from reading the input or the store.
  init(_ preview: InputPreview, _ earlier: Timelines, _ rules: any PlatformRules, reach: Instant?) throws {
    try preview.forEachBucket { bucket in
      devices += bucket.devices.count
      records += bucket.records
      stored += try earlier.deviceCount(bucket: bucket.number)
      for (device, state) in zip(bucket.devices, try earlier.states(of: bucket.devices.map(\.device))) {
        guard let state, let processed = try rules.processedTime(of: state, known: nil)?.newest else { continue }
        add(device.newest, reach.map { min($0, processed) } ?? processed)
      }
      return !isClear
    }
  }

  private mutating func add(_ newest: Instant, _ processed: Instant) {
    guard newest < processed else {
      ahead += 1
      return
    }
    lagging += 1
    self.newest = max(self.newest, newest)
    self.processed = max(self.processed, processed)
  }

  /// Whether more devices would hardly change the result. For example, if most lines are known, far too few devices are
  /// lagging.
  private var isClear: Bool {
    devices >= Self.enoughDevices || records >= Self.enoughRecords || ahead >= 32 && ahead > lagging
      || stored >= Self.enoughDevices && 20 * lagging < stored
  }

  var isBackward: Bool { lagging >= Self.fewest && lagging >= 9 * ahead && 10 * lagging >= stored }
}
