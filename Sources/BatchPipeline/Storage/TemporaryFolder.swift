import BatchFoundation
import FoundationEssentials
import Glibc

/// A folder for temporary files, accessible only to its user and removed with the last reference.
///
/// It is locked while its process lives. The next process that creates such a folder in the same place removes those of
/// killed processes.
final class TemporaryFolder: Sendable {
  private static let prefix = "engage-batch-"

  private let folder: String
  /// The descriptor that holds the lock.
  private let descriptor: Int32

  /// - Throws: ``OutputError``.
  init(below parent: String) throws {
    Self.removeAbandoned(below: parent)
    while true {
      let path = try OutputError.at(parent) { () throws(SystemError) in
        try TemporaryPath.folder("\(parent)/\(Self.prefix)")
      }
      // Another process's cleanup may have removed the folder before it was locked.
      if let descriptor = Self.lock(path), Self.isThere(path, descriptor) {
        (folder, self.descriptor) = (path, descriptor)
        return
      }
    }
  }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// Returns a path for a number. Sorting the names also sorts the numbers.
  func path(_ number: Int) -> String {
    let digits = String(number)
    return path(String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits)
  }

  deinit {
    Self.remove(folder)
    close(descriptor)
  }

  /// Returns a descriptor of the locked folder; nil if the folder does not exist or another process has the lock.
  private static func lock(_ path: String) -> Int32? {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private static func isThere(_ path: String, _ descriptor: Int32) -> Bool {
    // A folder that cannot be examined is not ours.
    guard let named = try? FileStatus.at(path), let open = try? FileStatus.of(descriptor) else { return false }
    return named.identity == open.identity
  }

  private static func removeAbandoned(below parent: String) {
    // A folder that cannot be listed is left to the system's cleanup.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
      let path = "\(parent)/\(name)"
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_uid == geteuid(), let descriptor = lock(path) else { continue }
      remove(path)
      close(descriptor)
    }
  }

  private static func remove(_ folder: String) {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      // Left to the cleanup of the temporary folder; nobody else can read it.
    }
  }
}
