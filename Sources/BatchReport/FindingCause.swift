package import BatchFoundation

/// A finding about the inputs, or all findings with the same cause, given as their number and first place.
package struct FindingCause: Sendable, Equatable, Codable {
  /// Whether the records are processed nevertheless.
  package var isWarning: Bool
  /// A quarantine reason or a kind of warning.
  package var reason: String
  package var count: Int
  /// The details of the first line; empty if the reason is sufficient.
  package var detail: String
  package var file: String
  /// The line number from 1; 0 if the finding concerns the whole file.
  package var line: UInt64
  /// The recognized format of the lines and the fix for the job; nil if the format is not recognized.
  package var advice: String?

  package init(
    isWarning: Bool = false, reason: String, count: Int = 1, detail: String, file: String, line: UInt64
  ) {
    (self.isWarning, self.reason, self.count) = (isWarning, reason, count)
    (self.detail, self.file, self.line) = (detail, file, line)
  }

  package var severity: String { isWarning ? "warning" : "error" }

  package var place: String { line == 0 ? file : "\(file):\(line)" }

  /// The reason with its details.
  package var cause: String { (isWarning ? "warning: " : "") + reason + (detail.isEmpty ? "" : ": \(detail)") }

  /// A single finding in the format of compiler messages, so that editors find the place; for several findings, their
  /// number, the cause and the first place.
  package var text: String {
    (count == 1 ? "\(place): \(cause)" : "\(count.grouped) x \(cause) (first: \(place))")
      + (advice.map { ". \($0)" } ?? "")
  }

  package var document: JSONNode {
    [
      "severity": .text(severity), "reason": .text(reason), "count": .number(count),
      "detail": .text(detail), "file": .text(file), "line": .number(line), "advice": .text(advice),
    ]
  }

  /// Orders by descending count, then by place.
  package static func precedes(_ one: FindingCause, _ other: FindingCause) -> Bool {
    (other.count, ByteText(one.file), one.line, ByteText(one.cause))
      < (one.count, ByteText(other.file), other.line, ByteText(other.cause))
  }
}
