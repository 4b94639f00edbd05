import BatchFoundation
import Glibc

/// A file beside the store of a part's result, with digests of lines that an earlier run of the part read (reference formats 5.2).
///
/// Nobody changes it once it is written, so the results of all later nights have it in common, and a night costs what it brings.
package enum DigestFile {
  /// - Parameter run: the number of the run that read the lines.
  package static func name(_ run: Int64) -> String {
    let digits = String(run)
    return "known-" + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
  }

  /// Proves digests where they stand; not more than 53 bits, like every number of a store.
  static func sum(of digests: [UInt8]) -> Int64 {
    unsafe digests.withUnsafeBytes { unsafe Int64(BlockSums.sum(of: $0) >> 11) }
  }

  /// - Throws: ``StoreError`` where the file is not as it was written.
  static func read(_ link: String, from offset: Int64, bytes count: Int, sum: Int64) throws -> [UInt8] {
    // Whoever reads of it in words knows the file, and not the link of a folder that is gone by then.
    let path = (try? PathText.behindLinks(link)) ?? link
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw StoreError.inputOutput(path: path, operation: "open", code: errno) }
    defer { close(file) }
    guard 0...(1 << 30) ~= count else { throw StoreError.inconsistent("digests of a length that nobody writes") }
    var bytes = [UInt8](repeating: 0, count: count)
    let done = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, count, off_t(offset)) }
    guard done == count, self.sum(of: bytes) == sum else { throw StoreError.digestFile(path: path) }
    return bytes
  }
}

/// Writes one from its start to its end.
final class DigestFileWriter {
  private let path: String
  private let descriptor: Int32
  private(set) var byteCount: Int64 = 0

  /// - Throws: ``StoreError``.
  init(_ path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError.inputOutput(path: path, operation: "create", code: errno) }
  }

  deinit { close(descriptor) }

  func append(_ digests: [UInt8]) throws {
    do {
      try FileDescriptor.write(digests, to: descriptor)
    } catch {
      throw StoreError.inputOutput(path: path, operation: "fill", code: error.code)
    }
    byteCount += Int64(digests.count)
  }
}
