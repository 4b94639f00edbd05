extension Text {
  /// The double nearest to a JSON number; nil beyond the largest finite one.
  package var double: Double? {
    guard let value = Double(description), value.isFinite else { return nil }
    return value
  }

  /// Whether the text is a JSON number: no leading zeros, no sign but `-`, digits after a point and an `e`.
  package var isJSONNumber: Bool {
    func digitsEnd(_ start: Int) -> Int {
      var at = start
      while at < count, self[at] &- UInt8(ascii: "0") < 10 { at += 1 }
      return at
    }
    let whole = count > 0 && self[0] == UInt8(ascii: "-") ? 1 : 0
    var at = digitsEnd(whole)
    guard at > whole, at == whole + 1 || self[whole] != UInt8(ascii: "0") else { return false }
    if at < count, self[at] == UInt8(ascii: ".") {
      let fraction = at + 1
      at = digitsEnd(fraction)
      guard at > fraction else { return false }
    }
    if at < count, self[at] | 0x20 == UInt8(ascii: "e") {
      var exponent = at + 1
      if exponent < count, self[exponent] == UInt8(ascii: "+") || self[exponent] == UInt8(ascii: "-") { exponent += 1 }
      at = digitsEnd(exponent)
      guard at > exponent else { return false }
    }
    return at == count
  }

  /// Whether the text is an integer literal: an optional minus sign and digits.
  package var isIntegerLiteral: Bool {
    guard count > 0 else { return false }
    for byte in self[0] == UInt8(ascii: "-") ? slice(1, count) : self
    where byte < UInt8(ascii: "0") || byte > UInt8(ascii: "9") {
      return false
    }
    return true
  }
}
