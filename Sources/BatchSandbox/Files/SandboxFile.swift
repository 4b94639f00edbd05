package import BatchFoundation
import Glibc

extension CommandError {
  /// - Parameter operation: the operation that failed and its object, such as `open the file`.
  package static func cannot(_ operation: String, _ path: String, _ error: SystemError) -> CommandError {
    CommandError(.inputOutput, "\(path.printable): error: cannot \(operation): \(error)")
  }
}

/// Returns the bytes of the file; nil if it does not exist.
///
/// - Throws: ``CommandError`` if it cannot be read.
package func contentsIfPresent(of path: String) throws(CommandError) -> [UInt8]? {
  if unsafe access(path, F_OK) != 0, errno == ENOENT { return nil }
  return try contents(of: path)
}

/// Returns the bytes of a file or a pipe; a device is refused, because reading it might never end.
///
/// - Throws: ``CommandError``, also for more than `largest` bytes.
package func contents(of path: String, largest: Int = .max) throws(CommandError) -> [UInt8] {
  // A FIFO without a writer reads as empty instead of blocking.
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw CommandError.cannot("open the file", path, SystemError(errno)) }
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
    throw CommandError.cannot("read the file", path, error)
  }
}

/// Replaces a file with a new, synced one that keeps the old one's mode; without an old file, the mode is
/// 0600.
///
/// - Throws: ``CommandError``, also if something other than a file is at the path; it is left unchanged.
package func writeFileAtomically(_ path: String, _ bytes: [UInt8]) throws(CommandError) {
  do throws(SystemError) {
    let draft = try DraftFile(for: path)
    try draft.write(bytes)
    if fsync(draft.descriptor) != 0 { throw SystemError(errno) }
    try draft.replace()
  } catch {
    throw CommandError.cannot("write the file", path, error)
  }
}
