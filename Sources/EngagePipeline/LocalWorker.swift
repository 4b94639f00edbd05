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
  private var records: [Record] = []
  private var batch = LocalBatch()
  private var events: [Event] = []
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
      records.removeAll(keepingCapacity: true)
      for entry in device.records {
        records.append(entry.record)
        digests.add(entry.digest, at: entry.timestamp)
      }
      try decide(device.device, earlier, records)
    }
    if let segment = digests.segment { batch.digests.append(segment) }
    try endPartition()
  }

  /// Devices without a record for which `asOf` alone changes something.
  func decideDue() throws {
    for device in due.takeRest() {
      let name = device.device.withUnsafeBufferPointer { arena.copy($0) }
      try decide(name, device, [])
    }
    try endPartition()
  }

  /// Hands over what is kept.
  func flush() throws {
    guard !events.isEmpty || batch.hasContent else { return }
    events.sort(by: Event.precedes)
    batch.events = events.withUnsafeBufferPointer { encoder.encode($0) }
    tally.chunks += batch.events.entries.count
    try stage.sink.keep(batch)
    batch = LocalBatch()
    events.removeAll(keepingCapacity: true)
    keptArena.reset()
  }

  private func decide(_ device: Text, _ earlier: StoredDevice?, _ records: [Record]) throws {
    rules.begin(device, try earlier.map { try state($0) })
    let isExplained = stage.options.explain.map { device.bytes.elementsEqual($0.utf8) } ?? false
    rules.explanation = isExplained ? Explanation() : nil
    for record in records { rules.foresee(record) }
    for record in records { rules.process(record) }
    rules.finish()
    if let explanation = rules.explanation { tally.explanation = explanation.steps }
    if stage.options.reconcilesIdentities, let first = records.first {
      batch.setups.append(
        DeviceSetup(
          device: device.description, firstSeen: first.timestamp,
          mobileUserId: rules.state.core[.primaryUserId].description,
          recipientId: rules.state.core[.recipientId].description))
    }
    batch.devices.append(rules.state)
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
