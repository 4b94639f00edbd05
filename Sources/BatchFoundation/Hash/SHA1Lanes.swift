internal import CSHA1Lanes

/// Hashes several short messages with SHA-1 at once, one per vector lane, about four times as fast as one at a time. It
/// is used only for version-5 UUIDs, one per line.
@safe package final class SHA1Lanes {
  /// The number of lanes, which is the maximum number of messages in a batch.
  package static let count = Int(engage_sha1_lanes)

  /// The maximum length of a message in bytes: sixteen blocks minus the padding.
  package static let longestMessage = 16 * blockBytes - 9

  private static let blockBytes = 64
  /// The number of bytes per lane. It is not a power of two, because then the lanes would evict each other from the
  /// cache.
  private static let stride = 17 * blockBytes

  private let messages: UnsafeMutableRawBufferPointer
  private var blocks = [UInt32](repeating: 0, count: count)
  private var digests = [UInt32](repeating: 0, count: 5 * count)
  private var used = 0
  private let bits: Int32

  /// The vector widths in bits that this processor supports and that pay off, widest first.
  package static let widths = [512, 256].filter { $0 <= Int(engage_sha1_widest_vectors()) }

  /// - Parameter bits: one of ``widths``.
  package init(bits: Int) {
    precondition(Self.widths.contains(bits))
    self.bits = Int32(bits)
    unsafe messages = .allocate(byteCount: Self.count * Self.stride, alignment: Self.blockBytes)
    unsafe messages.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe messages.deallocate() }

  package func reset() {
    used = 0
    for lane in blocks.indices { blocks[lane] = 0 }
  }

  /// Writes the concatenation of both parts to the next lane; at least one lane must be free.
  ///
  /// - Returns: false, without effect, if the message is longer than ``longestMessage``.
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
    // FIPS 180-4, section 5.1.1: a one bit, then zeros, and the message's length in bits at the end of a block.
    unsafe UnsafeMutableRawBufferPointer(rebasing: message[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    unsafe message[count] = 0x80
    unsafe message.storeBytes(of: UInt64(count * 8).bigEndian, toByteOffset: padded - 8, as: UInt64.self)
    blocks[lane] = UInt32(padded / Self.blockBytes)
    return true
  }

  package func hash() {
    guard let start = unsafe messages.bindMemory(to: UInt8.self).baseAddress else { return }
    unsafe engage_sha1_hash_lanes(bits, start, Self.stride, blocks, &digests)
  }

  /// Returns the first sixteen bytes of the lane's digest, as computed by the last ``hash()``, as two words.
  package func leadingWords(_ lane: Int) -> (UInt64, UInt64) {
    func word(_ number: Int) -> UInt64 { UInt64(digests[number * Self.count + lane]) }
    return (word(0) << 32 | word(1), word(2) << 32 | word(3))
  }
}
