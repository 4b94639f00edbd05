/// A regular expression of a route file or an event schema, matched in time proportional to the length of the value,
/// whatever the expression is (reference deep-links 3).
///
/// Such files are written for the ICU expressions of the phones. What they use is read with ICU's meaning: literals,
/// classes, groups, alternation, greedy and lazy repetition, anchors, word boundaries, inline flags. What only a backtracking
/// engine can do (references back, look-around, possessive and atomic groups) is refused when the file is read, so a value
/// can never make a run hang. A value is accepted if the whole of it matches.
package struct LinearRegex: Sendable {
  /// An expression that is not valid or not supported, and where in it.
  package struct Fault: Error, Equatable, Sendable {
    package var reason: String
    /// The place in the expression, as a count of characters from 1.
    package var position: Int
  }

  /// What became of a value. ``tooLong`` says nothing about whether it would match.
  package enum Verdict: Equatable, Sendable {
    case accepted, rejected, tooLong
  }

  /// Values of more bytes are not looked at.
  package static let longestValue = 8192
  /// Instructions of a compiled expression, and bytes of a written one; with ``longestValue`` it bounds the work for a value.
  package static let largestProgram = 4096

  package let pattern: String
  /// Whether no text of more than one character can match; most likely `[0-9]` was written where `[0-9]+` was meant.
  package let acceptsSingleCharactersOnly: Bool
  let program: RegexProgram
  /// The same for plain values, without memory for each; nil if the expression is too large for that or looks around.
  let table: RegexTable?

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

  /// Whether the whole value matches.
  package func verdict(on value: UnsafeBufferPointer<UInt8>) -> Verdict {
    guard value.count <= Self.longestValue else { return .tooLong }
    return unsafe answer(to: value) ? .accepted : .rejected
  }

  /// Whether the whole value matches; for values that have no limit of their own, such as receipts.
  ///
  /// The work stays bounded: the larger the expression, the fewer characters it looks at. What is longer does not match.
  package func matches(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard value.count <= Self.longestValue || value.count <= Self.mostSteps / max(1, program.size) else { return false }
    return unsafe answer(to: value)
  }

  private static let mostSteps = longestValue * largestProgram

  private func answer(to value: UnsafeBufferPointer<UInt8>) -> Bool {
    unsafe table?.matches(value) ?? program.matches(scalars(of: value))
  }

  /// The characters of the value; a byte that is not UTF-8 becomes U+FFFD.
  private func scalars(of value: UnsafeBufferPointer<UInt8>) -> [UInt32] {
    if unsafe value.allSatisfy({ $0 < 0x80 }) { return unsafe value.map(UInt32.init) }
    return unsafe String(decoding: value, as: UTF8.self).unicodeScalars.map(\.value)
  }
}
