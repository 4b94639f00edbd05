package import BatchFoundation

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
