internal import CSHA1Lanes

/// SHA-1 of several short messages at once, each in a lane of the processor's vectors: about four times what one after the other
/// takes. Only for UUIDs of version 5, of which there is one for every line; all else is left to libcrypto.
@safe package final class SHA1Lanes {
  /// Lanes, which is how many messages are worth waiting for.
  package static let count = Int(engage_sha1_lanes)

  /// Bytes of the longest message that fits: sixteen blocks, less what padding needs.
  package static let longestMessage = 16 * blockBytes - 9

  private static let blockBytes = 64
  /// A little more than the longest message: lanes that lie a power of two apart would push each other out of the cache.
  private static let stride = 17 * blockBytes

  private let messages: UnsafeMutableRawBufferPointer
  private var blocks = [UInt32](repeating: 0, count: count)
  private var digests = [UInt32](repeating: 0, count: 5 * count)
  private var used = 0
  private let bits: Int32

  /// Bits of the vectors that this processor has and that make it worth while; the widest first.
  package static let widths = [512, 256].filter { $0 <= Int(engage_sha1_widest_vectors()) }

  /// - Parameter bits: one of ``widths``.
  package init(bits: Int) {
    precondition(Self.widths.contains(bits))
    self.bits = Int32(bits)
    unsafe messages = .allocate(byteCount: Self.count * Self.stride, alignment: Self.blockBytes)
    unsafe messages.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe messages.deallocate() }

  /// Empties all lanes.
  package func reset() {
    used = 0
    for lane in blocks.indices { blocks[lane] = 0 }
  }

  /// Puts the message that consists of both parts into the next lane.
  ///
  /// - Returns: false, and nothing is done, if it is longer than ``longestMessage``. There must be an empty lane.
  package func add(_ start: UnsafeRawBufferPointer, _ end: UnsafeRawBufferPointer) -> Bool {
    precondition(used < Self.count)
    let count = start.count + end.count
    guard count <= Self.longestMessage else { return false }
    let lane = used
    used += 1
    let padded = (count + 9 + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes
    let message = unsafe UnsafeMutableRawBufferPointer(
      rebasing: messages[lane * Self.stride..<lane * Self.stride + padded])
    unsafe message.copyMemory(from: start)
    unsafe UnsafeMutableRawBufferPointer(rebasing: message[start.count...]).copyMemory(from: end)
    // FIPS 180-4, section 5.1.1: a bit, zeros to the end of a block, and the length in bits.
    unsafe UnsafeMutableRawBufferPointer(rebasing: message[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    unsafe message[count] = 0x80
    unsafe message.storeBytes(of: UInt64(count * 8).bigEndian, toByteOffset: padded - 8, as: UInt64.self)
    blocks[lane] = UInt32(padded / Self.blockBytes)
    return true
  }

  /// Hashes the messages of all lanes.
  package func hash() {
    guard let start = unsafe messages.bindMemory(to: UInt8.self).baseAddress else { return }
    unsafe engage_sha1_hash_lanes(bits, start, Self.stride, blocks, &digests)
  }

  /// The first sixteen bytes of the lane's digest, as two words; what ``hash()`` found last.
  package func leadingWords(_ lane: Int) -> (UInt64, UInt64) {
    func word(_ number: Int) -> UInt64 { UInt64(digests[number * Self.count + lane]) }
    return (word(0) << 32 | word(1), word(2) << 32 | word(3))
  }
}
