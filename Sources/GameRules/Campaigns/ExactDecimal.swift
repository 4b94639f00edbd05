import BatchFoundation

/// A JSON number of any length, compared without rounding.
struct ExactDecimal {
  private let isNegative: Bool
  /// The digits from the first nonzero one on, possibly with the decimal point among them; empty for zero.
  private let digits: Text
  /// The value is 0.DIGITS x 10^point.
  private let point: Int

  /// Parses a JSON number; returns nil for anything else.
  init?(_ text: Text) {
    var at = 0
    func digitsEnd() -> Int {
      var end = at
      while end < text.count, text[end] &- UInt8(ascii: "0") < 10 { end += 1 }
      return end
    }
    isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
    if isNegative { at = 1 }
    let wholeStart = at
    let wholeEnd = digitsEnd()
    guard wholeEnd > wholeStart, wholeEnd == wholeStart + 1 || text[wholeStart] != UInt8(ascii: "0") else { return nil }
    at = wholeEnd
    var mantissaEnd = wholeEnd
    if at < text.count, text[at] == UInt8(ascii: ".") {
      at += 1
      mantissaEnd = digitsEnd()
      guard mantissaEnd > at else { return nil }
      at = mantissaEnd
    }
    guard let exponent = Self.exponent(text, at) else { return nil }
    var first = wholeStart
    while first < mantissaEnd, text[first] == UInt8(ascii: "0") || text[first] == UInt8(ascii: ".") { first += 1 }
    digits = text.slice(first, mantissaEnd)
    point = exponent + (first < wholeEnd ? wholeEnd - first : wholeEnd + 1 - first)
  }

  /// Parses the exponent at `start`. Returns 0 if the text ends there; nil if anything else follows.
  private static func exponent(_ text: Text, _ start: Int) -> Int? {
    guard start < text.count else { return 0 }
    guard text[start] | 0x20 == UInt8(ascii: "e"), start + 1 < text.count else { return nil }
    var at = start + 1
    let isNegative = text[at] == UInt8(ascii: "-")
    if isNegative || text[at] == UInt8(ascii: "+") { at += 1 }
    guard at < text.count else { return nil }
    var value = 0
    while at < text.count {
      guard text[at] &- UInt8(ascii: "0") < 10 else { return nil }
      // Capped against overflow: no line has enough digits to offset an exponent this large.
      value = min(value * 10 + Int(text[at] - UInt8(ascii: "0")), 1 << 40)
      at += 1
    }
    return isNegative ? -value : value
  }

  /// Returns a negative number, zero or a positive number if `self` is less than, equal to or greater than `other`.
  func compared(to other: ExactDecimal) -> Int {
    let sign = digits.isEmpty ? 0 : isNegative ? -1 : 1
    let otherSign = other.digits.isEmpty ? 0 : other.isNegative ? -1 : 1
    guard sign == otherSign, sign != 0 else { return sign - otherSign }
    guard point == other.point else { return point < other.point ? -sign : sign }
    var (one, two) = (0, 0)
    while one < digits.count || two < other.digits.count {
      let left = Self.nextDigit(digits, &one)
      let right = Self.nextDigit(other.digits, &two)
      if left != right { return left < right ? -sign : sign }
    }
    return 0
  }

  /// Returns the digit at `at` and advances past it, skipping the point; 0 after the last digit.
  private static func nextDigit(_ digits: Text, _ at: inout Int) -> UInt8 {
    if at < digits.count, digits[at] == UInt8(ascii: ".") { at += 1 }
    guard at < digits.count else { return UInt8(ascii: "0") }
    defer { at += 1 }
    return digits[at]
  }
}
