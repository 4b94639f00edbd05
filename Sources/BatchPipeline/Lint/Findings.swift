package import BatchFoundation
package import BatchIngest
package import BatchReport

/// The findings of a run about its inputs: the first ones, and the counts of all.
package struct Findings: Sendable, Equatable {
  /// The first findings, sorted by file and line; at most as many as requested.
  package var first: [FindingCause] = []
  /// The number of quarantined lines and events.
  package var errors = 0
  package var warnings = 0
  /// The causes of all findings, those of quarantined lines first.
  package var causes: [FindingCause] = []

  package var total: Int { errors + warnings }
}

extension Findings {
  /// - Parameters:
  ///   - lines: the first quarantined lines.
  ///   - quarantined: the causes of all quarantined lines.
  ///   - limit: the maximum number of findings to keep.
  init(
    _ local: DecisionResult, _ files: InputFiles, _ lines: [QuarantinedLine], _ quarantined: [FindingCause],
    _ vocabulary: RecordVocabulary, limit: Int
  ) {
    causes = quarantined
    errors = local.quarantined
    warnings = local.tally.warnings.values.reduce(0) { $0 + $1.occurrences }
    first = lines.map { line in
      FindingCause(
        reason: line.reason.rawValue, detail: LineDiagnosis(line, vocabulary.dictionary).shownDetail,
        file: line.place.file, line: line.place.line)
    }
    for (kind, tally) in local.tally.warnings {
      // If there are more occurrences than examples, it is unknown how many have the same detail.
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
          FindingCause(isWarning: true, reason: kind, detail: example.detail, file: $0.file, line: $0.line)
        }
      }
    }
    causes.sort { $0.isWarning != $1.isWarning ? $1.isWarning : FindingCause.precedes($0, $1) }
    first.sort(by: Self.precedes)
    first.removeLast(max(0, first.count - limit))
  }

  /// Orders by file, line, then text, so that the same inputs produce the same list.
  private static func precedes(_ one: FindingCause, _ other: FindingCause) -> Bool {
    (ByteText(one.file), one.line, ByteText(one.text)) < (ByteText(other.file), other.line, ByteText(other.text))
  }
}

/// Counts quarantined lines by cause. The order in which lines are added does not matter unless there are too many
/// causes.
package struct CauseTally {
  private struct Key: Hashable {
    var reason: QuarantineReason
    var cause: ByteText
  }

  /// The maximum number of causes; further ones are counted as one cause per reason.
  private static let most = 500

  private let dictionary: FieldDictionary
  private var found: [Key: (count: Int, first: QuarantinedLine)] = [:]

  package init(_ dictionary: FieldDictionary) { self.dictionary = dictionary }

  package mutating func add(_ line: QuarantinedLine) {
    var key = Key(reason: line.reason, cause: ByteText(cause(of: line)))
    if found[key] == nil, found.count >= Self.most { key.cause = ByteText("") }
    guard let known = found[key] else {
      found[key] = (1, line)
      return
    }
    found[key] = (known.count + 1, Self.precedes(line, known.first) ? line : known.first)
  }

  /// The causes, the most frequent first.
  package var causes: [FindingCause] {
    found.map { key, found in
      let line = found.first
      return FindingCause(
        reason: key.reason.rawValue, count: found.count, detail: LineDiagnosis(line, dictionary).shownDetail,
        file: line.place.file, line: line.place.line)
    }.sorted(by: FindingCause.precedes)
  }

  /// Returns a string that is equal for lines with the same fault, wherever in the line the fault is.
  private func cause(of line: QuarantinedLine) -> String {
    switch line.reason {
    case .unknownType, .invalidJSON, .missingField: LineDiagnosis(line, dictionary).detail
    default: String(String.UnicodeScalarView(line.detail.unicodeScalars.filter { !("0"..."9" ~= $0) }.prefix(200)))
    }
  }

  private static func precedes(_ one: QuarantinedLine, _ other: QuarantinedLine) -> Bool {
    (ByteText(one.place.file), one.place.line, one.offset) < (
      ByteText(other.place.file), other.place.line, other.offset
    )
  }
}
