import BatchFoundation
import BatchStore
import Engage
import EngageRules

/// Events of some devices in the order of delivery, and the states they left.
final class ProcessedEvents {
  private let devices: DecidedDevices
  let events: [Event]
  private(set) var states: [DeviceState] = []

  init(_ lines: EventLines) throws {
    devices = try DecidedDevices(lines)
    var states: [DeviceState] = []
    devices.decide { states.append($0) }
    events = devices.rules.output.events.sorted(by: Event.precedes)
    self.states = states
  }

  var blocks: EventBlocks {
    var encoder = EventBlockWriter(.engage, limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1_000_000))
    return unsafe events.withUnsafeBufferPointer { unsafe encoder.encode($0) }
  }
}

/// Events to the blocks of future requests.
final class EncoderBenchmark: Benchmark {
  let name: String
  let item = "event"
  let bytes: Int?
  private let decided: ProcessedEvents
  private var encoder = EventBlockWriter(.engage, limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1_000_000))

  init(_ name: String, _ decided: ProcessedEvents) {
    self.name = name
    self.decided = decided
    bytes = decided.blocks.entries.reduce(0) { $0 + $1.bodyBytes }
  }

  var items: Int { decided.events.count }

  func pass() throws {
    let blocks = unsafe decided.events.withUnsafeBufferPointer { unsafe encoder.encode($0) }
    guard blocks.eventCount == items else { throw UnexpectedResult(name) }
  }
}

/// Blocks to the exact bodies of their requests.
final class BodyBenchmark: Benchmark {
  let name = "bodies"
  let item = "event"
  let items: Int
  let bytes: Int?
  private let blocks: EventBlocks
  private var body = ByteBuffer(capacity: 1 << 20)

  init(_ decided: ProcessedEvents) {
    blocks = decided.blocks
    items = blocks.eventCount
    bytes = blocks.entries.reduce(0) { $0 + $1.bodyBytes }
  }

  func pass() throws {
    try unsafe blocks.bytes.withUnsafeBufferPointer { bytes in
      for entry in blocks.entries {
        body.removeAll()
        let block = unsafe UnsafeBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.length])
        try unsafe WireForm.engage.appendBody(of: block, version: 0, to: &body)
        guard body.count == entry.bodyBytes else { throw UnexpectedResult(name) }
      }
    }
  }
}

/// Batches to a new database file, four to a transaction: the bytes are those of the batches.
final class StoreBenchmark: Benchmark {
  let name = "store"
  let item = "event"
  let items: Int
  let bytes: Int?
  private let folder: TemporaryFolder
  private let batches: [LocalBatch]
  private var store: EventStore?
  private var run = RunID(number: 0)
  private var storesMade = 0

  private static let batchCount = 16
  private static let batchesInTransaction = 4

  init(_ decided: ProcessedEvents, in folder: TemporaryFolder) {
    self.folder = folder
    var random = SplitMix64(seed: 2)
    var encoder = EventBlockWriter(.engage, limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1_000_000))
    var batches: [LocalBatch] = []
    let (events, states) = (decided.events, decided.states)
    for number in 0..<Self.batchCount {
      func part<Element>(_ all: [Element]) -> ArraySlice<Element> {
        all[all.count * number / Self.batchCount..<all.count * (number + 1) / Self.batchCount]
      }
      var batch = LocalBatch()
      batch.events = unsafe [part(events).withUnsafeBufferPointer { unsafe encoder.encode($0) }]
      for state in part(states) {
        unsafe state.encoded().withUnsafeBufferPointer {
          unsafe batch.devices.append(
            device: state.device, version: Int(DeviceState.format), held: state.heldCount, due: state.dueAt, state: $0)
        }
      }
      if let first = part(events).first, let last = part(events).last {
        let digests = (0..<part(events).count * 32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        batch.digests = [
          DigestSegment(bucket: number, first: first.timestamp, last: last.timestamp, digests: digests)
        ]
      }
      batches.append(batch)
    }
    self.batches = batches
    items = events.count
    bytes = batches.reduce(0) { $0 + $1.byteCount }
  }

  func prepare() throws {
    try store?.close()
    store = nil
    try folder.remove("store-\(storesMade).sqlite")
    storesMade += 1
    let fresh = try EventStore.open(folder.path + "/store-\(storesMade).sqlite", format: .engage)
    let instant = Instant(milliseconds: 1_772_323_200_000)
    run = try fresh.runs.begin(job: "micro", configurationDigest: "", started: instant, asOf: instant)
    store = fresh
  }

  func pass() throws {
    guard let store else { throw UnexpectedResult(name) }
    for start in stride(from: 0, to: batches.count, by: Self.batchesInTransaction) {
      try store.commit(Array(batches[start..<start + Self.batchesInTransaction]), run: run)
    }
    try store.ledger.makeIndexes()
  }

  deinit {
    // The folder goes with all that is in it; a store that cannot be closed is not a result.
    try? store?.close()
  }
}
