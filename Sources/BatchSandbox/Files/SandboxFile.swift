import BatchFoundation
import Glibc

/// A file operation that failed.
package struct SandboxFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The operation and its object, such as `open the file`.
  package var operation: String
  package var path: String
  /// The `errno`.
  package var code: Int32

  package init(operation: String, path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  package var description: String {
    unsafe "\(path.printable): error: cannot \(operation): \(String(cString: strerror(code)))"
  }
}

/// Returns the bytes of the file; nil if it does not exist.
///
/// - Throws: ``SandboxFileError`` if it cannot be read.
package func contentsIfPresent(of path: String) throws(SandboxFileError) -> [UInt8]? {
  if unsafe access(path, F_OK) != 0, errno == ENOENT { return nil }
  return try contents(of: path)
}

/// Returns the bytes of a file or a pipe; a device is refused, because reading it might never end.
///
/// - Throws: ``SandboxFileError``, also for more than `largest` bytes.
package func contents(of path: String, largest: Int = .max) throws(SandboxFileError) -> [UInt8] {
  // A FIFO without a writer reads as empty instead of blocking.
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw SandboxFileError(operation: "open the file", path: path, code: errno) }
  defer { close(descriptor) }
  do throws(SystemError) {
    switch try FileStatus.of(descriptor).kind {
    case .file, .pipe: break
    case .folder: throw SystemError(EISDIR)
    default: throw SystemError(EINVAL)
    }
    _ = fcntl(descriptor, F_SETFL, 0)
    guard let bytes = try FileDescriptor.readAll(descriptor, limit: largest) else { throw SystemError(EFBIG) }
    return bytes
  } catch {
    throw SandboxFileError(operation: "read the file", path: path, code: error.code)
  }
}

/// Replaces a file with a new, synced one that keeps the old one's mode; without an old file, the mode is
/// 0600.
///
/// - Throws: ``SandboxFileError``, also if something other than a file is at the path; it is left unchanged.
package func writeFileAtomically(_ path: String, _ bytes: [UInt8]) throws(SandboxFileError) {
  do throws(SystemError) {
    let draft = try DraftFile(for: path)
    try draft.write(bytes)
    if fsync(draft.descriptor) != 0 { throw SystemError(errno) }
    try draft.replace()
  } catch {
    throw SandboxFileError(operation: "write the file", path: path, code: error.code)
  }
}
