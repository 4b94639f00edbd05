import BatchFoundation
import BatchThreads

/// The first lines that a run quarantined, for its report.
final class QuarantinedLines: Sendable {
  static let shown = 20
  /// More of them where no store keeps the lines.
  static let shownWithoutStore = 200

  private let limit: Int
  private let lines = Guarded<[QuarantinedLine]>([])

  init(atMost limit: Int) { self.limit = limit }

  func add(_ more: [QuarantinedLine]) {
    lines.withLock { lines in
      lines += more
      guard lines.count > limit else { return }
      lines.sort(by: Self.precedes)
      lines.removeLast(lines.count - limit)
    }
  }

  var first: [QuarantinedLine] {
    lines.withLock { $0.sorted(by: Self.precedes) }
  }

  private static func precedes(_ one: QuarantinedLine, _ other: QuarantinedLine) -> Bool {
    one.file.utf8.elementsEqual(other.file.utf8)
      ? (one.line, one.offset) < (other.line, other.offset) : one.file.utf8.lexicographicallyPrecedes(other.file.utf8)
  }
}
