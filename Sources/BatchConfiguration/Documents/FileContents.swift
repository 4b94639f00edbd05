import BatchFoundation
import Glibc

/// Reads the files that people write: configurations, jobs, credential files.
enum FileContents {
  /// Larger files are refused: nothing that somebody wrote by hand comes near.
  static let largest = 16 << 20

  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Whether anybody but the owner may read or write the file.
  static func isOpenToOthers(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & 0o077 != 0
  }

  /// A file with one value for its owner, which may also be handed over by a pipe, as `<(command)` of a shell does.
  static func readValue(_ path: String, largest: Int) throws(RegularFile.Failure) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .system(SystemError(errno)) }
    defer { close(file) }
    do throws(SystemError) {
      if let bytes = try FileDescriptor.readAll(file, limit: largest) { return bytes }
    } catch {
      throw .system(error)
    }
    throw .tooLarge(limit: largest)
  }
}
