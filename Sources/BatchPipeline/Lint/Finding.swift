import BatchFoundation
import BatchIngest
import BatchPlatform

/// Something about a line of the inputs that whoever makes the exports should look at.
package struct Finding: Sendable, Equatable {
  package enum Severity: String, Sendable {
    /// The line was quarantined.
    case error
    /// The record counts, but something of it could not be used.
    case warning
  }

  package var severity: Severity
  package var file: String
  /// From 1; 0 when it concerns the file.
  package var line: UInt64
  /// A reason of the quarantine, or a kind of warning.
  package var reason: String
  /// What exactly, with what was perhaps meant; empty if the reason says all.
  package var detail: String

  /// As compilers write it, so that editors find the place.
  package var text: String {
    let place = line == 0 ? file : "\(file):\(line)"
    let kind = severity == .warning ? "warning: \(reason)" : reason
    return "\(place): \(kind)" + (detail.isEmpty ? "" : ": \(detail)")
  }
}

/// What a run found about its inputs: the first findings, and how many there were.
package struct Findings: Sendable, Equatable {
  /// By file and line, no more than were asked for.
  package var first: [Finding] = []
  /// Lines that were quarantined, and events.
  package var errors = 0
  package var warnings = 0

  package var total: Int { errors + warnings }
}

extension Findings {
  /// - Parameters:
  ///   - lines: the first that were quarantined.
  ///   - limit: findings to keep.
  init(
    _ local: DecisionResult, _ files: InputFiles, _ lines: [QuarantinedLine], _ vocabulary: any RecordVocabulary,
    limit: Int
  ) {
    errors = local.quarantined
    warnings = local.tally.warnings.values.reduce(0) { $0 + $1.occurrences }
    first = lines.map { line in
      Finding(
        severity: .error, file: line.place.file, line: line.place.line, reason: line.reason.rawValue,
        detail: line.source == nil ? LineDiagnosis(line, vocabulary.dictionary).detail : line.placedDetail)
    }
    for (kind, tally) in local.tally.warnings {
      first += tally.examples.compactMap { example in
        files.source(of: example.position).map {
          Finding(severity: .warning, file: $0.file, line: $0.line, reason: kind, detail: example.detail)
        }
      }
    }
    first.sort(by: Self.precedes)
    first.removeLast(max(0, first.count - limit))
  }

  /// By file, line, then words, so that the same inputs give the same list.
  private static func precedes(_ one: Finding, _ other: Finding) -> Bool {
    (ByteText(one.file), one.line, ByteText(one.text)) < (ByteText(other.file), other.line, ByteText(other.text))
  }
}
