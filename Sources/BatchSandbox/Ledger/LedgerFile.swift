import BatchFoundation
import FoundationEssentials
import Glibc

/// The ledger as NDJSON on disk, one line per finished request, in the order in which they finished.
///
/// A line that cannot be written is given up: the ledger in memory stays complete.
final class LedgerFile: Sendable {
  private let descriptor: Int32
  private let path: String
  private let order = Guarded(Turn())

  init(_ path: String) throws(SandboxFileError) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw SandboxFileError(operation: "open", path: path, code: errno) }
  }

  deinit { close(descriptor) }

  func append(_ entry: LedgerEntry) {
    order.withLock { _ in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      // Plain text and numbers, which always encode.
      guard let line = try? encoder.encode(entry) else { return }
      // The request was served; a full disk must not change that.
      try? writeAll(descriptor, Array(line) + [10], path: path)
    }
  }
}
