import EngageIngest
import EngageModel
import EngageRules
import EngageStore

/// Decides partitions on one thread and hands them to the sink.
final class LocalWorker: @unchecked Sendable {
  // One thread at a time uses a worker; see `Partition.worker`.
  private let stage: LocalStage
  private let due: DueDevices
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
  private(set) var tally = LocalTally()

  init(_ stage: LocalStage, _ due: DueDevices, keepsAll: Bool) {
    self.stage = stage
    self.due = due
    self.keepsAll = keepsAll
    rules = DeviceRules(
      settings: stage.options.rules, links: stage.options.links, asOf: stage.options.asOf, arena: arena)
    encoder = EventBlockEncoder(limits: stage.options.limits)
  }

  /// Runs the rules over all devices of the partition, whose memory is valid for this call only.
  func decide(_ partition: Partition) throws {
    let stored = try stage.sink.states(of: partition.devices.map(\.device))
    var digests = DigestCollector(bucket: partition.bucket)
    for (device, earlier) in zip(partition.devices, stored) {
      due.take(device.device)
      let lateBefore = rules.output.late.count
      try decide(device.device, earlier, device.records)
      // A line that was set aside is not known to later runs: it may be taken in by a replay, or once the setting allows it.
      let late = Set(rules.output.late[lateBefore...].map(\.position))
      for entry in device.records where late.isEmpty || !late.contains(entry.record.position) {
        digests.add(entry.digest, at: entry.timestamp)
      }
      // A large partition goes in pieces of whole devices, so that memory does not grow with the input.
      if rules.output.events.count >= Self.largestPiece { try endPiece(&digests) }
    }
    try endPiece(&digests)
  }

  /// Events after which a piece of a partition is handed over.
  private static let largestPiece = 8192

  private func endPiece(_ digests: inout DigestCollector) throws {
    if let segment = digests.segment { batch.digests.append(segment) }
    digests = DigestCollector(bucket: digests.bucket)
    try endPartition()
  }

  /// Devices without a record for which `asOf` alone changes something.
  func decideDue() throws {
    for device in due.takeRest() {
      let name = device.device.withUnsafeBufferPointer { arena.copy($0) }
      try decide(name, device, nil)
    }
    try endPartition()
  }

  /// Hands over what is kept.
  func flush() throws {
    guard !events.isEmpty || batch.hasContent else { return }
    order()
    batch.events = events.withUnsafeBufferPointer { encoder.encode($0) }
    tally.chunks += batch.events.entries.count
    try stage.sink.keep(batch)
    batch = LocalBatch()
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

  /// - Parameter records: of the device, in order; nil when only the clock moves on.
  private func decide(_ device: Text, _ earlier: StoredDevice?, _ records: RecordList?) throws {
    rules.begin(device, try earlier.map { try state($0) })
    let isExplained = stage.options.explain.map { device.bytes.elementsEqual($0.utf8) } ?? false
    rules.explanation = isExplained ? Explanation() : nil
    if let records, let first = records.first, let last = records.last {
      rules.foresee(until: last.timestamp)
      for entry in records where entry.type.isSample { rules.foresee(entry.record) }
      for entry in records { rules.process(entry.record) }
      rules.finish()
      if stage.options.reconcilesIdentities { note(device, since: first.timestamp) }
    } else {
      rules.finish()
    }
    if let explanation = rules.explanation { tally.explanation = explanation.steps }
    batch.devices.append(rules.state)
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

  private func endPartition() throws {
    tally.add(rules.output, stage.files)
    batch.checks += rules.output.checks
    batch.locations += rules.output.locations
    if keepsAll {
      for event in rules.output.events { events.append(event.copied(to: keptArena)) }
    } else {
      swap(&events, &rules.output.events)
      try flush()
    }
    rules.output = RuleOutput()
    rules.output.events.reserveCapacity(1 << 12)
    rules.state = DeviceState(device: .empty)
    arena.reset()
  }
}

/// What events are sorted by, most of the time.
private struct EventKey {
  var timestamp: Int64
  var index: Int
}

extension Event {
  /// The same event in memory that outlives the partition.
  func copied(to arena: Arena) -> Event {
    let target = arena.allocate(attributes.count * MemoryLayout<Attribute>.stride)
      .bindMemory(to: Attribute.self, capacity: attributes.count)
    for (index, attribute) in attributes.enumerated() {
      target[index] = Attribute(arena.copy(attribute.name.bytes), arena.copy(attribute.value.bytes))
    }
    var copy = self
    copy.code = arena.copy(code.bytes)
    copy.device = arena.copy(device.bytes)
    copy.attributes = UnsafeBufferPointer(start: target, count: attributes.count)
    return copy
  }
}

extension LocalBatch {
  var hasContent: Bool {
    devices.count > 0 || !digests.isEmpty || !checks.isEmpty || !locations.isEmpty
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
