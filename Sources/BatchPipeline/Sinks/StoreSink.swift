import BatchFoundation
import BatchStore

/// A sink that keeps results in the store.
struct StoreSink: DecisionSink {
  let earlier: EarlierRuns
  private let store: EventStore
  private let quarantined: QuarantinedLines
  private let writer: BatchWriter

  /// - Parameter limit: bytes of quarantined lines that the store keeps; nil for any number.
  init(store: EventStore, run: RunID, quarantined: QuarantinedLines, limit: Int? = nil) throws {
    if let limit { try store.quarantine.limit(to: limit) }
    earlier = try EarlierRuns(store)
    self.store = store
    self.quarantined = quarantined
    writer = try BatchWriter { try store.commit($0, run: run) }
  }

  func quarantine(_ lines: [QuarantinedLine]) throws {
    quarantined.add(lines)
    var batch = LocalBatch()
    batch.quarantine = lines.kept
    guard !batch.quarantine.isEmpty else { return }
    try writer.add(batch)
  }

  func keep(_ batch: LocalBatch) throws {
    quarantined.add(batch.quarantine)
    try writer.add(batch)
  }

  func finish() throws {
    try writer.finish()
    try store.ledger.makeIndexes()
  }
}

/// A sink that changes nothing: earlier data is read, and new events only go to the event file.
struct DryRunSink: DecisionSink {
  let earlier: EarlierRuns
  let events: EventSpool?
  let quarantined: QuarantinedLines
  let codec: any EventCodec
  /// Events of earlier runs that a rewind changed.
  let changed = Guarded<Set<EventID>>([])
  private let rewound = Guarded(RewoundEvents())
  /// A store in memory for the platform's rows of a plan; nil discards them.
  var planning: Planning?

  struct Planning {
    var store: EventStore
    var run: RunID
  }

  func quarantine(_ lines: [QuarantinedLine]) throws { quarantined.add(lines) }

  func keep(_ batch: LocalBatch) throws {
    quarantined.add(batch.quarantine)
    for series in batch.events { try events?.append(series) }
    if let new = try codec.events(of: batch.changes, .ofParts) { try events?.append(new) }
    let ids = try batch.changes.compactMap { change in
      try change.before.map { before in
        let number = try earlier.number(of: before, change.device)
        return change.device.withText { EventID(timestamp: before.timestamp, device: $0, emission: number) }
      }
    }
    changed.withLock { $0.formUnion(ids) }
    var counts = RewoundEvents()
    for change in batch.changes { counts.count(change, right: try change.after.map(codec.event)) }
    rewound.withLock { $0.add(counts) }
    guard let planning else { return }
    var part = LocalBatch()
    part.rows = batch.rows
    try planning.store.commit(part, run: planning.run)
  }

  func finish() throws {}

  /// Returns the counts since the last call.
  func takeRewound() -> RewoundEvents {
    rewound.withLock { counts in
      defer { counts = RewoundEvents() }
      return counts
    }
  }
}

/// The data of earlier runs. A first run finds nothing, and does not look again while it fills the store itself.
struct EarlierRuns: Sendable {
  private let store: EventStore?

  /// - Parameter store: nil if there is none yet.
  init(_ store: EventStore?) throws { self.store = try store.flatMap { try $0.isEmpty ? nil : $0 } }

  /// Returns the states of the devices, in order; nil for a new device.
  func states(of devices: [Text]) throws -> [StoredDevice?] {
    try store?.timelines.states(of: devices) ?? Array(repeating: nil, count: devices.count)
  }

  /// Returns the nights of a bucket's devices within the reach of a rewind.
  func nights(bucket: Int) throws -> BucketNights { try store?.timelines.nights(bucket: bucket) ?? BucketNights([]) }

  /// Returns whether a correction withdraws a sent event of the device.
  func hasWithdrawals(_ device: Text) throws -> Bool { try store?.ledger.hasWithdrawals(device) ?? false }

  /// Returns whether a service was asked to accept an event of the device at the instant.
  func wasAttempted(_ device: Text, at instant: Instant) throws -> Bool {
    try store?.ledger.wasAttempted(device, at: instant) ?? false
  }

  /// Returns the number of a pending event.
  func number(of event: DecidedEvent, _ device: [UInt8]) throws -> Int64 {
    try store?.ledger.number(of: event, device) ?? event.emission
  }

  /// Whether no earlier run left anything that could make a record late.
  var isEmpty: Bool { store == nil }

  func deviceCount(bucket: Int) throws -> Int { try store?.timelines.deviceCount(bucket: bucket) ?? 0 }

  /// Returns the digests of accepted lines of a bucket, ascending: at least those of lines in the spans.
  func knownDigests(bucket: Int, in spans: [ClosedRange<Instant>]) throws -> [LineDigest] {
    guard let store else { return [] }
    return try LineDigest.merged(
      spans.flatMap { try store.timelines.knownDigests(bucket: bucket, from: $0.lowerBound, to: $0.upperBound) })
  }

  /// Returns a bucket's devices that the clock alone affects before the instant, by the bytes of their ids.
  func dueDevices(bucket: Int, before instant: Instant) throws -> [StoredDevice] {
    try store?.timelines.dueDevices(bucket: bucket, before: instant) ?? []
  }
}

extension LineDigest {
  static let byteCount = 16

  /// Returns the sorted digests, big-endian, so that their bytes have the same order.
  static func sortedBytes(_ digests: [LineDigest]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digests.count * byteCount)
    for digest in digests.sorted() {
      unsafe withUnsafeBytes(of: (digest.high.bigEndian, digest.low.bigEndian)) { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// Returns all digests of the segments, ascending.
  static func merged(_ segments: [DigestSegment]) -> [LineDigest] {
    var digests: [LineDigest] = []
    digests.reserveCapacity(segments.reduce(0) { $0 + $1.digests.count / byteCount })
    for segment in segments {
      unsafe segment.digests.withUnsafeBytes { bytes in
        for start in stride(from: 0, to: bytes.count - byteCount + 1, by: byteCount) {
          unsafe digests.append(
            LineDigest(
              high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
              low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))))
        }
      }
    }
    if segments.count > 1 { digests.sort() }
    return digests
  }
}
