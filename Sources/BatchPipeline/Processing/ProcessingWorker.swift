import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// A worker that runs a decider over partitions on one thread and passes the results to the sink.
final class ProcessingWorker: @unchecked Sendable {
  private struct SlicedDevice {
    var state: StoredDevice
    /// Whether the state includes the samples of all slices; late records do not need them.
    var hasSamples: Bool
  }

  // One thread at a time uses a worker; see `Partition.worker`.
  private let options: ProcessingStage.Options
  private let sink: StoreSink
  private let files: InputFiles
  private let decider: any DeviceDecider
  private let core: DeciderCore
  private let rewinder: DeviceRewind?
  /// Whether everything is kept in memory until the end.
  private let keepsAll: Bool
  /// The instant after which a record must come from a clock that is ahead.
  private let future: Instant
  private let arena = Arena()
  private var batch = LocalBatch()
  /// The states of devices, by id, after the slices processed so far, if the current bucket is split into slices.
  private var sliced: [[UInt8]: SlicedDevice] = [:]
  /// Devices with records, and warnings about ignored record types, wrong clocks, placeholder ids and repeated record
  /// ids.
  private var noted = ProcessingTally()
  private(set) var quarantinedLate: [RecordPosition] = []
  private(set) var late = LateRecordTally()
  private(set) var rewoundDevices = 0
  private(set) var rewoundRecords = 0
  /// The number of events that rewinds added, except those that must be looked up and are counted later.
  private(set) var addedEvents = 0
  private var newEvents: [EventChange] = []
  /// A cache of the nights of the last bucket that needed them.
  private var nights: (bucket: Int, devices: BucketNights)?
  /// A cache of record times by device and identity key, for the last bucket that needed them.
  private var identities: (bucket: Int, devices: [[UInt8]: [UInt64: Instant]]) = (-1, [:])
  private(set) var nearDevices: Set<String> = []
  /// The buckets whose devices were processed, including buckets without records.
  private(set) var buckets: Set<Int> = []
  /// The devices of the current bucket that were already reported for placeholder ids, if the bucket is split into
  /// slices.
  private var unlikely: Set<[UInt8]> = []

  init(_ stage: ProcessingStage, keepsAll: Bool) {
    options = stage.options
    sink = stage.sink
    self.keepsAll = keepsAll
    future = FutureRecords.begin(asOf: stage.options.asOf)
    var settings = stage.options.decider
    settings.keepsAll = keepsAll
    settings.files = stage.files
    decider = options.rules.makeDecider(settings)
    core = decider.core
    files = stage.files
    rewinder = options.rewind.map { DeviceRewind($0, stage.options.rules, settings) }
  }

  func takeTally() -> ProcessingTally {
    defer { noted = ProcessingTally() }
    noted += decider.takeTally()
    if let rewinder { noted += rewinder.takeTally() }
    return noted
  }

  /// Applies the rules to all devices of the partition. The memory of the partition is valid only during this call.
  func decide(_ partition: Partition) throws {
    let stored =
      try sink.earlier?.timelines.states(of: partition.devices.map(\.device)) ?? partition.devices.map { _ in nil }
    var digests = DigestCollector(bucket: partition.bucket)
    core.steps.keepsDevices = partition.lookaheads != nil
    for (device, earlier) in zip(partition.devices, stored) {
      try decide(device, earlier, partition)
      let late = core.late
      // Digests of quarantined lines are not stored, so that a replay, or a run with different settings, can import the
      // lines.
      var notes: RecordNotes = []
      for entry in device.records where late.isEmpty || !late.contains(entry.position) {
        if options.remembers?(device.device, entry.timestamp) ?? true {
          digests.add(entry.digest, at: entry.timestamp)
          if let key = entry.recordKey { digests.add(recordKey: key, at: entry.timestamp) }
        }
        if entry.ignoredType > 0 {
          note(
            "ignored-\(options.vocabulary.ignored?.name(entry.ignoredType - 1) ?? "")", entry,
            "the destination does not use records of this type; checked and ignored")
        }
        if entry.timestamp > future { note(FutureRecords.kind, entry, "more than a day after asOf") }
        if entry.timestamp < PastRecords.end {
          note(PastRecords.kind, entry, PastRecords.detail(entry.timestamp, asOf: options.asOf))
        }
        notes.formUnion(entry.notes)
        if entry.notes.contains(.isAgain) {
          note("record-id-again", entry, "has the same id as a record more than an hour earlier")
        }
      }
      if !notes.isDisjoint(with: .unlikelyIDs) || device.device.namesNobody {
        noteUnlikelyIDs(of: device, notes, isSlice: partition.lookaheads != nil)
      }
      if decider.isFull { try handOver(&digests) }
    }
    for line in partition.repeated where options.remembers?(line.device, line.timestamp) ?? true {
      digests.add(line.digest, at: line.timestamp)
    }
    guard partition.isLast else { return try handOver(&digests) }
    try decideIdle(&digests, besides: partition.devices)
  }

  private func decide(_ device: DeviceRecords, _ earlier: StoredDevice?, _ partition: Partition) throws {
    let records = device.records
    let knownBefore = options.rewind?.knownBefore
    guard let processed = try earlier.flatMap({ try options.rules.processedTime(of: $0, known: knownBefore) }),
      let first = records.first,
      case let known = try knownByOthers(first.timestamp, device.device, partition),
      isLate(first, processed) || known != nil
    else { return try decide(device.device, earlier, stored: earlier, [records], partition) }
    var (beyond, inOrder, present) = (records.place(from: processed.end), records.place(from: processed.end), earlier)
    if let rewinder, let reach = options.rewind?.reach, let earlier, partition.lookaheads == nil {
      let reached = min(records.place(from: reach), inOrder)
      var silence = records.place(from: processed.silence, processed.kind(at: processed.silence))
      let tied = records[silence...].prefix { $0.timestamp == processed.silence }
      if let last = tied.lastIndex(where: { isLate($0, processed) }) { silence = last + 1 }
      let late = records.list(reached..<max(silence, known.map { records.place(from: $0) } ?? 0))
      let nights =
        try late.first.map { first in
          try rewinder.nights(of: device.device, from: first.timestamp, in: self.nights(of: partition.bucket))
        } ?? []
      let placed = try rewinder.firstPlaced(late, nights)
      if placed < late.count, reached + placed <= inOrder {
        // Records that are in order but before the known time also belong to nights that were already processed.
        let end = max(reached + late.count, records.place(from: knownBefore ?? processed.silence))
        let rewound = try rewinder.decide(
          device.device, records.list(reached + placed..<end), nights, present: earlier)
        try take(rewound, of: device.device)
        (beyond, inOrder, present) = (reached + placed, end, rewound.state)
      }
    }
    late.add(records.list(0..<beyond))
    try decide(
      device.device, present, stored: earlier, [records.list(0..<beyond), records.list(inOrder..<records.count)],
      partition)
  }

  private func isLate(_ entry: RecordEntry, _ processed: ProcessedTime) -> Bool {
    processed.covers(entry.timestamp, entry.kind, files.storedSource(of: entry.position), until: processed.silence)
  }

  /// Returns the known time of the run that last processed the device, if that run had different settings and the
  /// instant is within the reach and before that known time; otherwise nil.
  private func knownByOthers(_ instant: Instant, _ device: Text, _ partition: Partition) throws -> Instant? {
    guard let rewinder, let rewind = options.rewind, let knownBefore = rewind.knownBefore, partition.lookaheads == nil,
      rewind.reach <= instant, instant < knownBefore
    else { return nil }
    let known = try rewinder.knownByOthers(device, in: nights(of: partition.bucket))
    return known.flatMap { instant < $0 ? $0 : nil }
  }

  /// Returns whether a record replaces a later one with the same identity from an earlier run. This requires that a
  /// rewind reaches both and that no request with the later record's event was attempted (reference decisions 71).
  func replaces(_ bucket: Int, _ device: Text, _ key: UInt64, _ instant: Instant) throws -> Bool {
    guard let rewinder, let reach = options.rewind?.reach, reach <= instant else { return false }
    let nights = try rewinder.nights(of: device, from: instant, in: nights(of: bucket))
    guard try rewinder.hasPlace(for: instant, in: nights),
      let time = try identityTimes(of: device, since: reach, bucket)[key], instant < time
    else { return false }
    return try sink.earlier?.ledger.wasAttempted(device, at: time) != true
  }

  /// Returns the times of a device's stored records that have an identity, by identity key. The result is cached,
  /// because a bucket's records come in the order of their files, not by device.
  private func identityTimes(of device: Text, since reach: Instant, _ bucket: Int) throws -> [UInt64: Instant] {
    let name = unsafe Array(device.bytes)
    if identities.bucket != bucket { identities = (bucket, [:]) }
    if let times = identities.devices[name] { return times }
    let nights = try rewinder?.nights(of: device, from: reach, in: nights(of: bucket)) ?? []
    let times = try rewinder?.identityTimes(device, nights) ?? [:]
    identities.devices[name] = times
    return times
  }

  private func nights(of bucket: Int) throws -> BucketNights {
    if let nights, nights.bucket == bucket { return nights.devices }
    let devices = try sink.earlier?.timelines.nights(bucket: bucket) ?? BucketNights([])
    nights = (bucket, devices)
    return devices
  }

  private func take(_ rewound: RewoundDevice, of device: Text) throws {
    rewoundDevices += 1
    rewoundRecords += rewound.records
    batch.rewoundNights += rewound.nights
    core.steps.add(rewound.steps, to: device)
    // A sent event that was found to be wrong may now be produced again, so the device's changes must be looked up.
    let mayComeBack = try sink.earlier?.ledger.hasWithdrawals(device) ?? false
    for change in rewound.changes {
      if change.before == nil, !mayComeBack { newEvents.append(change) } else { batch.changes.append(change) }
    }
    batch.quarantine += rewound.quarantine
    if let rows = rewound.rows { batch.add(rows) }
  }

  /// - Parameter lists: lists of records, in time order. The last list has the records that are in order; the others
  ///   have those that are too late for a rewind.
  private func decide(
    _ device: Text, _ earlier: StoredDevice?, stored: StoredDevice?, _ lists: [RecordList], _ partition: Partition
  ) throws {
    let name = unsafe partition.lookaheads == nil ? [] : Array(device.bytes)
    var lookahead = partition.lookaheads?.of(device)
    let earlierSlice = sliced.removeValue(forKey: name)
    let slice = earlierSlice?.state
    if slice == nil {
      if stored == nil { noted.people.newDevices += 1 } else { noted.people.returningDevices += 1 }
    }
    if earlierSlice?.hasSamples == true { lookahead?.samples = [] }
    let isExplained = isExplained(device)
    var before = slice ?? earlier
    try decider.begin(device, earlier: before, isExplained: isExplained)
    let (beyond, inOrder) = (lists.dropLast(), lists[lists.count - 1])
    for list in beyond where !list.isEmpty { try decider.take(list, lookahead: nil) }
    var (kept, keptBeyond) = (inOrder, beyond.filter { !$0.isEmpty })
    let isWhole = partition.lookaheads == nil
    if let reach = options.rewind?.reach, isWhole, let last = inOrder.last {
      let start = inOrder.place(from: reach)
      if start > 0, last.timestamp + options.rules.longestSilence >= reach {
        // A later rewind begins with the state at the reach.
        try decider.take(inOrder.list(0..<start), lookahead: DeviceLookahead(inOrder))
        var states = DeviceStates()
        decider.end(into: &states)
        (before, keptBeyond) = (states.last, [])
        try decider.begin(device, earlier: before, isExplained: isExplained)
        kept = inOrder.list(start..<inOrder.count)
        lookahead = DeviceLookahead(kept)
        lookahead?.samples = []
      } else if start > 0 {
        kept = inOrder.list(inOrder.count..<inOrder.count)
        before = nil
        try decider.take(inOrder, lookahead: nil)
      }
      if !kept.isEmpty { try decider.take(kept, lookahead: lookahead) }
    } else if !inOrder.isEmpty {
      try decider.take(inOrder, lookahead: lookahead)
    }
    if partition.isLast { decider.finish() }
    end(replacing: slice ?? stored)
    if !partition.isLast {
      sliced[name] = batch.devices.last.map {
        SlicedDevice(state: $0, hasSamples: earlierSlice?.hasSamples == true || !inOrder.isEmpty)
      }
    }
    // Quarantined records were not processed.
    if !core.late.isEmpty { keptBeyond = [] }
    keepNight(device, before, keptBeyond, kept, isMark: !isWhole)
  }

  /// Keeps the night that a later run needs to rewind the device to this point.
  ///
  /// - Parameter beyond: records older than the reach of a rewind, which were processed before the others.
  private func keepNight(
    _ device: Text, _ before: StoredDevice?, _ beyond: [RecordList], _ records: RecordList, isMark: Bool
  ) {
    guard let reach = options.rewind?.reach, let until = core.processed?.settled, until >= reach else { return }
    let name = unsafe Array(device.bytes)
    guard !isMark else {
      return batch.nights.append(
        DeviceNight(device: name, before: nil, records: [], count: 0, isMark: true, until: until))
    }
    batch.nights.append(
      DeviceNight(
        device: name, before: before, beyond: RecordTimeline.kept(beyond, from: files),
        records: RecordTimeline.kept([records], from: files), count: records.count, until: until))
  }

  private func note(_ kind: String, _ entry: RecordEntry, _ detail: @autoclosure () -> String) {
    noted.warnings[kind, default: ProcessingTally.Warnings()].add(at: entry.position) {
      ProcessingTally.Warnings.Example(device: entry.device.description, position: entry.position, detail: detail())
    }
  }

  /// Adds a warning about placeholder ids, once per device.
  private func noteUnlikelyIDs(of device: DeviceRecords, _ notes: RecordNotes, isSlice: Bool) {
    let isNobody = device.device.namesNobody
    guard let first = device.records.first(where: { isNobody || !$0.notes.isDisjoint(with: .unlikelyIDs) }),
      unsafe !isSlice || unlikely.insert(Array(device.device.bytes)).inserted
    else { return }
    let fields = (isNobody ? ["deviceId"] : []) + notes.unlikelyFields
    note("unlikely-id", first, "a placeholder instead of an id in \(fields.joined(separator: ", "))")
  }

  /// Processes the devices of a bucket that has no records in this run.
  func decideIdle(_ bucket: Int) throws {
    var digests = DigestCollector(bucket: bucket)
    try decideIdle(&digests, besides: [])
  }

  /// Ends sessions, campaigns and holds that are over by the known time, for devices that are due by then and
  /// have no records in this run, and for devices of earlier slices that have no further records.
  ///
  /// - Parameter processed: devices that were just processed, sorted by the bytes of their ids.
  private func decideIdle(_ digests: inout DigestCollector, besides processed: [DeviceRecords]) throws {
    buckets.insert(digests.bucket)
    unlikely = []
    var idle =
      try options.decider.knownUntil.flatMap {
        try sink.earlier?.timelines.dueDevices(bucket: digests.bucket, before: $0)
      } ?? []
    if !sliced.isEmpty {
      idle.removeAll { sliced[$0.device] != nil }
      idle = (idle + sliced.values.map(\.state)).sorted { $0.device.lexicographicallyPrecedes($1.device) }
      sliced = [:]
    }
    var next = 0
    for device in idle {
      let name = unsafe device.device.withUnsafeBufferPointer { unsafe arena.copy($0) }
      while next < processed.count, processed[next].device < name { next += 1 }
      if next < processed.count, processed[next].device == name { continue }
      try decider.begin(name, earlier: device, isExplained: isExplained(name))
      decider.finish()
      end(replacing: device)
      if decider.isFull { try handOver(&digests) }
    }
    core.steps.keepsDevices = false
    try handOver(&digests)
  }

  /// Passes the results that were kept in memory to the sink.
  func finish() throws {
    nights = nil
    identities = (-1, [:])
    guard keepsAll else { return }
    try decider.handOver(to: &batch, isLast: true)
    try keepBatch()
  }

  /// - Parameter stored: the state of the device in the store; nil if it is new.
  private func end(replacing stored: StoredDevice?) {
    decider.end(into: &batch.devices)
    batch.devices.lastReplaces(stored)
    quarantinedLate += core.late
  }

  private func isExplained(_ device: Text) -> Bool {
    guard let wanted = options.explain else { return false }
    if unsafe device.bytes.elementsEqual(wanted.utf8) { return true }
    if unsafe nearDevices.count < 5 && NearestName.isNear(wanted, device.bytes) {
      nearDevices.insert(device.description)
    }
    return false
  }

  private func handOver(_ digests: inout DigestCollector) throws {
    try decider.handOver(to: &batch, isLast: false)
    if !core.steps.keepsDevices { core.closeSteps() }
    batch.digests += digests.segments
    digests = DigestCollector(bucket: digests.bucket)
    arena.reset()
    if !keepsAll { try keepBatch() }
  }

  private func keepBatch() throws {
    if let rewind = options.rewind, let events = try rewind.wireForm.events(of: newEvents, options.decider.limits) {
      batch.events.append(events)
      addedEvents += newEvents.count
      newEvents = []
    }
    guard batch.hasContent else { return }
    try sink.keep(batch)
    batch = LocalBatch()
  }
}
