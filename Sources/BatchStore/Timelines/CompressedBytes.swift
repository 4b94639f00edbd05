import CLZ4

/// Repetitive bytes, such as the nights of devices, as one LZ4 block after their count (four bytes, little-endian). LZ4
/// favors speed over size: each night writes some megabytes, and few of them are read again.
enum CompressedBytes {
  /// The maximum size; the nights of a bucket in one run are smaller.
  private static let longest = 1 << 30
  private static let countBytes = 4

  static func packed(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let bound = countBytes + Int(LZ4_compressBound(Int32(bytes.count)))
    return unsafe [UInt8](unsafeUninitializedCapacity: bound) { packed, filled in
      let target = UnsafeMutableRawBufferPointer(packed)
      unsafe target.storeBytes(of: UInt32(bytes.count).littleEndian, as: UInt32.self)
      let block = unsafe UnsafeMutableRawBufferPointer(rebasing: target[countBytes...])
      filled =
        unsafe countBytes
        + Int(
          LZ4_compress_default(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            block.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(bytes.count), Int32(block.count)))
    }
  }

  /// - Throws: ``StoreError/damagedBlock`` for bytes that ``packed(_:)`` does not write.
  static func unpacked(_ packed: [UInt8]) throws -> [UInt8] {
    try unsafe packed.withUnsafeBytes { packed in
      guard packed.count > countBytes else { throw StoreError.damagedBlock }
      let count = unsafe Int(UInt32(littleEndian: packed.loadUnaligned(as: UInt32.self)))
      // LZ4 compresses by a factor of 255 at most.
      guard count <= min(longest, packed.count * 256) else { throw StoreError.damagedBlock }
      let block = unsafe UnsafeRawBufferPointer(rebasing: packed[countBytes...])
      return try unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
        let target = UnsafeMutableRawBufferPointer(bytes)
        filled = unsafe Int(
          LZ4_decompress_safe(
            block.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(block.count), Int32(count)))
        guard filled == count else {
          filled = 0
          throw StoreError.damagedBlock
        }
      }
    }
  }
}
