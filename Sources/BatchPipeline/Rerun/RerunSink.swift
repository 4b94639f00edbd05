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

extension EventStore {
  /// Passes on what the job's store gets after the events of a rerun: rows of the platform, quarantined events, lines
  /// known now.
  func forEachRest(rows: [any PlatformRows], _ body: (LocalBatch) throws -> Void) throws {
    func pass(_ fill: (inout LocalBatch) -> Void) throws {
      var batch = LocalBatch()
      fill(&batch)
      try body(batch)
    }
    for rows in rows.reversed() { try pass { $0.rows = rows } }
    var last: Int64?
    while case let events = try quarantine.events(after: last, limit: 256), let newest = events.last {
      last = newest.id
      try pass { $0.quarantine = events.map(\.line) }
    }
    for bucket in 0..<RecordIDs.bucket(of: DeviceHash.bucketCount) {
      let segments = try timelines.knownDigests(bucket: bucket, from: Instant(milliseconds: 0), to: .last)
      guard let first = segments.map(\.first).min(), let last = segments.map(\.last).max() else { continue }
      let digests = LineDigest.sortedBytes(LineDigest.merged(segments))
      try pass { $0.digests = [DigestSegment(bucket: bucket, first: first, last: last, digests: digests)] }
    }
  }
}
