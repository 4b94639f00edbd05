import Glibc

/// Reads from and writes to descriptors, handling short counts and interruptions by signals. All functions throw the
/// system's error number.
public enum FileDescriptor {
  /// Reads once; the descriptor may provide fewer bytes than the buffer can hold.
  ///
  /// - Returns: the number of bytes read, at most the buffer's size; 0 at the end.
  public static func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    while true {
      let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw SystemError(errno) }
    }
  }

  /// Reads to the end, and passes the bytes to `take` in pieces of at most `size` bytes.
  public static func forEachPiece(
    of descriptor: Int32, atMost size: Int, _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { unsafe piece.deallocate() }
    while case let count = try unsafe read(descriptor, into: piece), count > 0 {
      try unsafe take(UnsafeRawBufferPointer(rebasing: piece[..<count]))
    }
  }

  /// Reads to the end; returns nil if there are more than `limit` bytes.
  public static func readAll(_ descriptor: Int32, limit: Int) throws(SystemError) -> [UInt8]? {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { unsafe piece.deallocate() }
    var bytes: [UInt8] = []
    while true {
      let count = try unsafe read(descriptor, into: piece)
      if count == 0 { return bytes }
      if count > limit - bytes.count { return nil }
      unsafe bytes += piece[..<count]
    }
  }

  public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    try unsafe bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
      try unsafe write(UnsafeRawBufferPointer(bytes), to: descriptor)
    }
  }

  /// Writes all bytes; waits for a slow reader even if the descriptor is non-blocking.
  ///
  /// - Throws: the system's error number; `EIO` if a call writes nothing.
  public static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe Glibc.write(descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done)
      if count > 0 {
        done += count
        continue
      }
      let code = count < 0 ? errno : EIO
      switch code {
      case EINTR: continue
      case EAGAIN:
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&room, 1, -1)
      default: throw SystemError(code)
      }
    }
  }
}
