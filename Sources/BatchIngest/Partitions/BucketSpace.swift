import BatchFoundation

/// All packed records of a run by bucket, in memory up to a limit and beyond it in a temporary file.
///
/// When memory runs out, the bucket that holds most of it goes to disk in one piece and begins anew: so what is written and read are
/// large pieces, however the records come. A run that fits writes nothing.
final class BucketSpace: Sendable {
  /// The file is read and written outside its lock.
  private let contents: Guarded<Contents>
  private let spill: SpillFile
  private let limit: Int
  private let workers: Int
  let chunkBytes: Int

  private struct Bucket {
    /// Of the usual size, and larger ones.
    var usual: [Chunk] = []
    var large: [Chunk] = []
    var extents: [Extent] = []

    var isEmpty: Bool { usual.isEmpty && large.isEmpty && extents.isEmpty }
    var spilledBytes: Int { extents.reduce(0) { $0 + $1.bytes } }
  }

  private struct Contents: ~Copyable {
    var buckets = Array(repeating: Bucket(), count: DeviceHash.bucketCount)
    var memory: ChunkMemory
    /// Bytes of the largest chunk that is not of the usual size; 0 without one.
    var largest = 0

    init(_ memory: consuming ChunkMemory) { self.memory = memory }

    deinit { for bucket in buckets { for chunk in bucket.large { unsafe chunk.base.deallocate() } } }

    mutating func take(_ bucket: Int, usual: Bool) -> [Chunk] {
      defer { if usual { buckets[bucket].usual = [] } else { buckets[bucket].large = [] } }
      return usual ? buckets[bucket].usual : buckets[bucket].large
    }

    mutating func give(_ chunks: some Sequence<Chunk>) { for chunk in chunks { memory.give(chunk) } }
  }

  /// Chunks that are written at once, at most.
  private static let longestExtent = 64

  /// - Parameters:
  ///   - limit: bytes of memory for records; exceeded only by one open chunk per bucket and worker.
  ///   - folder: for the temporary file.
  init(limit: Int, workers: Int, folder: String) {
    self.limit = limit
    self.workers = workers
    spill = SpillFile(folder: folder)
    // Open chunks may take a sixth of the limit.
    let wanted = limit / (6 * workers * DeviceHash.bucketCount)
    chunkBytes = min(max(wanted / Chunk.page, 1), 8) * Chunk.page
    contents = Guarded(Contents(ChunkMemory(limit: limit, chunkBytes: chunkBytes)))
  }

  var spilledBytes: UInt64 { spill.count }

  // MARK: - Filling

  /// Hands a chunk over to its bucket.
  func place(_ chunk: Chunk, bucket: Int) {
    contents.withLock {
      if chunk.size == chunkBytes {
        $0.buckets[bucket].usual.append(chunk)
      } else {
        $0.buckets[bucket].large.append(chunk)
        $0.largest = max($0.largest, chunk.size)
      }
    }
  }

  /// Takes bytes from the limit, or gives them back when negative.
  func borrow(_ bytes: Int) { contents.withLock { $0.memory.borrowed += bytes } }

  /// An empty chunk; others are spilled for it when memory is short.
  func empty(atLeast bytes: Int = 0) throws -> Chunk {
    while true {
      if let chunk = contents.withLock({ $0.memory.take(bytes) }) { return chunk }
      // Memory of usual chunks is kept, so spilling them makes no room for a large one.
      guard try spillLargest(usual: Chunk.size(for: bytes) <= chunkBytes) else { break }
    }
    return contents.withLock { $0.memory.force(bytes) }
  }

  private func spillLargest(usual: Bool) throws -> Bool {
    let (victim, chunks) = contents.withLock { contents in
      var (victim, most, isUsual) = (0, 0, false)
      for (index, bucket) in contents.buckets.enumerated() {
        let large = bucket.large.reduce(0) { $0 + $1.size }
        if large > most { (victim, most, isUsual) = (index, large, false) }
        let small = bucket.usual.count * chunkBytes
        if usual, small > most { (victim, most, isUsual) = (index, small, true) }
      }
      return (victim, contents.take(victim, usual: isUsual))
    }
    try spill(chunks, of: victim)
    return !chunks.isEmpty
  }

  /// - Parameter chunks: all of the usual size, or all larger.
  private func spill(_ chunks: [Chunk], of bucket: Int) throws {
    var rest = chunks[...]
    while let first = rest.first {
      let together = rest.prefix(first.size == chunkBytes ? Self.longestExtent : 1)
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

  /// The records of a bucket, which keeps them; nil if there are none.
  func look(at bucket: Int) -> StoredBucket? {
    contents.withLock { contents in
      let bucket = contents.buckets[bucket]
      return bucket.isEmpty ? nil : StoredBucket(chunks: bucket.usual + bucket.large, extents: bucket.extents)
    }
  }

  /// Buckets with records, in the order in which they are to be loaded. What is loaded last makes room for what is loaded first.
  func order() throws -> [Int] {
    let (used, most, largest) = contents.withLock { contents in
      (
        contents.buckets.indices.filter { !contents.buckets[$0].isEmpty },
        contents.buckets.map(\.spilledBytes).max() ?? 0, contents.largest
      )
    }
    // What becomes of a large record stands in an event, in a block, and waits for the disk.
    let needed = workers * (min(most, share) + 8 * largest)
    for bucket in used.reversed() where contents.withLock({ $0.memory.available }) < needed {
      try spill(contents.withLock { $0.take(bucket, usual: true) }, of: bucket)
      try spill(contents.withLock { $0.take(bucket, usual: false) }, of: bucket)
    }
    return used
  }

  /// The records of a bucket; give what is loaded of them back with ``release(_:)``.
  func take(_ bucket: Int) -> StoredBucket {
    contents.withLock { contents in
      let taken = contents.buckets[bucket]
      contents.buckets[bucket] = Bucket()
      return StoredBucket(chunks: taken.usual + taken.large, extents: taken.extents)
    }
  }

  /// So much of one bucket a worker may load at once.
  var share: Int { limit / 6 }

  /// Chunks of the extent, read back.
  func load(_ extent: Extent) throws -> [Chunk] {
    try spill.read(
      extent,
      into: contents.withLock { contents in
        (0..<extent.chunks).map { _ in contents.memory.force(Chunk.room(of: extent.size)) }
      })
  }

  /// An empty chunk, whatever the limit.
  func forced(_ bytes: Int = 0) -> Chunk { contents.withLock { $0.memory.force(bytes) } }

  func release(_ chunks: [Chunk]) { contents.withLock { $0.give(chunks) } }
}
