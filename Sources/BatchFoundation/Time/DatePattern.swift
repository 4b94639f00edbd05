/// A date format, such as `yyyy'-'MM'-'dd`, as in the SDKs' settings.
///
/// It supports the locale-free part of Unicode's date patterns: `yyyy`, `yy`, `MM`, `M`, `dd`, `d`, `HH`, `H`, `hh`,
/// `h`, `mm`, `m`, `ss`, `s`, `SSS`, `a`, one to three letters `z` (GMT), `Z` (+0000) or `X` (Z), text in single quotes
/// with `''` for a quote, and any character that is not an ASCII letter. Dates are UTC (reference events 0).
public struct DatePattern: Hashable, Sendable {
  public let text: String
  private let pieces: [Piece]

  private enum Piece: Hashable, Sendable {
    case literal(String)
    /// A field by its letter.
    case field(Unicode.Scalar, width: Int)
  }

  /// A placeholder, which writes nothing.
  package static let none = DatePattern(text: "", pieces: [])

  private init(text: String, pieces: [Piece]) { (self.text, self.pieces) = (text, pieces) }

  public enum Refusal: Error, Hashable, Sendable {
    case empty
    case unclosedQuote
    /// A run of letters that is not a locale-free field, such as `MMM`.
    case unknownField(String)
  }

  /// - Throws: ``Refusal`` for the first invalid part.
  public init(_ text: String) throws(Refusal) {
    self.text = text
    pieces = try Self.pieces(of: Array(text.unicodeScalars))
    if pieces.isEmpty { throw .empty }
  }

  /// Formats an instant, which must not be before 1970.
  public func format(_ instant: Instant) -> String {
    let time = CivilTime(milliseconds: instant.milliseconds)
    var result = ""
    for piece in pieces {
      switch piece {
      case .literal(let text): result += text
      case .field("a", _): result += time.hour < 12 ? "AM" : "PM"
      case .field("S", let width): result += Self.padded(Int(instant.milliseconds % 1000), width)
      case .field(let letter, let width): result += Self.padded(Self.value(of: letter, time), width)
      }
    }
    return result
  }

  private static func value(of letter: Unicode.Scalar, _ time: CivilTime) -> Int {
    switch letter {
    case "y": time.year
    case "M": time.month
    case "d": time.day
    case "H": time.hour
    case "h": time.hour % 12 == 0 ? 12 : time.hour % 12
    case "m": time.minute
    default: time.second
    }
  }

  private static func pieces(of scalars: [Unicode.Scalar]) throws(Refusal) -> [Piece] {
    var pieces: [Piece] = []
    var at = 0
    while at < scalars.count {
      let scalar = scalars[at]
      if scalar == "'" {
        pieces.append(.literal(try quoted(scalars, &at)))
      } else if scalar.isASCII, scalar.properties.isAlphabetic {
        let start = at
        while at < scalars.count, scalars[at] == scalar { at += 1 }
        pieces.append(try field(scalar, at - start))
      } else {
        pieces.append(.literal(String(scalar)))
        at += 1
      }
    }
    return pieces
  }

  /// Reads text from a quote to its closing quote; two consecutive quotes always mean one quote character.
  private static func quoted(_ scalars: [Unicode.Scalar], _ at: inout Int) throws(Refusal) -> String {
    at += 1
    if at < scalars.count, scalars[at] == "'" {
      at += 1
      return "'"
    }
    var text = String.UnicodeScalarView()
    while at < scalars.count {
      if scalars[at] != "'" {
        text.append(scalars[at])
        at += 1
      } else if at + 1 < scalars.count, scalars[at + 1] == "'" {
        text.append("'")
        at += 2
      } else {
        at += 1
        return String(text)
      }
    }
    throw .unclosedQuote
  }

  private static func field(_ letter: Unicode.Scalar, _ width: Int) throws(Refusal) -> Piece {
    switch (letter, width) {
    case ("y", 4), ("y", 2), ("M", 1...2), ("d", 1...2), ("H", 1...2), ("h", 1...2), ("m", 1...2), ("s", 1...2),
      ("S", 3), ("a", 1):
      return .field(letter, width: width)
    case ("z", 1...3): return .literal("GMT")
    case ("Z", 1...3): return .literal("+0000")
    case ("X", 1...3): return .literal("Z")
    default: throw .unknownField(String(repeating: Character(letter), count: width))
    }
  }

  /// Pads with zeros; a width of two keeps only the last two digits, as for a year.
  private static func padded(_ value: Int, _ width: Int) -> String {
    String(width == 2 ? value % 100 : value).zeroPadded(to: width)
  }
}
