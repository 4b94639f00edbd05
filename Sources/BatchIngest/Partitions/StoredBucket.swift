import BatchFoundation

/// The records of one bucket in memory and on disk, to be loaded at once or, if too many, in slices of their order.
struct StoredBucket {
  /// The chunks in memory.
  let chunks: [Chunk]
  let extents: [Extent]

  static let whole = RecordPlace.first..<RecordPlace.end

  private var bytes: Int { extents.reduce(chunks.reduce(0) { $0 + $1.size }) { $0 + $1.bytes } }

  /// Returns consecutive spans of the order with about `share` bytes of records each; one span if all fit.
  ///
  /// The boundaries are estimated from one record of each chunk.
  func slices(of share: Int) -> [Range<RecordPlace>] {
    guard bytes > share else { return [Self.whole] }
    var known = chunks.map { ($0.places.newest, $0.size) }
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

  /// Loads the records of a slice that are on disk; the slice of the whole bucket is loaded in its original chunks.
  func load(_ slice: Range<RecordPlace>, from space: BucketSpace) throws -> [Chunk] {
    var loaded: [Chunk] = []
    for extent in extents where extent.places.contains(where: { $0.overlaps(slice) }) {
      let chunks = try space.load(extent)
      if slice == Self.whole {
        loaded += chunks
        continue
      }
      for chunk in chunks {
        unsafe chunk.forEachRecord { record, head in
          guard slice.contains(head.place) else { return }
          let size = Int(head.size)
          if (loaded.last?.room ?? 0) < size { loaded.append(space.forced(size)) }
          let last = loaded.count - 1
          unsafe (loaded[last].base + loaded[last].used).copyMemory(from: record, byteCount: size)
          loaded[last].add(size, at: head.place)
        }
      }
      space.release(chunks)
    }
    return loaded
  }
}

extension Chunk {
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
