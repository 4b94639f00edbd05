import FoundationEssentials
import Glibc

/// A file that a run writes for its caller cannot be written.
package struct OutputError: Error, Equatable, CustomStringConvertible {
  package var path: String
  package var code: Int32

  package var description: String { "\(path): error: cannot be written: \(String(cString: strerror(code)))" }
}

/// A file or stream that a run writes data to; "-" is stdout. Files are made 0600 and replace what was there.
package final class OutputFile {
  private let path: String
  private let descriptor: Int32

  package init(_ path: String) throws {
    self.path = path
    descriptor = path == "-" ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OutputError(path: path, code: errno) }
  }

  deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw OutputError(path: path, code: errno) }
      done += count
    }
  }

  package func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }
}

/// Folders that a run makes for its files are its user's alone.
enum OutputFolder {
  /// Makes the folder of the file, and those above it, unless they are there.
  static func make(for file: String) throws {
    let folder = URL(filePath: file).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw OutputError(path: folder.path, code: errno)
    }
  }
}
