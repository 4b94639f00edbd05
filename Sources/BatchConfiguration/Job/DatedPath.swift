import BatchFoundation

/// A path of a job with date patterns, such as `exports/{yyyy}-{MM}-{dd}/*.ndjson` (reference formats 1.4).
struct DatedPath: Hashable, Sendable {
  private enum Piece: Hashable, Sendable {
    case literal(Substring)
    case year, month, day
  }

  /// Letters in braces that are not a date pattern.
  struct UnknownPattern: Error { var text: String }

  static let patterns = ["{yyyy}", "{MM}", "{dd}"]

  private let pieces: [Piece]

  /// Parses a path; nil if it has no date patterns. Braces around anything but letters are literal, as are braces after
  /// a dollar sign.
  static func read(_ text: String) throws(UnknownPattern) -> DatedPath? {
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { break }
      // The innermost of several opening braces.
      let start = rest[open..<close].lastIndex(of: "{") ?? open
      let name = rest[rest.index(after: start)..<close]
      let end = rest.index(after: close)
      // A brace after a dollar sign comes from `$${`, an escaped `${`.
      let isLiteral = rest[..<start].utf8.last == UInt8(ascii: "$")
      guard !isLiteral, !name.isEmpty, name.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 })
      else {
        pieces.append(.literal(rest[..<end]))
        rest = rest[end...]
        continue
      }
      pieces.append(.literal(rest[..<start]))
      switch name {
      case "yyyy": pieces.append(.year)
      case "MM": pieces.append(.month)
      case "dd": pieces.append(.day)
      default: throw UnknownPattern(text: String(rest[start..<end]))
      }
      rest = rest[end...]
    }
    guard pieces.contains(where: { if case .literal = $0 { false } else { true } }) else { return nil }
    return DatedPath(pieces: pieces + [.literal(rest)])
  }

  private init(pieces: [Piece]) { self.pieces = pieces }

  func path(of day: CivilTime) -> String {
    pieces.map { piece in
      switch piece {
      case .literal(let text): String(text)
      case .year: Self.digits(day.year, 4)
      case .month: Self.digits(day.month, 2)
      case .day: Self.digits(day.day, 2)
      }
    }.joined()
  }

  private static func digits(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
