private import Glibc

#if DEBUG
  /// The memory of an ``Arena``, for debug builds: what is taken back stays mapped without any right for a while, so that a stale
  /// view traps at its first read instead of finding what was written since.
  @safe struct ArenaBlocks: ~Copyable {
    let size: Int
    private var live: [UnsafeMutableRawBufferPointer] = unsafe []
    /// Blocks that nobody may read any more, the oldest first.
    private var retired: [UnsafeMutableRawBufferPointer] = unsafe []

    /// Enough for any view that a test could hold on to; each costs address space and an entry in the kernel's map.
    private static let keptRetired = 32

    init(size: Int) { self.size = size }

    deinit { unsafe (live + retired).forEach { unsafe munmap($0.baseAddress, $0.count) } }

    mutating func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
      let fresh = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      // As the allocator of other builds does, which returns no failure either.
      guard let fresh = unsafe fresh, unsafe fresh != MAP_FAILED else { fatalError("no memory for \(byteCount) bytes") }
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
  /// The memory of an ``Arena``: blocks of one size, and larger ones for larger requests.
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

    /// Frees all blocks but the first, which is handed out again.
    mutating func reset() -> UnsafeMutableRawPointer {
      unsafe live.dropFirst().forEach { unsafe $0.deallocate() }
      unsafe live.removeLast(live.count - 1)
      return unsafe live[0]
    }
  }
#endif
