import BatchFoundation

/// All packed records of a run, by bucket: in memory up to a limit, and beyond that in a temporary file.
///
/// When memory runs short, buffers of the bucket that uses the most memory are written to disk, so that reads and writes
/// are large regardless of the order of records. A separate thread writes before memory runs out (``spillAhead()``); a
/// worker that finds no memory left also writes. A run whose records leave a sixteenth of the memory free writes
/// nothing.
final class BucketSpace: Sendable {
  /// The state under its lock; the file is read and written outside it.
  private let contents: Guarded<Contents>
  private let spill: SpillFile
  private let limit: Int
  private let workers: Int
  let bufferBytes: Int

  private struct Bucket {
    /// Buffers of the usual size, and larger ones.
    var usual: [PackedRecords] = []
    var large: [PackedRecords] = []
    var largeBytes = 0
    var extents: [Extent] = []

    var isEmpty: Bool { usual.isEmpty && large.isEmpty && extents.isEmpty }
    var spilledBytes: Int { extents.reduce(0) { $0 + $1.bytes } }
  }

  private struct Contents: ~Copyable {
    var buckets = Array(repeating: Bucket(), count: DeviceHash.bucketCount)
    var memory: RecordMemory
    /// The size of the largest buffer that is larger than usual; 0 if there is none.
    var largest = 0
    /// The number of workers that may still add records.
    var filling: Int
    /// The number of pieces (``Piece``) being written to disk: those with buffers of the usual size, and those with
    /// larger ones.
    var writing = (usual: 0, large: 0)

    init(_ memory: consuming RecordMemory, workers: Int) {
      self.memory = memory
      filling = workers
    }

    deinit { for bucket in buckets { for buffer in bucket.large { unsafe buffer.base.deallocate() } } }

    mutating func take(_ bucket: Int, usual: Bool) -> [PackedRecords] {
      defer {
        if usual { buckets[bucket].usual = [] } else { (buckets[bucket].large, buckets[bucket].largeBytes) = ([], 0) }
      }
      return usual ? buckets[bucket].usual : buckets[bucket].large
    }

    mutating func give(_ buffers: some Sequence<PackedRecords>) { for buffer in buffers { memory.give(buffer) } }

    /// Takes the last buffers of the bucket that uses the most memory. Unless `usual` is true, only large buffers are
    /// considered. Nil if there are none.
    mutating func takeLargest(usual: Bool) -> Piece? {
      var (victim, most, isUsual) = (0, 0, false)
      for (index, bucket) in buckets.enumerated() {
        if bucket.largeBytes > most { (victim, most, isUsual) = (index, bucket.largeBytes, false) }
        let small = bucket.usual.count * memory.bufferBytes
        if usual, small > most { (victim, most, isUsual) = (index, small, true) }
      }
      guard most > 0 else { return nil }
      var buffers: [PackedRecords] = []
      var left = BucketSpace.longestExtent * memory.bufferBytes
      while left > 0, let buffer = isUsual ? buckets[victim].usual.popLast() : buckets[victim].large.popLast() {
        buffers.append(buffer)
        left -= buffer.size
      }
      if isUsual {
        writing.usual += 1
      } else {
        writing.large += 1
        buckets[victim].largeBytes -= buffers.reduce(0) { $0 + $1.size }
      }
      return Piece(bucket: victim, buffers: buffers, isUsual: isUsual)
    }
  }

  /// Buffers of one bucket, all of the usual size or all larger, spilled by one thread.
  private struct Piece {
    var bucket: Int
    var buffers: [PackedRecords]
    var isUsual: Bool
  }

  private enum Room {
    case made(PackedRecords)
    case needed(Piece)
  }

  /// The maximum number of buffers written at once.
  private static let longestExtent = 64

  /// - Parameter limit: the maximum number of bytes for records; only the open buffers, one per bucket and worker, may
  ///   exceed it.
  init(limit: Int, workers: Int, folder: String) {
    (self.limit, self.workers) = (limit, workers)
    spill = SpillFile(folder: folder)
    // Open buffers may use a sixth of the limit.
    let wanted = limit / (6 * workers * DeviceHash.bucketCount)
    bufferBytes = min(max(wanted / PackedRecords.page, 1), 8) * PackedRecords.page
    contents = Guarded(Contents(RecordMemory(limit: limit, bufferBytes: bufferBytes), workers: workers))
  }

  var spilledBytes: UInt64 { spill.count }

  /// The number of bytes allocated for buffers, full or empty.
  var allocatedBytes: Int { contents.withLock { $0.memory.allocated } }

  // MARK: - Filling

  func place(_ buffer: PackedRecords, bucket: Int) {
    let isShort = contents.withLock { contents in
      if buffer.size == bufferBytes {
        contents.buckets[bucket].usual.append(buffer)
      } else {
        contents.buckets[bucket].large.append(buffer)
        contents.buckets[bucket].largeBytes += buffer.size
        contents.largest = max(contents.largest, buffer.size)
      }
      return contents.memory.room < reserve && contents.writing == (0, 0)
    }
    // A thread that is writing wakes the others when it is done.
    if isShort { contents.change { _ in } }
  }

  /// Reserves bytes of the limit or, if the number is negative, returns them.
  func borrow(_ bytes: Int) { contents.withLock { $0.memory.borrowed += bytes } }

  /// Returns an empty buffer, spilling others first if memory is short.
  func empty(atLeast bytes: Int = 0) throws -> PackedRecords {
    if let buffer = contents.withLock({ $0.memory.take(bytes) }) { return buffer }
    // The memory of buffers of the standard size is never freed, so spilling them makes no room for a large one.
    let isUsual = PackedRecords.size(for: bytes) <= bufferBytes
    while true {
      let room = contents.wait { contents -> Room? in
        if let buffer = contents.memory.take(bytes) { return .made(buffer) }
        if let piece = contents.takeLargest(usual: isUsual) { return .needed(piece) }
        let isComing = contents.writing.large > 0 || isUsual && contents.writing.usual > 0
        return isComing ? nil : .made(contents.memory.force(bytes))
      }
      switch room {
      case .made(let buffer): return buffer
      case .needed(let piece): try spill(piece)
      }
    }
  }

  /// Spills buffers before workers have to, until all workers have called ``endFilling()``.
  func spillAhead() throws {
    while let piece = contents.wait({ contents -> Piece?? in
      if contents.filling == 0 { return .some(nil) }
      guard contents.memory.room < reserve, let piece = contents.takeLargest(usual: true) else { return nil }
      return piece
    }) {
      try spill(piece)
    }
  }

  /// Reports that a worker has no more records to add.
  func endFilling() { contents.change { $0.filling -= 1 } }

  private func spill(_ piece: Piece) throws {
    defer {
      contents.change { if piece.isUsual { $0.writing.usual -= 1 } else { $0.writing.large -= 1 } }
    }
    try spill(piece.buffers, of: piece.bucket)
  }

  /// - Parameter buffers: all of the usual size, or all larger.
  private func spill(_ buffers: [PackedRecords], of bucket: Int) throws {
    var rest = buffers[...]
    while let first = rest.first {
      let together = rest.prefix(first.size == bufferBytes ? Self.longestExtent : 1)
      rest = rest.dropFirst(together.count)
      let extent = try spill.append(together)
      contents.withLock {
        $0.buckets[bucket].extents.append(extent)
        $0.give(together)
      }
    }
  }

  // MARK: - Emptying

  var hasRecords: Bool { contents.withLock { !$0.buckets.allSatisfy(\.isEmpty) } }

  /// Returns the records of a bucket without removing them; nil if there are none.
  func look(at bucket: Int) -> StoredBucket? {
    contents.withLock { contents in
      let bucket = contents.buckets[bucket]
      return bucket.isEmpty ? nil : StoredBucket(buffers: bucket.usual + bucket.large, extents: bucket.extents)
    }
  }

  /// Returns the buckets that have records, in loading order, after spilling the last ones to make room for the first
  /// ones.
  func order() throws -> [Int] {
    let (used, most, largest) = contents.withLock { contents in
      (
        contents.buckets.indices.filter { !contents.buckets[$0].isEmpty },
        contents.buckets.map(\.spilledBytes).max() ?? 0, contents.largest
      )
    }
    // In addition to its buffer, a large record needs memory for an event, a block and a write to disk.
    let needed = workers * (min(most, share) + 8 * largest) + BucketFeed.ahead * min(most, share)
    for bucket in used.reversed() where contents.withLock({ $0.memory.available }) < needed {
      try spill(contents.withLock { $0.take(bucket, usual: true) }, of: bucket)
      try spill(contents.withLock { $0.take(bucket, usual: false) }, of: bucket)
    }
    return used
  }

  /// Removes and returns the records of a bucket; buffers loaded from it must be returned with ``release(_:)``.
  func take(_ bucket: Int) -> StoredBucket {
    contents.withLock { contents in
      let taken = contents.buckets[bucket]
      contents.buckets[bucket] = Bucket()
      return StoredBucket(buffers: taken.usual + taken.large, extents: taken.extents)
    }
  }

  /// The number of bytes of one bucket that a worker may load at once.
  var share: Int { limit / 4 }

  /// The free memory below which buffers are spilled ahead.
  private var reserve: Int { limit / 16 }

  func load(_ extent: Extent) throws -> [PackedRecords] {
    try spill.read(
      extent,
      into: contents.withLock { contents in
        (0..<extent.buffers).map { _ in contents.memory.force(PackedRecords.room(of: extent.size)) }
      })
  }

  /// Returns an empty buffer, regardless of the limit.
  func forced(_ bytes: Int = 0) -> PackedRecords { contents.withLock { $0.memory.force(bytes) } }

  func release(_ buffers: [PackedRecords]) { contents.withLock { $0.give(buffers) } }
}

/// The records of one bucket in memory and on disk, to be loaded at once or, if there are too many, in ordered slices.
struct StoredBucket {
  /// The buffers in memory.
  let buffers: [PackedRecords]
  let extents: [Extent]

  static let whole = RecordPlace.first..<RecordPlace.end

  private var bytes: Int { extents.reduce(buffers.reduce(0) { $0 + $1.size }) { $0 + $1.bytes } }

  /// Returns consecutive ranges of places with about `share` bytes of records each; a single range if all records fit.
  ///
  /// The boundaries are estimated from one record of each buffer.
  func slices(of share: Int) -> [Range<RecordPlace>] {
    guard bytes > share else { return [Self.whole] }
    var known = buffers.map { ($0.places.newest, $0.size) }
    for extent in extents { known += extent.places.map { ($0.newest, extent.size) } }
    known.sort { $0.0 < $1.0 }
    var slices: [Range<RecordPlace>] = []
    var start = RecordPlace.first
    var filled = 0
    for (place, size) in known {
      if filled + size > share, filled > 0, place > start {
        slices.append(start..<place)
        start = place
        filled = 0
      }
      filled += size
    }
    return slices + [start..<RecordPlace.end]
  }

  /// Loads those records of a slice that are on disk. For the whole bucket, these are the original buffers.
  func load(_ slice: Range<RecordPlace>, from space: BucketSpace) throws -> [PackedRecords] {
    var loaded: [PackedRecords] = []
    for extent in extents where extent.places.contains(where: { $0.overlaps(slice) }) {
      let buffers = try space.load(extent)
      if slice == Self.whole {
        loaded += buffers
        continue
      }
      for buffer in buffers {
        unsafe buffer.forEachRecord { record, head in
          guard slice.contains(head.place) else { return }
          let size = Int(head.size)
          if (loaded.last?.room ?? 0) < size { loaded.append(space.forced(size)) }
          let last = loaded.count - 1
          unsafe (loaded[last].base + loaded[last].used).copyMemory(from: record, byteCount: size)
          loaded[last].add(size, at: head.place)
        }
      }
      space.release(buffers)
    }
    return loaded
  }
}

extension PackedRecords {
  @inline(__always)
  func forEachRecord(_ body: (_ packed: UnsafeRawPointer, _ head: PackedHead) throws -> Void) rethrows {
    var at = unsafe UnsafeRawPointer(base)
    let end = unsafe at + used
    while unsafe at < end {
      let head = unsafe at.load(as: PackedHead.self)
      try unsafe body(at, head)
      unsafe at += Int(head.size)
    }
  }
}
