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
    _ local: ProcessingResult, _ files: InputFiles, _ lines: [QuarantinedLine], _ quarantined: [FindingCause],
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

/// Counts quarantined lines by cause. The order in which lines are added does not matter.
package struct CauseTally {
  private struct Key: Hashable, Comparable {
    var reason: QuarantineReason
    var cause: ByteText

    static func < (one: Key, other: Key) -> Bool {
      (one.reason.rawValue, one.cause) < (other.reason.rawValue, other.cause)
    }
  }

  private typealias Lines = (count: Int, first: QuarantinedLine)

  /// The maximum number of causes to keep, the first ones in order.
  private static let most = 500

  private let dictionary: FieldDictionary
  private var kept: [Key: Lines] = [:]
  /// The last cause in `kept`, if there are more.
  private var last: Key?
  /// The lines with causes after `last`, which count as one cause per reason.
  private var others: [QuarantineReason: Lines] = [:]

  package init(_ dictionary: FieldDictionary) { self.dictionary = dictionary }

  package mutating func add(_ line: QuarantinedLine) {
    let key = Key(reason: line.reason, cause: ByteText(cause(of: line)))
    if let last, last < key { return Self.add((1, line), to: &others[key.reason]) }
    Self.add((1, line), to: &kept[key])
    guard kept.count > Self.most, let end = kept.keys.max(), let lines = kept.removeValue(forKey: end) else { return }
    Self.add(lines, to: &others[end.reason])
    last = kept.keys.max()
  }

  private static func add(_ more: Lines, to lines: inout Lines?) {
    guard let known = lines else { return lines = more }
    lines = (known.count + more.count, precedes(more.first, known.first) ? more.first : known.first)
  }

  /// The causes, the most frequent first.
  package var causes: [FindingCause] {
    (kept.map { ($0.key.reason, $0.value) } + others.map { ($0.key, $0.value) }).map { reason, lines in
      FindingCause(
        reason: reason.rawValue, count: lines.count, detail: LineDiagnosis(lines.first, dictionary).shownDetail,
        file: lines.first.place.file, line: lines.first.place.line)
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
