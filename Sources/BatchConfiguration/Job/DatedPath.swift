import BatchFoundation

/// A path of a job with date patterns, such as `exports/{yyyy}-{MM}-{dd}/*.ndjson` (reference formats 1.4).
struct DatedPath: Hashable, Sendable {
  /// Letters in braces that are not a date pattern.
  struct UnknownPattern: Error { var text: String }

  static let patterns = ["{yyyy}", "{MM}", "{dd}"]

  /// The parts of the path; each pattern is one part.
  private let pieces: [Substring]

  /// Parses a path; nil if it has no date patterns. Braces around anything but letters are literal, as are braces after
  /// a dollar sign.
  static func read(_ text: String) throws(UnknownPattern) -> DatedPath? {
    var pieces: [Substring] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      // The innermost of several opening braces.
      let start = rest[open..<close].lastIndex(of: "{") ?? open
      let name = rest[start..<close].utf8.dropFirst()
      let end = rest.index(after: close)
      // A brace after a dollar sign comes from `$${`, an escaped `${`.
      let isLiteral = rest[..<start].utf8.last == UInt8(ascii: "$")
      if isLiteral || name.isEmpty || !name.allSatisfy(\.isASCIILetter) {
        pieces.append(rest[..<end])
      } else if patterns.contains(String(rest[start..<end])) {
        pieces += [rest[..<start], rest[start..<end]]
      } else {
        throw UnknownPattern(text: String(rest[start..<end]))
      }
      rest = rest[end...]
    }
    guard pieces.contains(where: { patterns.contains(String($0)) }) else { return nil }
    return DatedPath(pieces: pieces + [rest])
  }

  func path(of day: CivilTime) -> String {
    pieces.map { piece in
      switch piece {
      case "{yyyy}": String(day.year).zeroPadded(to: 4)
      case "{MM}": String(day.month).zeroPadded(to: 2)
      case "{dd}": String(day.day).zeroPadded(to: 2)
      default: String(piece)
      }
    }.joined()
  }
}
