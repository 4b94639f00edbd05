import BatchFoundation
import BatchThreads

/// The first lines that a dry run set aside, for its report.
final class QuarantinedLines: Sendable {
  static let shown = 20
  private let lines = Guarded<[QuarantinedLine]>([])

  func add(_ more: [QuarantinedLine]) {
    lines.withLock { lines in
      lines += more
      guard lines.count > Self.shown else { return }
      lines.sort { $0.file != $1.file ? $0.file < $1.file : $0.line < $1.line }
      lines.removeLast(lines.count - Self.shown)
    }
  }

  var first: [QuarantinedLine] {
    lines.withLock { $0.sorted { $0.file != $1.file ? $0.file < $1.file : $0.line < $1.line } }
  }
}
