/// A regular expression from a route file or an event schema, always matched in linear time (reference deep-links 3).
///
/// Such expressions are written for ICU, which phones use, and keep ICU's meaning: literals, classes, groups,
/// alternation, greedy and lazy repetition, anchors, word boundaries, inline flags. Constructs that need backtracking
/// (back references, look-around, possessive and atomic groups) are rejected when the file is read, so no value can
/// make a run hang. A value is accepted only if the expression matches the whole value.
package struct LinearRegex: Sendable {
  package struct Fault: Error, Equatable, Sendable {
    package var reason: String
    /// The position in the expression, counted in characters from 1.
    package var position: Int
  }

  /// The result of matching a value. ``tooLong`` means that the value was not matched at all.
  package enum Verdict: Equatable, Sendable {
    case accepted, rejected, tooLong
  }

  /// The maximum length in bytes of a value that ``verdict(on:)`` matches.
  package static let longestValue = 8192
  /// The maximum size of an expression, both in instructions and in source bytes. Together with ``longestValue`` it
  /// bounds the work per value.
  package static let largestProgram = 4096

  package let pattern: String
  /// Whether the expression can match only one character. If so, `[0-9]` was probably written instead of `[0-9]+`.
  package let acceptsSingleCharactersOnly: Bool
  let program: RegexProgram
  /// The expression as a table for ASCII values, which allocates nothing; nil if it is too large or has assertions.
  let table: RegexTable?

  /// - Throws: ``Fault`` if the expression is invalid, unsupported or too large.
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

  package func verdict(on value: UnsafeBufferPointer<UInt8>) -> Verdict {
    guard value.count <= Self.longestValue else { return .tooLong }
    return unsafe answer(to: value) ? .accepted : .rejected
  }

  /// Returns whether the whole value matches. Values may exceed ``longestValue``, as receipts do, but the larger the
  /// expression, the lower the limit, so that the work stays bounded. A value above the limit does not match.
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
