import BatchFoundation
import Glibc

/// Consecutive buffers of one size in the spill file.
struct Extent {
  var offset: UInt64
  /// The number of bytes of each buffer.
  var size: Int
  /// The places of the records in each buffer.
  var places: [PlaceSpan]

  var buffers: Int { places.count }
  var bytes: Int { size * buffers }
}

/// A temporary file whose name is removed once it is open, so that it never outlives the process.
///
/// If the file system allows it, the page cache is bypassed: these bytes are needed only once, and would evict others
/// that are needed again.
final class SpillFile: Sendable {
  private struct File {
    /// The descriptor; negative until something is written.
    var descriptor: Int32 = -1
    var length: UInt64 = 0
  }

  private let file = Guarded(File())
  private let folder: String

  /// `O_DIRECT`, which Swift does not import; its value depends on the processor.
  #if arch(arm64) || arch(arm)
    private static let direct: Int32 = 0x10000
  #else
    private static let direct: Int32 = 0x4000
  #endif

  init(folder: String) { self.folder = folder }

  deinit {
    let descriptor = file.withLock { $0.descriptor }
    guard descriptor >= 0 else { return }
    // Freeing the space takes time, which no caller needs to wait for.
    do { try Threads.detach { close(descriptor) } } catch { close(descriptor) }
  }

  /// The number of bytes written so far.
  var count: UInt64 { file.withLock { $0.length } }

  /// - Parameter buffers: buffers of one size.
  func append(_ buffers: ArraySlice<PackedRecords>) throws -> Extent {
    let size = buffers.first?.size ?? 0
    let (descriptor, offset) = try file.withLock { file in
      if file.descriptor < 0 { file.descriptor = try create() }
      defer { file.length += UInt64(size * buffers.count) }
      return (file.descriptor, file.length)
    }
    for buffer in buffers { buffer.markUsed() }
    try unsafe transfer(buffers, descriptor, at: offset, pwritev, "write", atEnd: ENOSPC)
    return Extent(offset: offset, size: size, places: buffers.map(\.places))
  }

  /// - Parameter empty: as many buffers as the extent has, all of the same size as its buffers.
  /// - Returns: the buffers with their content.
  func read(_ extent: Extent, into empty: [PackedRecords]) throws -> [PackedRecords] {
    try unsafe transfer(empty[...], file.withLock(\.descriptor), at: extent.offset, unsafe preadv, "read", atEnd: EIO)
    var buffers = empty
    for index in buffers.indices { buffers[index].readUsed() }
    return buffers
  }

  private typealias Call = (Int32, UnsafePointer<iovec>?, Int32, off_t) -> Int

  /// - Parameter atEnd: the error code to use if nothing is transferred.
  private func transfer(
    _ buffers: ArraySlice<PackedRecords>, _ descriptor: Int32, at start: UInt64, _ call: Call, _ verb: String,
    atEnd: Int32
  ) throws {
    var parts = unsafe buffers.map { unsafe iovec(iov_base: $0.base, iov_len: $0.size) }[...]
    var offset = off_t(start)
    var usesCache = false
    while unsafe !parts.isEmpty {
      let count = unsafe parts.withUnsafeBufferPointer {
        unsafe call(descriptor, $0.baseAddress, Int32($0.count), offset)
      }
      guard count > 0 else {
        let code = count < 0 ? errno : atEnd
        if code == EINTR { continue }
        if code == EINVAL, !usesCache {
          // The file system cannot bypass its cache after all. Another thread may already have noticed this.
          usesCache = true
          _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~Self.direct)
          continue
        }
        throw IngestFailure(operation: "\(verb) a temporary file", path: folder, code: code)
      }
      offset += off_t(count)
      var done = count
      while let part = unsafe parts.first, unsafe done >= part.iov_len {
        unsafe done -= part.iov_len
        unsafe parts.removeFirst()
      }
      if done > 0 {
        unsafe parts[parts.startIndex].iov_base += done
        unsafe parts[parts.startIndex].iov_len -= done
      }
    }
  }

  private func create() throws -> Int32 {
    do throws(SystemError) {
      let opened = try TemporaryPath.unnamedFile(in: folder)
      // Some file systems refuse this and use their cache.
      _ = fcntl(opened, F_SETFL, fcntl(opened, F_GETFL) | Self.direct)
      return opened
    } catch {
      throw IngestFailure(operation: "create a temporary file", path: folder, code: error.code)
    }
  }
}
