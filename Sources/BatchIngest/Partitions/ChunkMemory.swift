import Glibc

/// A piece of memory with packed records of one bucket, one behind the other.
///
/// It starts and ends with a page, so that it goes to disk as it is. Its last bytes tell how many are used, for when it comes back.
@safe struct Chunk {
  let base: UnsafeMutableRawPointer
  /// Bytes in all, whole pages.
  let size: Int
  private(set) var used = 0
  /// The places of its records, if it has some.
  private(set) var places = PlaceSpan()

  /// What disks transfer without a copy.
  static let page = 4096
  private static let mark = MemoryLayout<UInt64>.size

  /// Bytes for more records.
  var room: Int { size - Self.mark - used }

  /// What a chunk of a size has room for.
  static func room(of size: Int) -> Int { size - mark }

  /// The size of a chunk with room for so many bytes.
  static func size(for bytes: Int) -> Int { (bytes + mark + page - 1) / page * page }

  /// Counts a record in that was written at the end of what is used.
  @inline(__always)
  mutating func add(_ bytes: Int, at place: RecordPlace) {
    used += bytes
    places.add(place)
  }

  func markUsed() { unsafe base.storeBytes(of: UInt64(used), toByteOffset: size - Self.mark, as: UInt64.self) }

  mutating func readUsed() { used = unsafe Int(base.load(fromByteOffset: size - Self.mark, as: UInt64.self)) }
}

/// Memory for chunks up to a limit: those of the usual size come out of slabs that are kept to the end, larger ones go as they come.
@safe struct ChunkMemory: ~Copyable {
  /// The usual size.
  let chunkBytes: Int
  /// Memory that workers hold for long lines, which chunks have to do without.
  var borrowed = 0
  private let limit: Int
  private var free: [UnsafeMutableRawPointer] = unsafe []
  private var slabs: [UnsafeMutableRawPointer] = unsafe []
  private(set) var allocated = 0

  /// A huge page, on which records can be visited in any order at little cost.
  private static let slabBytes = 2 << 20

  init(limit: Int, chunkBytes: Int) {
    self.limit = limit
    self.chunkBytes = chunkBytes
  }

  deinit { unsafe slabs.forEach { unsafe $0.deallocate() } }

  /// Bytes that are left for chunks.
  var available: Int { unsafe limit - borrowed - allocated + free.count * chunkBytes }

  /// Bytes of chunks of the usual size that can be taken. Less than what is left, because memory comes in slabs and is not given back.
  var room: Int {
    unsafe free.count * chunkBytes + max(0, limit - borrowed - allocated) / Self.slabBytes * Self.slabBytes
  }

  /// - Returns: an empty chunk with room for so many bytes; nil when it would exceed the limit.
  mutating func take(_ bytes: Int) -> Chunk? {
    let size = max(chunkBytes, Chunk.size(for: bytes))
    let isUsual = size == chunkBytes
    let wanted = unsafe isUsual ? (free.isEmpty ? Self.slabBytes : 0) : size
    return wanted == 0 || allocated + wanted <= limit - borrowed ? force(bytes) : nil
  }

  /// An empty chunk, whatever the limit.
  mutating func force(_ bytes: Int) -> Chunk {
    let size = max(chunkBytes, Chunk.size(for: bytes))
    guard size == chunkBytes else {
      allocated += size
      return unsafe Chunk(base: .allocate(byteCount: size, alignment: Chunk.page), size: size)
    }
    if unsafe free.isEmpty {
      let slab = UnsafeMutableRawPointer.allocate(byteCount: Self.slabBytes, alignment: Self.slabBytes)
      // A wish: without huge pages all works as well.
      _ = unsafe madvise(slab, Self.slabBytes, MADV_HUGEPAGE)
      allocated += Self.slabBytes
      unsafe slabs.append(slab)
      for offset in stride(from: Self.slabBytes - chunkBytes, through: 0, by: -chunkBytes) {
        unsafe free.append(slab + offset)
      }
    }
    return unsafe Chunk(base: free.removeLast(), size: chunkBytes)
  }

  mutating func give(_ chunk: Chunk) {
    if chunk.size == chunkBytes {
      unsafe free.append(chunk.base)
    } else {
      allocated -= chunk.size
      unsafe chunk.base.deallocate()
    }
  }
}
