import BatchFoundation
import Glibc

/// Reads the files that people write: configurations, jobs, credential files.
enum FileContents {
  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Whether anybody but the owner may read or write the file.
  static func isOpenToOthers(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & 0o077 != 0
  }
}
