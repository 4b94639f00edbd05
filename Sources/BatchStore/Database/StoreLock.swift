import BatchThreads
import Glibc

/// One process at a time: an exclusive lock on `<store>.lock`, which is never deleted and never inherited by a child.
///
/// The lock ends with the process, however it ends.
package final class StoreLock: Sendable {
  private let descriptor: Guarded<Int32?>

  /// - Throws: ``StoreError/heldByAnotherRun(path:)`` at once if another process has it.
  package init(store path: String) throws {
    let file = path + ".lock"
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StoreError.inputOutput(path: file, operation: "create", code: errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      if code == EWOULDBLOCK { throw StoreError.heldByAnotherRun(path: path) }
      throw StoreError.inputOutput(path: file, operation: "lock", code: code)
    }
    self.descriptor = Guarded(descriptor)
  }

  deinit { release() }

  /// Gives the lock up; more than once is as good as once.
  package func release() {
    descriptor.withLock { descriptor in
      if let open = descriptor { Glibc.close(open) }
      descriptor = nil
    }
  }
}

/// What the store asks of the file system besides SQLite.
enum StoreFiles {
  /// Size in bytes; nil if there is no such file.
  static func size(_ path: String) -> Int64? {
    var info = stat()
    return stat(path, &info) == 0 ? Int64(info.st_size) : nil
  }

  /// Creates an empty file that only its owner may read; SQLite gives its side files the same rights.
  static func create(_ path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StoreError.inputOutput(path: path, operation: "create", code: errno) }
    Glibc.close(descriptor)
  }

  static func remove(_ path: String) { unlink(path) }

  /// Puts a finished file into its place and makes the new name durable.
  static func publish(_ finished: String, as path: String) throws {
    guard rename(finished, path) == 0 else {
      throw StoreError.inputOutput(path: path, operation: "create", code: errno)
    }
    let folder = open(self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    Glibc.close(folder)
  }

  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
