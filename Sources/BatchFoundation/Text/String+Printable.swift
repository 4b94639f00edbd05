extension String {
  /// The text with control and direction characters spelled out, so that data cannot manipulate a terminal or page.
  public var printable: String {
    guard unicodeScalars.contains(where: Self.isUnprintable) else { return self }
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
}

extension String {
  /// Returns the text for a message: if it has more than `bytes`, its beginning and its length.
  public func shortened(to bytes: Int = 80) -> String {
    guard utf8.count > bytes else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: bytes)
    // Not in the middle of a character.
    while String.Index(end, within: self) == nil, end > utf8.startIndex { end = utf8.index(before: end) }
    return "\(self[..<end])... (\(utf8.count.grouped) bytes)"
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
