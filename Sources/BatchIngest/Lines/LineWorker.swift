import BatchFoundation
import Glibc

/// One thread's part of reading: lines of a block become packed records in the chunks of their buckets.
struct LineWorker: ~Copyable {
  private var decoder: RecordDecoder
  private let space: BucketSpace
  private let window: TimeWindow
  private let chunks: UnsafeMutablePointer<Chunk?>
  private var record: Record
  private(set) var counts = IngestCounts()
  private(set) var quarantined: [QuarantinedLine] = []
  private var quarantinedBytes = 0
  private var borrowed = 0

  init(space: BucketSpace, options: IngestOptions) {
    decoder = RecordDecoder(maxLineBytes: options.maxLineBytes)
    self.space = space
    window = options.window
    chunks = .allocate(capacity: DeviceHash.bucketCount)
    chunks.initialize(repeating: nil, count: DeviceHash.bucketCount)
    record = Record(
      device: .empty, timestamp: Instant(milliseconds: 0), type: .launch, kind: .events,
      position: RecordPosition(file: 0, line: 0))
  }

  deinit { chunks.deallocate() }

  var unknownFields: UnknownFields { decoder.unknown }

  /// Whether enough lines wait to be handed to the sink.
  var hasFullBatch: Bool { quarantined.count >= 256 || quarantinedBytes >= 1 << 19 }

  mutating func takeQuarantined() -> [QuarantinedLine] {
    defer {
      quarantined = []
      quarantinedBytes = 0
    }
    return quarantined
  }

  mutating func read(_ block: LineBlock) throws {
    // A long line stands in the block, on the tape and on its way to a chunk, the first two in memory that doubles as it grows.
    let needed = block.count > 2 << 20 ? block.count * 5 : 0
    if needed != borrowed {
      space.borrow(needed - borrowed)
      borrowed = needed
    }
    let base = UnsafePointer(block.base)
    let count = block.count
    var at = block.markLength
    var line = block.firstLine
    while at < count {
      var end = count
      if let feed = memchr(base + at, 0x0A, count - at) { end = UnsafeRawPointer(feed) - UnsafeRawPointer(base) }
      let next = end + 1
      if end > at, base[end - 1] == 0x0D { end -= 1 }
      if end > at {
        try read(UnsafeBufferPointer(start: base + at, count: end - at), block, at, line)
      }
      at = next
      line += 1
    }
    for finding in block.findings {
      counts.read += 1
      set(aside: finding)
    }
  }

  @inline(__always)
  private mutating func read(_ line: UnsafeBufferPointer<UInt8>, _ block: LineBlock, _ at: Int, _ number: UInt64) throws
  {
    guard let base = line.baseAddress else { return }
    let text = Text(base: base, count: line.count).trimmed
    guard !text.isEmpty else { return }
    counts.read += 1
    let position = RecordPosition(file: block.file, line: number)
    if let rejection = decoder.decode(line, kind: block.kind, position: position, into: &record) {
      let kept = rejection.reason == .lineTooLong ? min(line.count, LineSource.keptOfLongLine) : line.count
      set(
        aside: QuarantinedLine(
          file: block.path.description, line: number, offset: block.offset + UInt64(at), reason: rejection.reason,
          detail: rejection.detail, raw: Array(line.prefix(kept)), kind: block.kind))
      return
    }
    guard window.contains(record.timestamp) else {
      counts.outOfWindow += 1
      return
    }
    try pack(LineDigest(line: text, kind: block.kind), DeviceHash(record.device))
  }

  private mutating func set(aside line: QuarantinedLine) {
    counts.quarantined += 1
    counts.reasons[line.reason, default: 0] += 1
    quarantined.append(line)
    quarantinedBytes += line.raw.count
  }

  @inline(__always)
  private mutating func pack(_ digest: LineDigest, _ device: DeviceHash) throws {
    let bucket = device.bucket
    let bound = RecordPacker.bound(record)
    if Chunk.size(for: bound) > space.chunkBytes { return try packAlone(digest, device, bound) }
    if chunks[bucket].map({ $0.room < bound }) ?? true {
      if let full = chunks[bucket] { space.place(full, bucket: bucket) }
      chunks[bucket] = nil
      chunks[bucket] = try space.empty()
    }
    guard let chunk = chunks[bucket] else { return }
    let size = RecordPacker.pack(record, digest: digest, device: device, at: chunk.base + chunk.used)
    chunks[bucket]?.add(size, at: record.timestamp.milliseconds)
  }

  /// A large record has a chunk of its own, which is handed over at once.
  private mutating func packAlone(_ digest: LineDigest, _ device: DeviceHash, _ bound: Int) throws {
    var chunk = try space.empty(atLeast: bound)
    let size = RecordPacker.pack(record, digest: digest, device: device, at: chunk.base)
    chunk.add(size, at: record.timestamp.milliseconds)
    space.place(chunk, bucket: device.bucket)
  }

  /// Hands the open chunks over; the worker is done.
  mutating func finish() {
    for bucket in 0..<DeviceHash.bucketCount {
      if let chunk = chunks[bucket] { space.place(chunk, bucket: bucket) }
      chunks[bucket] = nil
    }
    space.borrow(-borrowed)
    borrowed = 0
  }
}
