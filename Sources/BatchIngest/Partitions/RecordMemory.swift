import Glibc

/// A page-aligned buffer with consecutive packed records of one bucket; it is written to disk unchanged.
///
/// Its last bytes hold the number of used bytes, so that it can be read back.
@safe struct PackedRecords {
  let base: UnsafeMutableRawPointer
  /// The total number of bytes, in whole pages.
  let size: Int
  private(set) var used = 0
  /// The span of its records' places, if any.
  private(set) var places = PlaceSpan()

  /// The size of the units that disks transfer without a copy.
  static let page = 4096
  private static let mark = MemoryLayout<UInt64>.size

  var room: Int { size - Self.mark - used }

  static func room(of size: Int) -> Int { size - mark }

  /// Returns the size of a buffer with room for a number of bytes.
  static func size(for bytes: Int) -> Int { (bytes + mark + page - 1) / page * page }

  /// Counts a record that was written after the used bytes.
  @inline(__always)
  mutating func add(_ bytes: Int, at place: RecordPlace) {
    used += bytes
    places.add(place)
  }

  func markUsed() { unsafe base.storeBytes(of: UInt64(used), toByteOffset: size - Self.mark, as: UInt64.self) }

  mutating func readUsed() { used = unsafe Int(base.load(fromByteOffset: size - Self.mark, as: UInt64.self)) }
}

/// The memory for buffers up to a limit. Buffers of the standard size come from slabs that are never freed early;
/// larger ones are freed after use.
@safe struct RecordMemory: ~Copyable {
  let bufferBytes: Int
  /// Memory that workers hold for long lines, unavailable for buffers.
  var borrowed = 0
  private let limit: Int
  private var free: [UnsafeMutableRawPointer] = unsafe []
  private var slabs: [UnsafeMutableRawPointer] = unsafe []
  private(set) var allocated = 0

  /// The size of a huge page, in which random access to records is cheap.
  private static let slabBytes = 2 << 20

  init(limit: Int, bufferBytes: Int) {
    (self.limit, self.bufferBytes) = (limit, bufferBytes)
  }

  deinit { unsafe slabs.forEach { unsafe $0.deallocate() } }

  var available: Int { unsafe limit - borrowed - allocated + free.count * bufferBytes }

  /// The number of bytes left for buffers of the standard size; less than ``available``, because slabs are allocated
  /// whole and never freed.
  var room: Int {
    unsafe free.count * bufferBytes + max(0, limit - borrowed - allocated) / Self.slabBytes * Self.slabBytes
  }

  /// Returns an empty buffer with room for a number of bytes; nil if that would exceed the limit.
  mutating func take(_ bytes: Int) -> PackedRecords? {
    let size = max(bufferBytes, PackedRecords.size(for: bytes))
    let isUsual = size == bufferBytes
    let wanted = unsafe isUsual ? (free.isEmpty ? Self.slabBytes : 0) : size
    return wanted == 0 || allocated + wanted <= limit - borrowed ? force(bytes) : nil
  }

  /// Returns an empty buffer, regardless of the limit.
  mutating func force(_ bytes: Int) -> PackedRecords {
    let size = max(bufferBytes, PackedRecords.size(for: bytes))
    guard size == bufferBytes else {
      allocated += size
      return unsafe PackedRecords(base: .allocate(byteCount: size, alignment: PackedRecords.page), size: size)
    }
    if unsafe free.isEmpty {
      let slab = UnsafeMutableRawPointer.allocate(byteCount: Self.slabBytes, alignment: Self.slabBytes)
      // This is only a hint; everything works without huge pages, too.
      _ = unsafe madvise(slab, Self.slabBytes, MADV_HUGEPAGE)
      allocated += Self.slabBytes
      unsafe slabs.append(slab)
      for offset in stride(from: Self.slabBytes - bufferBytes, through: 0, by: -bufferBytes) {
        unsafe free.append(slab + offset)
      }
    }
    return unsafe PackedRecords(base: free.removeLast(), size: bufferBytes)
  }

  mutating func give(_ buffer: PackedRecords) {
    if buffer.size == bufferBytes {
      unsafe free.append(buffer.base)
    } else {
      allocated -= buffer.size
      unsafe buffer.base.deallocate()
    }
  }
}
