import Glibc

/// A temporary file that has no name once it is open, so that nothing of it outlives the process.
final class SpillFile: @unchecked Sendable {
  // Guards the descriptor while it is opened, and the length.
  private let lock = Lock()
  private var descriptor: Int32 = -1
  private var length: UInt64 = 0
  private let folder: String

  init(folder: String) { self.folder = folder }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Bytes written so far.
  var count: UInt64 { lock.withLock { length } }

  func append(_ chunk: Chunk) throws -> Extent {
    let offset = try lock.withLock {
      if descriptor < 0 { descriptor = try create() }
      defer { length += UInt64(chunk.used) }
      return length
    }
    var done = 0
    while done < chunk.used {
      let count = pwrite(descriptor, chunk.base + done, chunk.used - done, off_t(offset) + off_t(done))
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw IngestFailure(operation: "write temporary file", path: folder, code: count < 0 ? errno : ENOSPC)
      }
      done += count
    }
    return Extent(offset: offset, count: chunk.used)
  }

  func read(_ extent: Extent, into target: UnsafeMutableRawPointer) throws {
    var done = 0
    while done < extent.count {
      let count = pread(descriptor, target + done, extent.count - done, off_t(extent.offset) + off_t(done))
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw IngestFailure(operation: "read temporary file", path: folder, code: count < 0 ? errno : EIO)
      }
      done += count
    }
  }

  private func create() throws -> Int32 {
    var template = Array("\(folder)/engage-batch-XXXXXX".utf8CString)
    // mkstemp makes the file for its owner alone (0600).
    let opened = mkstemp(&template)
    guard opened >= 0 else { throw IngestFailure(operation: "create temporary file", path: folder, code: errno) }
    _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
    guard unlink(template) == 0 else {
      let code = errno
      close(opened)
      throw IngestFailure(operation: "unlink temporary file", path: folder, code: code)
    }
    return opened
  }
}
