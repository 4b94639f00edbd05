import BatchFoundation
import BatchIngest
import BatchStore
import EngageRules

/// Decides partitions on one thread and hands them to the sink.
final class LocalWorker: @unchecked Sendable {
  // One thread at a time uses a worker; see `Partition.worker`.
  private let stage: LocalStage
  /// Keep the events of all partitions until the end, in memory of their own.
  private let keepsAll: Bool
  private let arena = Arena()
  private let keptArena = Arena(blockSize: 1 << 20)
  private var rules: DeviceRules
  private var encoder: EventBlockEncoder
  private var batch = LocalBatch()
  private var events: [Event] = []
  private var sorted: [Event] = []
  private var keys: [EventKey] = []
  /// Of records that became events, since the last stretch ended.
  private var stretchBytes = 0
  /// Has no meaning; that it is kept makes `RecordList.touch` read.
  private var touched: UInt8 = 0
  /// Records of the device at hand that were too late.
  private var late: Set<RecordPosition> = []
  /// What the slices so far made of the devices of a bucket that comes in slices.
  private var sliced: [[UInt8]: StoredDevice] = [:]
  private(set) var tally = LocalTally()
  /// Buckets whose devices were decided, those without records included.
  private(set) var buckets: Set<Int> = []

  init(_ stage: LocalStage, keepsAll: Bool) {
    self.stage = stage
    self.keepsAll = keepsAll
    rules = DeviceRules(
      settings: stage.options.rules, links: stage.options.links, asOf: stage.options.asOf, arena: arena)
    encoder = EventBlockEncoder(limits: stage.options.limits)
  }

  /// Runs the rules over all devices of the partition, whose memory is valid for this call only.
  func decide(_ partition: Partition) throws {
    let stored = try stage.sink.earlier.states(of: partition.devices.map(\.device))
    var digests = DigestCollector(bucket: partition.bucket)
    for (device, earlier) in zip(partition.devices, stored) {
      try decide(device, earlier, partition)
      // A line that was set aside is not known to later runs: it may be taken in by a replay, or once the setting allows it.
      for entry in device.records where late.isEmpty || !late.contains(entry.record.position) {
        digests.add(entry.digest, at: entry.timestamp)
      }
      if isFull() || !batch.events.isEmpty { try handOver(&digests) }
    }
    guard partition.isLast else { return try handOver(&digests) }
    try decideIdle(&digests, besides: partition.devices)
  }

  /// The devices of a bucket without records.
  func decideIdle(_ bucket: Int) throws {
    var digests = DigestCollector(bucket: bucket)
    try decideIdle(&digests, besides: [])
  }

  /// Devices of a bucket for which only the clock moves on: those that `asOf` changes something for, and those whose last
  /// record was in an earlier slice.
  ///
  /// - Parameter decided: devices with records, by the bytes of their ids.
  private func decideIdle(_ digests: inout DigestCollector, besides decided: [DeviceRecords]) throws {
    buckets.insert(digests.bucket)
    var idle = try stage.sink.earlier.dueDevices(bucket: digests.bucket, before: stage.options.asOf)
    if !sliced.isEmpty {
      idle.removeAll { sliced[$0.device] != nil }
      idle = (idle + sliced.values).sorted { $0.device.lexicographicallyPrecedes($1.device) }
      sliced = [:]
    }
    var next = 0
    for device in idle {
      let name = device.device.withUnsafeBufferPointer { arena.copy($0) }
      while next < decided.count, decided[next].device < name { next += 1 }
      if next < decided.count, decided[next].device == name { continue }
      try begin(name, device)
      rules.finish()
      end()
      if isFull() { try handOver(&digests) }
    }
    try handOver(&digests)
  }

  /// Hands over what the inputs so far led to, if it was kept until now.
  func finish() throws {
    guard keepsAll else { return }
    encodeEvents()
    try keepBatch()
  }

  // MARK: - Stretches and batches

  /// Whether what the rules made, or what it was made of, is so many times what a stretch should have.
  private func isFull(_ times: Int = 1) -> Bool {
    let stretch = stage.options.stretch
    return !keepsAll
      && (rules.output.events.count >= times * stretch.events || stretchBytes >= times * stretch.bytes)
  }

  /// Takes what the rules made: counts it, and encodes its events as a series of their own.
  private func endStretch() {
    tally.add(rules.output, stage.files)
    batch.checks += rules.output.checks
    batch.locations += rules.output.locations
    if keepsAll {
      for event in rules.output.events { events.append(event.copied(to: keptArena)) }
    } else {
      swap(&events, &rules.output.events)
      encodeEvents()
    }
    rules.output.removeAll()
    stretchBytes = 0
  }

  /// Ends a stretch in the middle of a device; its state moves on to memory that is free again.
  private func endStretchOfDevice() throws {
    noteLate()
    endStretch()
    let bytes = rules.state.encoded()
    arena.reset()
    let kept = bytes.withUnsafeBufferPointer { arena.copy($0) }
    rules.state = try DeviceState(decoding: UnsafeRawBufferPointer(kept.bytes))
  }

  /// Hands over what is there of whole devices.
  private func handOver(_ digests: inout DigestCollector) throws {
    endStretch()
    if let segment = digests.segment { batch.digests.append(segment) }
    digests = DigestCollector(bucket: digests.bucket)
    rules.state = DeviceState(device: .empty)
    arena.reset()
    if !keepsAll { try keepBatch() }
  }

  private func keepBatch() throws {
    guard batch.hasContent else { return }
    try stage.sink.keep(batch)
    batch = LocalBatch()
  }

  private func encodeEvents() {
    guard !events.isEmpty else { return }
    order()
    let blocks = events.withUnsafeBufferPointer { encoder.encode($0) }
    tally.chunks += blocks.entries.count
    batch.events.append(blocks)
    events.removeAll(keepingCapacity: true)
    keptArena.reset()
  }

  /// Puts the events into the order of delivery: small keys are sorted, and each event is moved once.
  private func order() {
    keys.removeAll(keepingCapacity: true)
    for (index, event) in events.enumerated() {
      keys.append(EventKey(timestamp: event.timestamp.milliseconds, index: index))
    }
    events.withUnsafeBufferPointer { events in
      keys.sort { one, other in
        if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
        return Event.precedes(events[one.index], events[other.index])
      }
    }
    sorted.removeAll(keepingCapacity: true)
    for key in keys { sorted.append(events[key.index]) }
    swap(&events, &sorted)
  }

  // MARK: - One device

  private func decide(_ device: DeviceRecords, _ earlier: StoredDevice?, _ partition: Partition) throws {
    let records = device.records
    guard let first = records.first, let last = records.last else { return }
    touched &+= records.touch()
    let outlook = partition.outlooks?.of(device.device)
    let slice = outlook == nil ? nil : sliced.removeValue(forKey: Array(device.device.bytes))
    try begin(device.device, slice ?? earlier)
    rules.foresee(until: outlook?.last ?? last.timestamp)
    if let outlook {
      // The state that an earlier slice left has them already.
      if slice == nil { for sample in outlook.samples { rules.foresee(sample) } }
    } else {
      for entry in records where entry.type.isSample { rules.foresee(entry.record) }
    }
    for entry in records {
      let before = rules.output.events.count
      rules.process(entry.record)
      if rules.output.events.count != before { stretchBytes += entry.byteCount }
      // A device that has much more than its share must not fill the memory; others are not cut.
      if isFull(2), rules.isSettled { try endStretchOfDevice() }
    }
    if partition.isLast { rules.finish() }
    if stage.options.reconcilesIdentities { note(device.device, since: first.timestamp) }
    end()
    if !partition.isLast {
      let name = Array(device.device.bytes)
      sliced[name] = StoredDevice(
        device: name, version: Int(DeviceState.format), held: rules.state.heldCount, state: rules.state.encoded())
    }
  }

  private func begin(_ device: Text, _ earlier: StoredDevice?) throws {
    late.removeAll(keepingCapacity: true)
    rules.begin(device, try earlier.map { try state($0) })
    let isExplained = stage.options.explain.map { device.bytes.elementsEqual($0.utf8) } ?? false
    rules.explanation = isExplained ? Explanation() : nil
  }

  private func end() {
    if let explanation = rules.explanation { tally.explanation += explanation.steps }
    noteLate()
    batch.devices.append(rules.state)
  }

  private func noteLate() {
    for record in rules.output.late { late.insert(record.position) }
  }

  private func note(_ device: Text, since instant: Instant) {
    batch.setups.append(
      DeviceSetup(
        device: device.description, firstSeen: instant, mobileUserId: rules.state.core[.primaryUserId].description,
        recipientId: rules.state.core[.recipientId].description))
  }

  private func state(_ stored: StoredDevice) throws -> DeviceState {
    let bytes = stored.state.withUnsafeBufferPointer { arena.copy($0) }
    return try DeviceState(decoding: UnsafeRawBufferPointer(bytes.bytes))
  }
}

/// What events are sorted by, most of the time.
private struct EventKey {
  var timestamp: Int64
  var index: Int
}

extension LocalBatch {
  var hasContent: Bool {
    devices.count > 0 || !events.isEmpty || !digests.isEmpty || !checks.isEmpty || !locations.isEmpty
  }
}

extension DeviceStates {
  mutating func append(_ state: DeviceState) {
    let bytes = state.encoded()
    bytes.withUnsafeBufferPointer {
      append(
        device: state.device, version: Int(DeviceState.format), held: state.heldCount, due: state.dueAt, state: $0)
    }
  }
}

/// The digests of a partition's lines, for the duplicates of later runs.
private struct DigestCollector {
  let bucket: Int
  private var digests: [LineDigest] = []
  private var first = Instant.last
  private var last = Instant(milliseconds: 0)

  init(bucket: Int) { self.bucket = bucket }

  mutating func add(_ digest: LineDigest, at instant: Instant) {
    digests.append(digest)
    first = min(first, instant)
    last = max(last, instant)
  }

  var segment: DigestSegment? {
    guard !digests.isEmpty else { return nil }
    return DigestSegment(bucket: bucket, first: first, last: last, digests: LineDigest.sortedBytes(digests))
  }
}
