internal import CCrypto
internal import CSHA256Pair

extension SHA256 {
  private static let hasPairs = engage_sha256_has_pairs() != 0
  private static let blockBytes = 64

  /// Continues two hashes at once. Where the processor has instructions for SHA-256, that takes little longer than one of them.
  package static func update(
    _ one: inout SHA256, _ first: UnsafeRawBufferPointer, _ other: inout SHA256, _ second: UnsafeRawBufferPointer
  ) {
    var rest = unsafe (one.endBlock(first), other.endBlock(second))
    let blocks = hasPairs ? unsafe min(rest.0.count, rest.1.count) / blockBytes : 0
    if blocks > 0 {
      unsafe pair(&one, rest.0, &other, rest.1, blocks)
      unsafe rest.0 = UnsafeRawBufferPointer(rebasing: rest.0[(blocks * blockBytes)...])
      unsafe rest.1 = UnsafeRawBufferPointer(rebasing: rest.1[(blocks * blockBytes)...])
    }
    unsafe one.update(rest.0)
    unsafe other.update(rest.1)
  }

  private static func pair(
    _ one: inout SHA256, _ first: UnsafeRawBufferPointer, _ other: inout SHA256, _ second: UnsafeRawBufferPointer,
    _ blocks: Int
  ) {
    guard let first = unsafe first.bindMemory(to: UInt8.self).baseAddress,
      let second = unsafe second.bindMemory(to: UInt8.self).baseAddress
    else { return }
    unsafe withUnsafeMutableBytes(of: &one.context.h) { one in
      unsafe withUnsafeMutableBytes(of: &other.context.h) { other in
        guard let one = unsafe one.bindMemory(to: UInt32.self).baseAddress,
          let other = unsafe other.bindMemory(to: UInt32.self).baseAddress
        else { return }
        unsafe engage_sha256_pair(one, first, other, second, blocks)
      }
    }
    one.count(blocks)
    other.count(blocks)
  }

  /// Hashes as many bytes as end a block that was begun.
  ///
  /// - Returns: those behind it.
  private mutating func endBlock(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard context.num > 0 else { return unsafe bytes }
    let end = min(bytes.count, Self.blockBytes - Int(context.num))
    unsafe update(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[end...])
  }

  /// Adds blocks that were hashed to the length of the message, which is counted in bits.
  private mutating func count(_ blocks: Int) {
    let bits = (UInt64(context.Nh) << 32 | UInt64(context.Nl)) + UInt64(blocks * Self.blockBytes * 8)
    (context.Nh, context.Nl) = (UInt32(truncatingIfNeeded: bits >> 32), UInt32(truncatingIfNeeded: bits))
  }
}
