/// A regular expression of a route file or an event schema, matched in linear time in any case
/// (reference deep-links 3).
///
/// Such files are written for the ICU expressions of phones and read with ICU's meaning: literals, classes, groups,
/// alternation, greedy and lazy repetition, anchors, word boundaries, inline flags. What needs backtracking (back
/// references, look-around, possessive and atomic groups) is rejected when the file is read, so no value can make a run
/// hang. A value is accepted if all of it matches.
package struct LinearRegex: Sendable {
  package struct Fault: Error, Equatable, Sendable {
    package var reason: String
    /// The position in the expression in characters, from 1.
    package var position: Int
  }

  /// The result for a value. ``tooLong`` does not say whether it would match.
  package enum Verdict: Equatable, Sendable {
    case accepted, rejected, tooLong
  }

  /// The length in bytes above which values are not matched.
  package static let longestValue = 8192
  /// The limit of an expression in instructions and source bytes, which with ``longestValue`` bounds the work per
  /// value.
  package static let largestProgram = 4096

  package let pattern: String
  /// Whether only single characters can match; most likely `[0-9]` was written instead of `[0-9]+`.
  package let acceptsSingleCharactersOnly: Bool
  let program: RegexProgram
  /// The expression as a table for ASCII values, free of allocations; nil if it is too large or has assertions.
  let table: RegexTable?

  /// - Throws: ``Fault`` for an invalid, unsupported or too large expression.
  package init(_ pattern: String) throws(Fault) {
    var parser = RegexParser(pattern)
    let tree = try parser.parse()
    guard tree.programSize < Self.largestProgram, pattern.utf8.count <= Self.largestProgram else {
      throw Fault(reason: "the expression is too large", position: 1)
    }
    self.pattern = pattern
    acceptsSingleCharactersOnly = tree.longestMatch == 1
    let whole = tree.withoutOuterAnchors
    program = RegexProgram(whole)
    table = RegexTable(program)
  }

  /// Matches the whole value.
  package func verdict(on value: UnsafeBufferPointer<UInt8>) -> Verdict {
    guard value.count <= Self.longestValue else { return .tooLong }
    return unsafe answer(to: value) ? .accepted : .rejected
  }

  /// Returns whether the whole value matches; for values without a length limit, such as receipts. The work stays
  /// bounded: the larger the expression, the shorter the longest value that can match.
  package func matches(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard value.count <= Self.longestValue || value.count <= Self.mostSteps / max(1, program.size) else { return false }
    return unsafe answer(to: value)
  }

  private static let mostSteps = longestValue * largestProgram

  private func answer(to value: UnsafeBufferPointer<UInt8>) -> Bool {
    unsafe table?.matches(value) ?? program.matches(scalars(of: value))
  }

  /// Returns the characters of the value; invalid UTF-8 becomes U+FFFD.
  private func scalars(of value: UnsafeBufferPointer<UInt8>) -> [UInt32] {
    if unsafe value.allSatisfy({ $0 < 0x80 }) { return unsafe value.map(UInt32.init) }
    return unsafe String(decoding: value, as: UTF8.self).unicodeScalars.map(\.value)
  }
}
