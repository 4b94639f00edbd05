import BatchFoundation
import Glibc

/// Reads the files that people write: configurations, jobs, credential files.
package enum FileContents {
  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Whether anybody but the owner may read or write the file; a group may read what root gave it, as schedulers mount secrets.
  package static func isOpenToOthers(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    return status.st_mode & (status.st_uid == 0 ? 0o037 : 0o077) != 0
  }
}
