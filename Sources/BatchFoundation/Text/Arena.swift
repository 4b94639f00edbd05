/// Memory that is handed out in pieces and freed all at once, so that text derived while rules run needs no owner of its own.
///
/// Not thread-safe: each worker has its own. A view that outlives ``reset()`` or the arena traps in debug builds, which the tests
/// are, because the memory behind it can no longer be read; see ``ArenaBlocks``.
@safe public final class Arena {
  private var blocks: ArenaBlocks
  @usableFromInline var next: UnsafeMutableRawPointer
  @usableFromInline var remaining: Int

  /// - Parameter blockSize: bytes asked from the system at a time; a larger request gets a block of its own.
  public init(blockSize: Int = 1 << 18) {
    blocks = ArenaBlocks(size: blockSize)
    unsafe next = blocks.take(blockSize)
    remaining = blockSize
  }

  /// Uninitialised memory, aligned to 16 bytes, that lives as long as the arena or until ``reset()``.
  @inlinable
  public func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let size = (byteCount + 15) & ~15
    if size > remaining { refill(size) }
    let start = unsafe next
    unsafe next += size
    remaining -= size
    return unsafe start
  }

  @usableFromInline
  func refill(_ size: Int) {
    remaining = max(size, blocks.size)
    unsafe next = blocks.take(remaining)
  }

  /// Takes back everything that was handed out; one block is kept for reuse.
  public func reset() {
    unsafe next = blocks.reset()
    remaining = blocks.size
  }

  /// A copy of the bytes that lives as long as the arena.
  @inlinable
  public func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> Text {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return .empty }
    let target = unsafe allocate(bytes.count)
    unsafe copyBytes(source, to: target, bytes.count)
    return unsafe Text(base: UnsafePointer(target.assumingMemoryBound(to: UInt8.self)), count: bytes.count)
  }

  /// The text of a string, copied into the arena.
  public func text(_ string: String) -> Text {
    var string = string
    return string.withUTF8 { unsafe copy($0) }
  }
}
