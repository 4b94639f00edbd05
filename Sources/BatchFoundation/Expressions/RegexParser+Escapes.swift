extension RegexParser {
  enum EscapedCharacters {
    case scalar(Unicode.Scalar)
    case property(RegexProperty, isNegated: Bool)
  }

  /// Reads the rest of an escape after its backslash; the caller has already handled assertions.
  mutating func escapedCharacters(from start: Int) throws(LinearRegex.Fault) -> EscapedCharacters {
    guard let scalar = next else { throw fault("nothing follows the last '\\'", at: start) }
    position += 1
    if let property = Self.propertyEscapes[scalar] { return .property(property.0, isNegated: property.1) }
    if let control = Self.controlEscapes[scalar] { return .scalar(control) }
    switch scalar {
    case "p", "P": return .property(try namedProperty(from: start), isNegated: scalar == "P")
    case "x": return .scalar(try hexadecimal(from: start))
    case "u": return .scalar(try hexadecimal(digits: 4, from: start))
    case "U": return .scalar(try hexadecimal(digits: 8, from: start))
    case "0": return .scalar(try octal(from: start))
    case "c": return .scalar(try control(from: start))
    case "1"..."9", "k": throw fault("back-references are not supported", at: start)
    default:
      guard !("a"..."z").contains(scalar), !("A"..."Z").contains(scalar) else {
        throw fault("the escape '\\\(scalar)' is not supported", at: start)
      }
      return .scalar(scalar)
    }
  }

  private static let propertyEscapes: [Unicode.Scalar: (RegexProperty, Bool)] = [
    "d": (.digit, false), "D": (.digit, true), "w": (.word, false), "W": (.word, true),
    "s": (.space, false), "S": (.space, true), "h": (.horizontalSpace, false), "H": (.horizontalSpace, true),
    "v": (.lineTerminator, false), "V": (.lineTerminator, true),
  ]

  private static let controlEscapes: [Unicode.Scalar: Unicode.Scalar] = [
    "t": "\t", "n": "\n", "r": "\r", "f": "\u{C}", "a": "\u{7}", "e": "\u{1B}",
  ]

  private mutating func namedProperty(from start: Int) throws(LinearRegex.Fault) -> RegexProperty {
    guard take("{") else { throw fault("'\\p' needs a name in braces", at: start) }
    let text = name(upTo: "}")
    guard take("}") else { throw fault("'\\p{' has no '}'", at: start) }
    guard let property = RegexProperty(name: text) else {
      throw fault("the property '\(text)' is not supported", at: start)
    }
    return property
  }

  private mutating func hexadecimal(from start: Int) throws(LinearRegex.Fault) -> Unicode.Scalar {
    guard take("{") else { return try hexadecimal(digits: 2, from: start) }
    let first = position
    while let scalar = next, scalar.properties.isASCIIHexDigit { position += 1 }
    return try scalar(pattern[first..<position], closedBy: "}", from: start)
  }

  private mutating func hexadecimal(digits: Int, from start: Int) throws(LinearRegex.Fault) -> Unicode.Scalar {
    let first = position
    while position - first < digits, let scalar = next, scalar.properties.isASCIIHexDigit { position += 1 }
    guard position - first == digits else { throw fault("hexadecimal digits are missing", at: start) }
    return try scalar(pattern[first..<position], closedBy: "", from: start)
  }

  private mutating func scalar(
    _ digits: ArraySlice<Unicode.Scalar>, closedBy end: String, from start: Int
  ) throws(LinearRegex.Fault) -> Unicode.Scalar {
    let text = String(String.UnicodeScalarView(digits))
    guard let code = UInt32(text, radix: 16), let scalar = Unicode.Scalar(code) else {
      throw fault("the code point is not valid", at: start)
    }
    guard take(end) else { throw fault("'}' is missing after the hexadecimal digits", at: start) }
    return scalar
  }

  /// Reads up to three octal digits after `\0`.
  private mutating func octal(from start: Int) throws(LinearRegex.Fault) -> Unicode.Scalar {
    var code: UInt32 = 0
    let first = position
    while position - first < 3, let scalar = next, ("0"..."7").contains(scalar) {
      let value = code * 8 + (scalar.value - 0x30)
      if value > 0xFF { break }
      code = value
      position += 1
    }
    guard position > first, let scalar = Unicode.Scalar(code) else {
      throw fault("octal digits are missing after '\\0'", at: start)
    }
    return scalar
  }

  private mutating func control(from start: Int) throws(LinearRegex.Fault) -> Unicode.Scalar {
    guard let letter = next, letter.isASCII, let scalar = Unicode.Scalar(letter.value & 0x1F) else {
      throw fault("a letter is missing after '\\c'", at: start)
    }
    position += 1
    return scalar
  }
}
