import BatchFoundation

/// Check sums of the blocks of a pack by their places, so that what a disk or a hand has changed is found before a block is read.
struct BlockSums {
  /// An entry: the block's place, then its sum, little-endian.
  private static let entry = 4 + 8

  private(set) var bytes: [UInt8] = []

  /// - Parameter offset: of the block in its pack.
  mutating func add(_ block: UnsafeRawBufferPointer, at offset: Int) {
    unsafe withUnsafeBytes(of: UInt32(truncatingIfNeeded: offset).littleEndian) { unsafe bytes += $0 }
    unsafe withUnsafeBytes(of: Self.sum(of: block).littleEndian) { unsafe bytes += $0 }
  }

  /// Whether the block is the one that was stored at its place.
  static func confirm(_ block: [UInt8], at offset: Int, by sums: [UInt8]) -> Bool {
    unsafe sums.withUnsafeBytes { sums in
      for start in stride(from: 0, to: sums.count - entry + 1, by: entry) {
        guard unsafe UInt32(littleEndian: sums.loadUnaligned(fromByteOffset: start, as: UInt32.self)) == offset else {
          continue
        }
        let sum = unsafe UInt64(littleEndian: sums.loadUnaligned(fromByteOffset: start + 4, as: UInt64.self))
        return unsafe block.withUnsafeBytes { unsafe Self.sum(of: $0) } == sum
      }
      return false
    }
  }

  static func sum(of block: UnsafeRawBufferPointer) -> UInt64 {
    let bytes = unsafe block.assumingMemoryBound(to: UInt8.self)
    guard let base = bytes.baseAddress else { return 0 }
    return unsafe ByteMix.oneLane(Text(base: base, count: bytes.count))
  }
}
