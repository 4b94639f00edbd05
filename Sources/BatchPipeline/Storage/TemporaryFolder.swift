import BatchFoundation
import FoundationEssentials
import Glibc

/// A folder for temporary files, accessible only to its user, and removed with the last reference unless it was
/// renamed.
///
/// It is locked while its process lives. The next process that creates such a folder in the same place removes those of
/// killed processes.
final class TemporaryFolder: Sendable {
  let path: String
  /// The descriptor that holds the lock.
  private let descriptor: Int32

  /// - Parameter place: the path that errors name; nil for `parent`.
  /// - Throws: ``OutputError``.
  init(below parent: String, prefix: String = "engage-batch-", for place: String? = nil) throws {
    Self.removeAbandoned(below: parent, prefix)
    (path, descriptor) = try OutputError.at(place ?? parent) { () throws(SystemError) in
      while true {
        let path = try TemporaryPath.folder("\(parent)/\(prefix)")
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 || errno == ENOENT else { throw SystemError(errno) }
        if descriptor >= 0, Self.lock(descriptor) || errno != EWOULDBLOCK, Self.isThere(path, descriptor) {
          return (path, descriptor)
        }
        // Another process cleaned up the folder before it was locked.
        close(descriptor)
      }
    }
  }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Returns a path for a number. Sorting the names also sorts the numbers.
  func path(_ number: Int) -> String {
    let digits = String(number)
    return path(String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits)
  }

  deinit {
    if Self.isThere(path, descriptor) { Self.remove(path) }
    close(descriptor)
  }

  private static func lock(_ descriptor: Int32) -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  private static func isThere(_ path: String, _ descriptor: Int32) -> Bool {
    // A folder that cannot be examined is not ours.
    guard let named = try? FileStatus.at(path), let open = try? FileStatus.of(descriptor) else { return false }
    return named.identity == open.identity
  }

  private static func removeAbandoned(below parent: String, _ prefix: String) {
    // A folder that cannot be listed has nothing that could be removed.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
      let path = "\(parent)/\(name)"
      let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      if unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid(), lock(descriptor) { remove(path) }
    }
  }

  private static func remove(_ folder: String) {
    // Left to the next process, or to the cleanup of the system; nobody else can read it.
    try? FileManager.default.removeItem(atPath: folder)
  }
}
