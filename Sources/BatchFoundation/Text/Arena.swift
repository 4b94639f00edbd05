private import Glibc

/// Memory that is allocated in small amounts and freed all at once, for text derived while rules run. It is not
/// thread-safe: each worker has its own. In debug builds, and therefore in tests, reading a view after ``reset()`` or
/// after the arena's end traps; see ``ArenaBlocks``.
@safe public final class Arena {
  private var blocks: ArenaBlocks
  @usableFromInline var next: UnsafeMutableRawPointer
  @usableFromInline var remaining: Int

  /// - Parameter blockSize: the number of bytes requested from the system at a time; larger allocations get separate
  ///   blocks.
  public init(blockSize: Int = 1 << 18) {
    blocks = ArenaBlocks(size: blockSize)
    unsafe next = blocks.take(blockSize)
    remaining = blockSize
  }

  /// Returns uninitialized memory, aligned to 16 bytes, valid until ``reset()`` or the arena's end.
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

  /// Frees all allocations; one block remains in use.
  public func reset() {
    unsafe next = blocks.reset()
    remaining = blocks.size
  }

  @inlinable
  public func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> Text {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return .empty }
    let target = unsafe allocate(bytes.count)
    unsafe copyBytes(source, to: target, bytes.count)
    return unsafe Text(base: UnsafePointer(target.assumingMemoryBound(to: UInt8.self)), count: bytes.count)
  }

  public func text(_ string: String) -> Text {
    var string = string
    return string.withUTF8 { unsafe copy($0) }
  }
}

#if DEBUG
  /// The memory of an ``Arena`` in debug builds. Freed blocks stay mapped but inaccessible for a while, so that a stale
  /// view traps at its first read instead of finding newer data.
  @safe struct ArenaBlocks: ~Copyable {
    let size: Int
    private var live: [UnsafeMutableRawBufferPointer] = unsafe []
    /// Inaccessible blocks, oldest first.
    private var retired: [UnsafeMutableRawBufferPointer] = unsafe []

    /// The number of retired blocks kept: enough to catch any stale view in a test. Each block takes address
    /// space and an entry in the kernel's map.
    private static let keptRetired = 32

    init(size: Int) { self.size = size }

    deinit { unsafe (live + retired).forEach { unsafe munmap($0.baseAddress, $0.count) } }

    mutating func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
      let fresh = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      // The allocator of release builds does not report failure either.
      guard let fresh = unsafe fresh, unsafe fresh != MAP_FAILED else {
        fatalError("cannot allocate \(byteCount) bytes")
      }
      unsafe live.append(UnsafeMutableRawBufferPointer(start: fresh, count: byteCount))
      return unsafe fresh
    }

    mutating func reset() -> UnsafeMutableRawPointer {
      unsafe live.forEach { unsafe mprotect($0.baseAddress, $0.count, PROT_NONE) }
      unsafe retired += live
      unsafe live.removeAll()
      while unsafe retired.count > Self.keptRetired {
        let oldest = unsafe retired.removeFirst()
        unsafe munmap(oldest.baseAddress, oldest.count)
      }
      return unsafe take(size)
    }
  }
#else
  /// The memory of an ``Arena``: blocks of one size, and larger blocks for larger requests.
  @safe struct ArenaBlocks: ~Copyable {
    let size: Int
    private var live: [UnsafeMutableRawPointer] = unsafe []

    init(size: Int) { self.size = size }

    deinit { unsafe live.forEach { unsafe $0.deallocate() } }

    mutating func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
      let fresh = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
      unsafe live.append(fresh)
      return unsafe fresh
    }

    /// Frees all blocks but the first, and returns the first.
    mutating func reset() -> UnsafeMutableRawPointer {
      unsafe live.dropFirst().forEach { unsafe $0.deallocate() }
      unsafe live.removeLast(live.count - 1)
      return unsafe live[0]
    }
  }
#endif
