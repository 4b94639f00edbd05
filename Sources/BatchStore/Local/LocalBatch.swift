package import BatchFoundation
import FoundationEssentials
package import GRDB

/// What one partition of the input leads to; stored as a whole or not at all.
///
/// Owns its memory, so that a worker can go on while the writer stores it.
package struct LocalBatch: Sendable {
  /// Each in the order of its events.
  package var events: [EventBlocks] = []
  package var devices = DeviceStates()
  package var digests: [DigestSegment] = []
  package var quarantine: [QuarantinedLine] = []
  /// Quarantined events that are among `events` now, and wait no more.
  package var replayed: [Int64] = []
  /// What was decided within the reach of a rewind.
  package var nights: [DeviceNight] = []
  /// Nights that a rewind decided anew, and events that came out otherwise.
  package var rewoundNights: [StoredNight] = []
  package var changes: [EventChange] = []
  /// Rows of the platform's own tables; nil for none.
  package var rows: (any PlatformRows)?
  /// The figures of the run up to and with this batch, as JSON text; nil keeps those of the batch before.
  package var counters: String?

  package init() {}

  /// Adds rows of the platform's own tables.
  package mutating func add(_ more: any PlatformRows) {
    if rows?.add(more) == nil { rows = more }
  }

  /// About what the batch takes in memory, all that can be large.
  package var byteCount: Int {
    events.reduce(0) { $0 + $1.bytes.count } + devices.bytes.count + digests.reduce(0) { $0 + $1.digests.count }
      + quarantine.reduce(0) { $0 + $1.memory } + (rows?.byteCount ?? 0)
      + nights.reduce(0) { $0 + $1.records.count } + changes.reduce(0) { $0 + ($1.after?.count ?? 0) }
  }
}

/// New states of devices, packed one behind the other.
package struct DeviceStates: Sendable {
  struct Entry: Sendable {
    var bucket: Int
    var name: Range<Int>
    var state: Range<Int>
    var version: Int
    var held: Int
    var due: Instant?
  }

  private(set) var bytes: [UInt8] = []
  private(set) var entries: [Entry] = []

  package init() {}

  package var count: Int { entries.count }

  /// The state that was appended last.
  package var last: StoredDevice? {
    entries.last.map {
      StoredDevice(
        device: Array(bytes[$0.name]), version: $0.version, held: $0.held, state: Array(bytes[$0.state]))
    }
  }

  /// - Parameters:
  ///   - device: as in the export.
  ///   - version: of the rules' encoding of the state; handed back as it is.
  ///   - held: events that the state holds back; they count as `HOLD`.
  ///   - due: when the clock alone changes something for the device; nil for never.
  ///   - state: in the rules' encoding.
  package mutating func append(
    device: Text, version: Int, held: Int, due: Instant? = nil, state: UnsafeBufferPointer<UInt8>
  ) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: device.bytes)
    let middle = bytes.count
    unsafe bytes.append(contentsOf: state)
    entries.append(
      Entry(
        bucket: DeviceHash(device).bucket, name: start..<middle, state: middle..<bytes.count, version: version,
        held: held, due: due))
  }
}

/// The state of one device as it was stored.
package struct StoredDevice: Sendable, Equatable {
  package var device: [UInt8]
  package var version: Int
  package var held: Int
  package var state: [UInt8]
}

/// Sorted 16-byte digests of lines whose device falls into one bucket, over a span of time.
package struct DigestSegment: Sendable, Equatable {
  /// 0 to 255, from the hash of the device.
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
  /// Stores a batch in one transaction.
  ///
  /// Events, device states and digests of the lines belong together: after a kill either all of them are there and a second
  /// reading of the lines finds duplicates, or none is.
  package func commit(_ batch: LocalBatch, run: RunID) throws { try commit([batch], run: run) }

  /// Stores several batches in one transaction: their rows share the pages of the indexes, which are then written once.
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
  /// The bytes as a value of the database, copied once.
  package var blob: DatabaseValue { Data(self).databaseValue }
}
