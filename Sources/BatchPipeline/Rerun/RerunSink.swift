import BatchFoundation
import BatchIngest
import BatchStore

/// A sink that keeps new results in a separate store, without states of devices and rows that the platform already has.
final class RerunSink: DecisionSink {
  private let kept: StoreSink
  private let store: EventStore
  private let span: ReplacedSpan
  private let found = Guarded<[any PlatformRows]>([])

  /// - Parameter kept: the sink of an empty store.
  init(kept: StoreSink, store: EventStore, span: ReplacedSpan) {
    self.kept = kept
    self.store = store
    self.span = span
  }

  /// Rows for records of the span that the store has never had.
  var rows: [any PlatformRows] { found.withLock { $0 } }

  var earlier: EarlierRuns { kept.earlier }

  func quarantine(_ lines: [QuarantinedLine]) throws {}

  func keep(_ batch: LocalBatch) throws {
    var batch = batch
    if let rows = batch.rows, let unknown = try store.read({ try rows.unknown(of: span, in: $0) }) {
      found.withLock { $0.append(unknown) }
    }
    batch.rows = nil
    batch.devices = DeviceStates()
    batch.digests = try batch.digests.compactMap(unknown)
    // Lines that are not records are left to the next run that reads them.
    batch.quarantine = try batch.quarantine.filter { try $0.block.map(isOfSpan) ?? false }
    try kept.keep(batch)
  }

  func finish() throws { try kept.finish() }

  /// Returns the digests that the job's store does not have; nil for none.
  private func unknown(_ segment: DigestSegment) throws -> DigestSegment? {
    let known = Set(
      try LineDigest.merged(store.timelines.knownDigests(bucket: segment.bucket, from: segment.first, to: segment.last))
    )
    var segment = segment
    segment.digests = LineDigest.sortedBytes(LineDigest.merged([segment]).filter { !known.contains($0) })
    return segment.digests.isEmpty ? nil : segment
  }

  private func isOfSpan(_ block: [UInt8]) throws -> Bool {
    let cursor = try store.format.codec.cursor(of: block)
    return try cursor.next() && span.contains(cursor)
  }
}

/// The data stored after the events of a rerun: rows of the platform, quarantined events, lines known now.
struct RerunRest {
  private static let page = 256

  private let anew: EventStore
  private var rows: [any PlatformRows]
  private var lastEvent: Int64?
  private var bucket = 0

  /// - Parameters: the store that ``RerunSink`` filled, and the rows that it found.
  init(_ anew: EventStore, rows: [any PlatformRows]) {
    self.anew = anew
    self.rows = rows
  }

  /// Returns the next batch; nil after the last.
  mutating func next() throws -> LocalBatch? {
    var batch = LocalBatch()
    if let next = rows.popLast() {
      batch.rows = next
      return batch
    }
    let events = try anew.quarantine.events(after: lastEvent, limit: Self.page)
    if let last = events.last {
      lastEvent = last.id
      batch.quarantine = events.map(\.line)
      return batch
    }
    guard bucket < RecordIDs.bucket(of: DeviceHash.bucketCount) else { return nil }
    let segments = try anew.timelines.knownDigests(bucket: bucket, from: Instant(milliseconds: 0), to: .last)
    if let first = segments.map(\.first).min(), let last = segments.map(\.last).max() {
      batch.digests = [
        DigestSegment(
          bucket: bucket, first: first, last: last, digests: LineDigest.sortedBytes(LineDigest.merged(segments)))
      ]
    }
    bucket += 1
    return batch
  }
}
