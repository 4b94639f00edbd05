import BatchFoundation

/// Check sums of the blocks of a pack by their places, so that what a disk or a hand has changed is found before a block is read.
struct BlockSums {
  /// An entry: the block's place, then its sum, little-endian.
  private static let entry = 4 + 8

  private(set) var bytes: [UInt8] = []

  /// - Parameter offset: of the block in its pack.
  mutating func add(_ block: UnsafeRawBufferPointer, at offset: Int) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: offset).littleEndian) { bytes += $0 }
    withUnsafeBytes(of: Self.sum(of: block).littleEndian) { bytes += $0 }
  }

  /// Whether the block is the one that was stored at its place.
  static func confirm(_ block: [UInt8], at offset: Int, by sums: [UInt8]) -> Bool {
    sums.withUnsafeBytes { sums in
      for start in stride(from: 0, to: sums.count - entry + 1, by: entry) {
        guard UInt32(littleEndian: sums.loadUnaligned(fromByteOffset: start, as: UInt32.self)) == offset else {
          continue
        }
        let sum = UInt64(littleEndian: sums.loadUnaligned(fromByteOffset: start + 4, as: UInt64.self))
        return block.withUnsafeBytes { Self.sum(of: $0) } == sum
      }
      return false
    }
  }

  private static func sum(of block: UnsafeRawBufferPointer) -> UInt64 {
    let bytes = block.assumingMemoryBound(to: UInt8.self)
    guard let base = bytes.baseAddress else { return 0 }
    return ByteMix.oneLane(Text(base: base, count: bytes.count))
  }
}
