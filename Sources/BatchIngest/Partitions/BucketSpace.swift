import BatchFoundation

/// All packed records of a run by bucket, in memory up to a limit and beyond it in a temporary file.
///
/// When memory runs out, the bucket that holds most of it goes to disk in one piece and begins anew: so what is written and read are
/// large pieces, however the records come. A run that fits writes nothing.
final class BucketSpace: @unchecked Sendable {
  // Guards everything below; the file is read and written outside of it.
  private let lock = Lock()
  private var buckets: [Bucket] = Array(repeating: Bucket(), count: DeviceHash.bucketCount)
  private var memory: ChunkMemory
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

  /// Chunks that are written at once, at most.
  private static let longestExtent = 64

  /// - Parameters:
  ///   - limit: bytes of memory for records; exceeded only by what cannot be split: one open chunk per bucket and worker, and the records of one instant.
  ///   - folder: for the temporary file.
  init(limit: Int, workers: Int, folder: String) {
    self.limit = limit
    self.workers = workers
    spill = SpillFile(folder: folder)
    // Open chunks may take a sixth of the limit.
    let wanted = limit / (6 * workers * DeviceHash.bucketCount)
    chunkBytes = min(max(wanted / Chunk.page, 1), 8) * Chunk.page
    memory = ChunkMemory(limit: limit, chunkBytes: chunkBytes)
  }

  deinit { for bucket in buckets { for chunk in bucket.large { memory.give(chunk) } } }

  var spilledBytes: UInt64 { spill.count }

  // MARK: - Filling

  /// Hands a chunk over to its bucket.
  func place(_ chunk: Chunk, bucket: Int) {
    lock.withLock {
      if chunk.size == chunkBytes { buckets[bucket].usual.append(chunk) } else { buckets[bucket].large.append(chunk) }
    }
  }

  /// Takes bytes from the limit, or gives them back when negative.
  func borrow(_ bytes: Int) { lock.withLock { memory.borrowed += bytes } }

  /// An empty chunk; others are spilled for it when memory is short.
  func empty(atLeast bytes: Int = 0) throws -> Chunk {
    while true {
      if let chunk = lock.withLock({ memory.take(bytes) }) { return chunk }
      // Memory of usual chunks is kept, so spilling them makes no room for a large one.
      guard try spillLargest(usual: Chunk.size(for: bytes) <= chunkBytes) else { break }
    }
    return lock.withLock { memory.force(bytes) }
  }

  private func spillLargest(usual: Bool) throws -> Bool {
    var (victim, most, isUsual) = (0, 0, false)
    let chunks = lock.withLock {
      for (index, bucket) in buckets.enumerated() {
        let large = bucket.large.reduce(0) { $0 + $1.size }
        if large > most { (victim, most, isUsual) = (index, large, false) }
        let small = bucket.usual.count * chunkBytes
        if usual, small > most { (victim, most, isUsual) = (index, small, true) }
      }
      return take(victim, usual: isUsual)
    }
    try spill(chunks, of: victim)
    return !chunks.isEmpty
  }

  private func take(_ bucket: Int, usual: Bool) -> [Chunk] {
    defer { if usual { buckets[bucket].usual = [] } else { buckets[bucket].large = [] } }
    return usual ? buckets[bucket].usual : buckets[bucket].large
  }

  /// - Parameter chunks: all of the usual size, or all larger.
  private func spill(_ chunks: [Chunk], of bucket: Int) throws {
    var rest = chunks[...]
    while let first = rest.first {
      let together = rest.prefix(first.size == chunkBytes ? Self.longestExtent : 1)
      rest = rest.dropFirst(together.count)
      let extent = try spill.append(together)
      lock.withLock {
        buckets[bucket].extents.append(extent)
        for chunk in together { memory.give(chunk) }
      }
    }
  }

  // MARK: - Emptying

  /// Buckets with records, in the order in which they are to be loaded. What is loaded last makes room for what is loaded first.
  func order() throws -> [Int] {
    let used = buckets.indices.filter { !buckets[$0].isEmpty }
    let needed = workers * min(buckets.map(\.spilledBytes).max() ?? 0, share)
    for bucket in used.reversed() where memory.available < needed {
      try spill(take(bucket, usual: true), of: bucket)
      try spill(take(bucket, usual: false), of: bucket)
    }
    return used
  }

  /// The records of a bucket; give what is loaded of them back with ``release(_:)``.
  func take(_ bucket: Int) -> StoredBucket {
    lock.withLock {
      defer { buckets[bucket] = Bucket() }
      return StoredBucket(chunks: buckets[bucket].usual + buckets[bucket].large, extents: buckets[bucket].extents)
    }
  }

  /// So much of one bucket a worker may load at once.
  var share: Int { limit / 6 }

  /// Chunks of the extent, read back.
  func load(_ extent: Extent) throws -> [Chunk] {
    try spill.read(
      extent,
      into: lock.withLock { (0..<extent.chunks).map { _ in memory.force(Chunk.room(of: extent.size)) } })
  }

  /// An empty chunk, whatever the limit.
  func forced(_ bytes: Int = 0) -> Chunk { lock.withLock { memory.force(bytes) } }

  func release(_ chunks: [Chunk]) { lock.withLock { for chunk in chunks { memory.give(chunk) } } }
}
