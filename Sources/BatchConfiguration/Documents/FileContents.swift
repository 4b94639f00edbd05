import BatchFoundation
import Glibc

/// Reads the files that people write: configurations, jobs, credential files.
enum FileContents {
  /// Larger files are refused: nothing that somebody wrote by hand comes near.
  static let largest = 16 << 20

  enum Failure: Error, Equatable {
    /// The number of the system's error.
    case system(Int32)
    case tooLarge(limit: Int)

    var isMissing: Bool {
      if case .system = self { true } else { false }
    }

    var reason: String {
      switch self {
      case .system(let number): unsafe "cannot read it: \(String(cString: strerror(number)))"
      case .tooLarge(let limit): "it is larger than \(limit) bytes"
      }
    }
  }

  static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// Whether anybody but the owner may read or write the file.
  static func isOpenToOthers(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & 0o077 != 0
  }

  static func read(_ path: String, largest: Int = FileContents.largest) throws(Failure) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .system(errno) }
    defer { close(file) }
    do throws(SystemError) {
      if let bytes = try FileDescriptor.readAll(file, limit: largest) { return bytes }
    } catch {
      throw .system(error.code)
    }
    throw .tooLarge(limit: largest)
  }
}
