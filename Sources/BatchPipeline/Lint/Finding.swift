import BatchFoundation
import BatchIngest
package import BatchReport

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
  /// All of them by their cause, quarantined lines first.
  package var causes: [FindingCause] = []

  package var total: Int { errors + warnings }
}

extension Findings {
  /// - Parameters:
  ///   - lines: the first that were quarantined.
  ///   - quarantined: causes of all that were quarantined.
  ///   - limit: findings to keep.
  init(
    _ local: DecisionResult, _ files: InputFiles, _ lines: [QuarantinedLine], _ quarantined: [FindingCause],
    _ vocabulary: any RecordVocabulary, limit: Int
  ) {
    causes = quarantined
    errors = local.quarantined
    warnings = local.tally.warnings.values.reduce(0) { $0 + $1.occurrences }
    first = lines.map { line in
      Finding(
        severity: .error, file: line.place.file, line: line.place.line, reason: line.reason.rawValue,
        detail: LineDiagnosis(line, vocabulary.dictionary).shownDetail)
    }
    for (kind, tally) in local.tally.warnings {
      // Of more than there are examples of, nobody knows how many are alike.
      let isWhole = tally.examples.count == tally.occurrences
      for (_, alike) in Dictionary(grouping: tally.examples, by: { isWhole ? $0.detail : "" }) {
        let places = alike.compactMap { example in files.source(of: example.position).map { ($0, example.detail) } }
        guard let (place, detail) = places.min(by: { ($0.0.file, $0.0.line) < ($1.0.file, $1.0.line) }) else {
          continue
        }
        causes.append(
          FindingCause(
            isWarning: true, reason: kind, count: isWhole ? alike.count : tally.occurrences, detail: detail,
            file: place.file, line: place.line))
      }
      first += tally.examples.compactMap { example in
        files.source(of: example.position).map {
          Finding(severity: .warning, file: $0.file, line: $0.line, reason: kind, detail: example.detail)
        }
      }
    }
    causes.sort { $0.isWarning != $1.isWarning ? $1.isWarning : FindingCause.precedes($0, $1) }
    first.sort(by: Self.precedes)
    first.removeLast(max(0, first.count - limit))
  }

  /// By file, line, then words, so that the same inputs give the same list.
  private static func precedes(_ one: Finding, _ other: Finding) -> Bool {
    (ByteText(one.file), one.line, ByteText(one.text)) < (ByteText(other.file), other.line, ByteText(other.text))
  }
}
