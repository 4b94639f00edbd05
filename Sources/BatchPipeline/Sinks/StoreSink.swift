import BatchFoundation
import BatchStore

/// The destination of all results, and the source of earlier runs' data.
///
/// Results go to a store: the job's, or a temporary one if they are only looked at.
struct StoreSink: Sendable {
  let store: EventStore
  /// The run that has the results.
  let run: RunID
  let earlier: EarlierRuns
  private let quarantined: QuarantinedLines
  private let refuse: (@Sendable ([QuarantinedLine]) throws -> Void)?
  private let reduce: @Sendable (inout LocalBatch) throws -> Void
  private let writer: BatchWriter

  /// - Parameters:
  ///   - limit: bytes of quarantined lines that the store keeps; nil for any number.
  ///   - earlier: the data of earlier runs; nil for that of the store.
  ///   - reduce: removes from a batch what the store does not get.
  ///   - refuse: receives lines for quarantine in place of the store.
  init(
    store: EventStore, run: RunID, quarantined: QuarantinedLines, limit: Int? = nil, earlier: EarlierRuns? = nil,
    reduce: @escaping @Sendable (inout LocalBatch) throws -> Void = { _ in },
    refuse: (@Sendable ([QuarantinedLine]) throws -> Void)? = nil
  ) throws {
    if let limit { try store.quarantine.limit(to: limit) }
    self.earlier = try earlier ?? EarlierRuns(store)
    (self.store, self.run, self.quarantined) = (store, run, quarantined)
    (self.refuse, self.reduce) = (refuse, reduce)
    writer = try BatchWriter { try store.commit($0, run: run) }
  }

  func quarantine(_ lines: [QuarantinedLine]) throws {
    if let refuse { return try refuse(lines) }
    var batch = LocalBatch()
    batch.quarantine = lines
    try keep(batch)
  }

  /// Keeps the batch as a whole or not at all, now or soon.
  func keep(_ batch: LocalBatch) throws {
    quarantined.add(batch.quarantine)
    var batch = batch
    batch.quarantine = batch.quarantine.kept
    try reduce(&batch)
    guard batch.hasContent else { return }
    try writer.add(batch)
  }

  /// Returns when everything passed on is kept.
  func finish() throws {
    try writer.finish()
    try store.ledger.makeIndexes()
  }
}

extension LocalBatch {
  var hasContent: Bool {
    devices.count > 0 || !events.isEmpty || !digests.isEmpty || !quarantine.isEmpty || rows != nil || !changes.isEmpty
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

  /// Returns the id that an event has before a change; nil for a new one.
  func id(before change: EventChange) throws -> EventID? {
    guard let event = change.before else { return nil }
    let number = try store?.ledger.number(of: event, change.device) ?? event.emission
    return change.device.withText { EventID(timestamp: event.timestamp, device: $0, emission: number) }
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
