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
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe unistdRead(file, &piece, piece.count)
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw .system(errno)
      }
      guard bytes.count + count <= largest else { throw .tooLarge(limit: largest) }
      bytes += piece[..<count]
    }
  }
}

/// `read(2)`, which the method above hides.
private func unistdRead(_ file: Int32, _ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
  unsafe read(file, target, count)
}
