import FoundationEssentials
import Glibc

/// A folder of the program's own, removed with all that is in it.
final class TemporaryFolder {
  let path: String

  /// - Throws: what the system says when there is no place for it in `TMPDIR`.
  init() throws {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    path = "\(parent)/engage-microbenchmarks-\(getpid())"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// - Returns: the path of the file.
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let file = "\(path)/\(name)"
    try Data(bytes).write(to: URL(filePath: file))
    return file
  }

  /// Removes a file and those that SQLite puts beside it.
  func remove(_ name: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: path) where file.hasPrefix(name) {
      try FileManager.default.removeItem(atPath: "\(path)/\(file)")
    }
  }

  deinit {
    // What is left in a temporary folder harms nobody.
    try? FileManager.default.removeItem(atPath: path)
  }
}
