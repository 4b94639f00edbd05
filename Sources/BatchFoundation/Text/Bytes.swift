public import Glibc

/// Order of two byte strings of equal length: negative, zero or positive as in `memcmp`.
@inlinable
package func compareBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Int {
  Int(memcmp(one, other, count))
}

/// Memory that is handed out in pieces and freed all at once, so that text derived while rules run needs no owner of its own.
///
/// Not thread-safe: each worker has its own.
package final class Arena {
  @usableFromInline var blocks: [UnsafeMutableRawPointer] = []
  @usableFromInline var next: UnsafeMutableRawPointer
  @usableFromInline var remaining: Int
  @usableFromInline let blockSize: Int

  /// - Parameter blockSize: bytes asked from the system at a time; a larger request gets a block of its own.
  package init(blockSize: Int = 1 << 18) {
    self.blockSize = blockSize
    next = UnsafeMutableRawPointer.allocate(byteCount: blockSize, alignment: 16)
    remaining = blockSize
    blocks.append(next)
  }

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// Uninitialised memory, aligned to 16 bytes, that lives as long as the arena or until ``reset()``.
  @inlinable
  package func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let size = (byteCount + 15) & ~15
    if size > remaining { refill(size) }
    let start = next
    next += size
    remaining -= size
    return start
  }

  @usableFromInline
  func refill(_ size: Int) {
    let fresh = max(size, blockSize)
    next = UnsafeMutableRawPointer.allocate(byteCount: fresh, alignment: 16)
    remaining = fresh
    blocks.append(next)
  }

  /// Takes back everything that was handed out; one block is kept for reuse.
  package func reset() {
    for block in blocks.dropFirst() { block.deallocate() }
    blocks.removeLast(blocks.count - 1)
    next = blocks[0]
    remaining = blockSize
  }

  /// A copy of the bytes that lives as long as the arena.
  @inlinable
  package func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> Text {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return .empty }
    let target = allocate(bytes.count)
    target.copyMemory(from: source, byteCount: bytes.count)
    return Text(base: UnsafePointer(target.assumingMemoryBound(to: UInt8.self)), count: bytes.count)
  }

  /// The text of a string, copied into the arena.
  package func text(_ string: String) -> Text {
    var string = string
    return string.withUTF8 { copy($0) }
  }
}
