package import BatchFoundation
import FoundationEssentials
package import GRDB

/// The results of one partition of the input. Either all of them are stored, or none. The batch owns its memory, so
/// that a worker can continue while the writer stores it.
package struct LocalBatch: Sendable {
  /// The events, as sorted sequences.
  package var events: [EventBlocks] = []
  package var devices = DeviceStates()
  package var digests: [DigestSegment] = []
  package var quarantine: [QuarantinedLine] = []
  /// The ids of quarantined events that `events` now contains, so that they are no longer pending.
  package var replayed: [Int64] = []
  /// The nights that the rewind window needs.
  package var nights: [DeviceNight] = []
  /// The nights that a rewind processed again, and the events that it changed.
  package var rewoundNights: [StoredNight] = []
  package var changes: [EventChange] = []
  /// Rows of the platform's own tables; nil if there are none.
  package var rows: (any PlatformRows)?
  /// The figures of the run up to and including this batch, as JSON; nil keeps the previous ones.
  package var counters: String?

  package init() {}

  package mutating func add(_ more: any PlatformRows) {
    if rows?.add(more) == nil { rows = more }
  }

  /// The approximate size in memory, in bytes, of most of the data that can be large.
  package var byteCount: Int {
    events.reduce(0) { $0 + $1.bytes.count } + devices.byteCount + digests.reduce(0) { $0 + $1.digests.count }
      + quarantine.reduce(0) { $0 + $1.memory } + (rows?.byteCount ?? 0)
      + nights.reduce(0) { $0 + $1.records.count } + changes.reduce(0) { $0 + ($1.after?.count ?? 0) }
  }
}

/// Sorted 16-byte digests of lines, or of record ids, from the devices of one bucket and from a span of time.
package struct DigestSegment: Sendable, Equatable {
  /// The bucket: for lines, 0 to 255 according to the hash of the device id; for record ids, 256 plus that number.
  package var bucket: Int
  package var first: Instant
  package var last: Instant
  package var digests: [UInt8]

  package init(bucket: Int, first: Instant, last: Instant, digests: [UInt8]) {
    self.bucket = bucket
    self.first = first
    self.last = last
    self.digests = digests
  }
}

extension EventStore {
  /// Stores a batch in one transaction. A kill leaves all of it or nothing, so no line counts twice if it is read
  /// again.
  package func commit(_ batch: LocalBatch, run: RunID) throws { try commit([batch], run: run) }

  /// Stores several batches in one transaction. Their rows share index pages, each of which is then written only once.
  package func commit(_ batches: [LocalBatch], run: RunID) throws {
    try connection.write { db in
      defer { CrashPoint.beforeLocalCommit.reach() }
      var left = quarantine.room.withLock { $0 }
      for batch in batches { try Self.insert(batch, run: run, &left, into: db) }
      let rest = left
      quarantine.room.withLock { $0 = rest }
    }
    CrashPoint.afterLocalCommit.reach()
  }

  static func insert(_ batch: LocalBatch, run: RunID, _ room: inout QuarantineRoom, into db: Database) throws {
    for series in batch.events { try Ledger.insert(series, run: run, into: db) }
    try Timelines.insert(batch.devices, into: db)
    try Timelines.insert(batch.digests, into: db)
    try Quarantine.insert(batch.quarantine, run: run, &room, into: db)
    try Timelines.insert(batch.rewoundNights, into: db)
    try Timelines.insert(batch.nights, run: run, into: db)
    try Ledger.insert(batch.changes, run: run, into: db)
    try Quarantine.markReplayed(batch.replayed, by: run, in: db)
    try batch.rows?.insert(run: run, into: db)
    if let counters = batch.counters {
      try db.execute(sql: "UPDATE run SET counters = ? WHERE id = ?", arguments: [counters, run.number])
    }
  }
}

extension [UInt8] {
  /// These bytes as a database value, copied once.
  package var blob: DatabaseValue { Data(self).databaseValue }
}
