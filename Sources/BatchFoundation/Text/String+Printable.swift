extension String {
  /// The string with control and direction characters escaped, so that data cannot manipulate a terminal or page.
  public var printable: String {
    // Nearly all strings are plain ASCII, for which no properties need to be looked up.
    if utf8.isPrintableASCII || !unicodeScalars.contains(where: Self.isUnprintable) { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if Self.isUnprintable(scalar) {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }

  static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    case .format: scalar.value == 0x061C || (0x200E...0x206F).contains(scalar.value)
    default: false
    }
  }

  /// Returns the string for use in a message: if it has more than `bytes` bytes, only its beginning and its length.
  public func shortened(to bytes: Int = 80) -> String {
    guard utf8.count > bytes else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: bytes)
    // Moves back to the start of a character, so that none is split.
    while String.Index(end, within: self) == nil, end > utf8.startIndex { end = utf8.index(before: end) }
    return "\(self[..<end])... (\(utf8.count.grouped) bytes)"
  }

  /// Returns the string with zeros before it, if it has fewer than `count` characters.
  package func zeroPadded(to count: Int) -> String {
    String(repeating: "0", count: max(0, count - utf8.count)) + self
  }
}

extension Int {
  /// Returns the number with its noun or clause, such as `1 line was` and `2,000 lines were`.
  ///
  /// - Parameter plural: nil adds an `s`.
  public func counted(_ one: String, _ plural: String? = nil) -> String {
    "\(grouped) \(self == 1 ? one : plural ?? one + "s")"
  }

  /// The number in groups of three digits, separated by commas.
  public var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }
}

/// Makes text safe for a terminal: control and direction characters other than line feeds and tabs are escaped as in
/// JSON (`\u009b`). If a character's bytes are split between two calls, they are kept for the second one.
public struct TerminalText: Sendable {
  private var cut: [UInt8] = []

  public init() {}

  /// - Returns: the bytes that can be written now.
  public mutating func spelledOut(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var all = cut
    unsafe all.append(contentsOf: bytes)
    let end = Self.wholeEnd(all)
    cut = Array(all[end...])
    guard Self.isSuspicious(all[..<end]) else { return Array(all[..<end]) }
    // Invalid UTF-8 becomes U+FFFD here because a terminal may treat individual bytes as control characters.
    return Array(Self.spelledOut(String(decoding: all[..<end], as: UTF8.self)).utf8)
  }

  public static func spelledOut(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    return text.unicodeScalars.reduce(into: "") { text, scalar in
      guard isHidden(scalar) else { return text.unicodeScalars.append(scalar) }
      text += "\\u" + String(scalar.value, radix: 16).zeroPadded(to: 4)
    }
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\n" && scalar != "\t" && String.isUnprintable(scalar)
  }

  /// Returns whether there is anything other than plain ASCII characters, line feeds and tabs.
  private static func isSuspicious(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.contains { $0 >= 0x7F || $0 < 0x20 && $0 != 0x0A && $0 != 0x09 }
  }

  /// Returns the offset of an incomplete character at the end; the end of the bytes if there is none.
  private static func wholeEnd(_ bytes: [UInt8]) -> Int {
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > back ? bytes.count - back : bytes.count
    }
    return bytes.count
  }
}

extension Text {
  /// Whether ``String/printable`` changes nothing, because all characters are printable ASCII.
  package var isPrintableASCII: Bool { unsafe bytes.isPrintableASCII }
}

extension Sequence<UInt8> {
  fileprivate var isPrintableASCII: Bool { allSatisfy { 0x20..<0x7F ~= $0 } }
}
