import EngageModel

/// A piece of memory with packed records of one bucket, one behind the other.
struct Chunk {
  var base: UnsafeMutableRawPointer
  var capacity: Int
  var used = 0

  var room: Int { capacity - used }
}

/// A chunk that was written to the spill file.
struct Extent {
  var offset: UInt64
  var count: Int
}

/// All packed records of a run by bucket, in memory up to a limit and beyond it in an unlinked temporary file.
///
/// When memory runs out, the buckets with the highest numbers go to disk, and what comes later for them follows; the others stay
/// in memory to the end. A run that fits writes nothing.
final class BucketSpace: @unchecked Sendable {
  // Guards everything below; file writes happen outside of it.
  private let lock = Lock()
  private var buckets: [Bucket] = Array(repeating: Bucket(), count: DeviceHash.bucketCount)
  private var free: [UnsafeMutableRawPointer] = []
  private var slabs: [UnsafeMutableRawPointer] = []
  private var allocated = 0
  /// Memory that workers hold for long lines, which records have to do without.
  private var borrowed = 0
  /// Buckets from here on are on disk.
  private var firstSpilled = DeviceHash.bucketCount
  private let spill: SpillFile
  private let limit: Int
  let chunkBytes: Int

  private struct Bucket {
    var chunks: [Chunk] = []
    var extents: [Extent] = []
  }

  private static let chunksPerSlab = 32

  /// - Parameters:
  ///   - limit: bytes of memory for records; exceeded only by what cannot be split: one open chunk per bucket and worker, and what one bucket holds.
  ///   - folder: for the spill file.
  init(limit: Int, workers: Int, folder: String) {
    self.limit = limit
    spill = SpillFile(folder: folder)
    // Open chunks may take a sixth of the limit.
    let wanted = limit / (6 * workers * DeviceHash.bucketCount)
    chunkBytes = min(max(wanted & ~1023, 1 << 10), 1 << 15)
  }

  deinit {
    for bucket in buckets { for chunk in bucket.chunks where chunk.capacity > chunkBytes { chunk.base.deallocate() } }
    for slab in slabs { slab.deallocate() }
  }

  var spilledBytes: UInt64 { spill.count }

  // MARK: - Filling

  /// Hands a full chunk over to its bucket and returns an empty one of ``chunkBytes``.
  func exchange(_ full: Chunk?, bucket: Int) throws -> Chunk {
    if let full, try isWritten(full, bucket) { return Chunk(base: full.base, capacity: full.capacity) }
    return try empty(atLeast: chunkBytes)
  }

  /// Hands a chunk over to its bucket.
  func place(_ chunk: Chunk, bucket: Int) throws {
    if try isWritten(chunk, bucket) { release([chunk]) }
  }

  /// Takes bytes from the limit, or gives them back when negative.
  func borrow(_ bytes: Int) { lock.withLock { borrowed += bytes } }

  /// An empty chunk; others are spilled for it when memory is short.
  func empty(atLeast bytes: Int) throws -> Chunk {
    while true {
      if let chunk = lock.withLock({ allocate(bytes) }) { return chunk }
      guard try spillOneBucket() else { break }
    }
    return lock.withLock { forced(bytes) }
  }

  /// Hands over a last, partly filled chunk, which stays in memory.
  func close(_ chunk: Chunk, bucket: Int) {
    lock.withLock { buckets[bucket].chunks.append(chunk) }
  }

  /// Gives the chunk to its bucket, or writes it out if the bucket is on disk: then it may be used again.
  private func isWritten(_ chunk: Chunk, _ bucket: Int) throws -> Bool {
    let isSpilled = lock.withLock {
      if bucket < firstSpilled { buckets[bucket].chunks.append(chunk) }
      return bucket >= firstSpilled
    }
    if isSpilled {
      let extent = try spill.append(chunk)
      lock.withLock { buckets[bucket].extents.append(extent) }
    }
    return isSpilled
  }

  private func spillOneBucket() throws -> Bool {
    var victim = 0
    let chunks: [Chunk]? = lock.withLock {
      while firstSpilled > 0 {
        firstSpilled -= 1
        guard !buckets[firstSpilled].chunks.isEmpty else { continue }
        victim = firstSpilled
        let chunks = buckets[firstSpilled].chunks
        buckets[firstSpilled].chunks = []
        return chunks
      }
      return nil
    }
    guard let chunks else { return false }
    for chunk in chunks {
      let extent = try spill.append(chunk)
      lock.withLock {
        buckets[victim].extents.append(extent)
        give(chunk)
      }
    }
    return true
  }

  private func allocate(_ bytes: Int) -> Chunk? {
    let wanted = bytes <= chunkBytes ? chunkBytes * Self.chunksPerSlab : bytes
    if bytes <= chunkBytes, !free.isEmpty { return forced(bytes) }
    return allocated + wanted <= limit - borrowed ? forced(bytes) : nil
  }

  private func forced(_ bytes: Int) -> Chunk {
    guard bytes <= chunkBytes else {
      allocated += bytes
      return Chunk(base: .allocate(byteCount: bytes, alignment: 16), capacity: bytes)
    }
    if let base = free.popLast() { return Chunk(base: base, capacity: chunkBytes) }
    let slabBytes = chunkBytes * Self.chunksPerSlab
    allocated += slabBytes
    let slab = UnsafeMutableRawPointer.allocate(byteCount: slabBytes, alignment: 4096)
    slabs.append(slab)
    for index in (1..<Self.chunksPerSlab).reversed() { free.append(slab + index * chunkBytes) }
    return Chunk(base: slab, capacity: chunkBytes)
  }

  private func give(_ chunk: Chunk) {
    if chunk.capacity == chunkBytes {
      free.append(chunk.base)
    } else {
      allocated -= chunk.capacity
      chunk.base.deallocate()
    }
  }

  // MARK: - Emptying

  /// Buckets with records: first those in memory, so that they make room for the others.
  var order: [Int] {
    lock.withLock {
      let used = buckets.indices.filter { !buckets[$0].chunks.isEmpty || !buckets[$0].extents.isEmpty }
      return used.filter { buckets[$0].extents.isEmpty } + used.filter { !buckets[$0].extents.isEmpty }
    }
  }

  /// Whether the bucket, once loaded, takes so much of the limit that no other such bucket should be loaded beside it.
  func isLarge(_ bucket: Int) -> Bool {
    lock.withLock {
      let bytes =
        buckets[bucket].chunks.reduce(0) { $0 + $1.used } + buckets[bucket].extents.reduce(0) { $0 + $1.count }
      return bytes > limit / 4
    }
  }

  /// The records of a bucket, read back where they were spilled; give the chunks back with ``release(_:)``.
  func load(_ bucket: Int) throws -> [Chunk] {
    var (chunks, extents) = lock.withLock {
      defer { buckets[bucket] = Bucket() }
      return (buckets[bucket].chunks, buckets[bucket].extents)
    }
    for extent in extents {
      var chunk = lock.withLock { forced(extent.count) }
      try spill.read(extent, into: chunk.base)
      chunk.used = extent.count
      chunks.append(chunk)
    }
    return chunks
  }

  func release(_ chunks: [Chunk]) { lock.withLock { for chunk in chunks { give(chunk) } } }
}
