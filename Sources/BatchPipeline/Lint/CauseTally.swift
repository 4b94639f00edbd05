package import BatchFoundation
package import BatchIngest
package import BatchReport

/// Quarantined lines counted by cause, independent of their order.
package struct CauseTally {
  private struct Key: Hashable {
    var reason: QuarantineReason
    var cause: ByteText
  }

  /// The maximum number of causes; further ones count as one per reason.
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

  /// Returns a text that is equal for lines with the same fault, wherever it is in them.
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
