extension String {
  /// The text with control and direction characters spelled out, so that a recorded value, a file name or a field cannot take
  /// over a terminal or page.
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
