/// The digits and the exponent of a JSON number, read without rounding.
public struct DecimalText {
  public var isNegative: Bool
  /// The significant digits as numbers, at most the first forty, without leading zeros; none for zero.
  private var digits = InlineArray<40, UInt8>(repeating: 0)
  private var count = 0
  /// The place of the decimal point: the value is 0.DIGITS x 10^point.
  public var point: Int

  public var isZero: Bool { count == 0 }

  /// - Parameter text: a JSON number.
  public init?(_ text: Text) {
    var at = 0
    isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
    if isNegative { at = 1 }
    var whole = 0
    var seenPoint = false
    point = 0
    while at < text.count {
      let byte = text[at]
      if byte == UInt8(ascii: ".") {
        seenPoint = true
      } else if byte.isASCIIDigit {
        let digit = byte - UInt8(ascii: "0")
        if !seenPoint { whole += 1 }
        if digit != 0 || !isZero {
          if count < digits.count {
            digits[count] = digit
            count += 1
          }
          if !seenPoint { point += 1 }
        } else if seenPoint {
          point -= 1
        }
      } else {
        break
      }
      at += 1
    }
    if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      var negative = false
      if at < text.count, text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+") {
        negative = text[at] == UInt8(ascii: "-")
        at += 1
      }
      var exponent = 0
      while at < text.count, text[at].isASCIIDigit {
        exponent = min(exponent * 10 + Int(text[at] - UInt8(ascii: "0")), 1 << 40)
        at += 1
      }
      point += negative ? -exponent : exponent
    }
    guard at == text.count, whole > 0 else { return nil }
  }

  /// The number in ASCII digits, with a sign if it is negative; nil if it is not an integer below 10^21.
  public var integerText: [UInt8]? {
    let known = significant
    if known.isEmpty { return [UInt8(ascii: "0")] }
    guard known.count <= point, point <= 21 else { return nil }
    return (isNegative ? [UInt8(ascii: "-")] : []) + known.map { $0 + UInt8(ascii: "0") }
      + Array(repeating: UInt8(ascii: "0"), count: point - known.count)
  }

  /// A key that is equal for numbers of equal value, up to forty digits.
  public var value: [UInt8] {
    let known = significant
    return known.isEmpty ? [] : known + Array("\(isNegative ? "-" : "+")\(point)".utf8)
  }

  /// The digits without trailing zeros.
  private var significant: [UInt8] {
    let known = (0..<count).map { digits[$0] }
    return Array(known[..<(known.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)])
  }

  /// Returns the number times 10^`places`, truncated toward zero; nil if the result exceeds 64 bits.
  public func truncated(scaledBy places: Int) -> Int64? {
    let wanted = point + places
    guard !isZero, wanted > 0 else { return 0 }
    // No 64-bit number has more than 19 digits.
    guard wanted <= 19 else { return nil }
    var value: Int128 = 0
    for index in 0..<wanted { value = value * 10 + (index < count ? Int128(digits[index]) : 0) }
    return Int64(exactly: isNegative ? -value : value)
  }
}
