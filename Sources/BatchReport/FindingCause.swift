package import BatchFoundation

/// Findings of one cause: how many lines have it, and where it was found first.
package struct FindingCause: Sendable, Equatable, Codable {
  /// Whether the records count all the same.
  package var isWarning: Bool
  /// A reason of the quarantine, or a kind of warning.
  package var reason: String
  package var count: Int
  /// What exactly, of the first line; empty where the reason says all.
  package var detail: String
  package var file: String
  /// From 1; 0 when it concerns the file.
  package var line: UInt64
  /// What the lines look like, and what to write in the job; nil where nobody recognised them.
  package var advice: String?

  package init(
    isWarning: Bool = false, reason: String, count: Int, detail: String, file: String, line: UInt64
  ) {
    self.isWarning = isWarning
    self.reason = reason
    self.count = count
    self.detail = detail
    self.file = file
    self.line = line
  }

  package var place: String { line == 0 ? file : "\(file):\(line)" }

  /// The reason and what exactly.
  package var cause: String { (isWarning ? "warning: " : "") + reason + (detail.isEmpty ? "" : ": \(detail)") }

  /// One alone as compilers write it, so that editors find the place; several with their number.
  package var text: String {
    (count == 1 ? "\(place): \(cause)" : "\(count.grouped) x \(cause) (first: \(place))")
      + (advice.map { ". \($0)" } ?? "")
  }

  package var document: JSONNode {
    [
      "severity": .text(isWarning ? "warning" : "error"), "reason": .text(reason), "count": .number(count),
      "detail": .text(detail), "file": .text(file), "line": .number(line), "advice": .text(advice),
    ]
  }

  /// The most frequent first, then by place.
  package static func precedes(_ one: FindingCause, _ other: FindingCause) -> Bool {
    (other.count, ByteText(one.file), one.line, ByteText(one.cause))
      < (one.count, ByteText(other.file), other.line, ByteText(other.cause))
  }
}
