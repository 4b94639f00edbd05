package import BatchFoundation

/// Converts JSON values to attribute values (reference formats 4.2).
package enum AttributeText {
  /// Returns a scalar's text: strings and integers as written, other numbers as in ECMAScript, null as empty; nil for
  /// arrays and objects.
  @inline(__always)
  package static func scalar(_ value: JSONView, in arena: Arena) -> Text? {
    switch value.kind {
    case .string: value.string
    case .number: value.number.map { number($0, in: arena) }
    case .yes: "true"
    case .no: "false"
    case .null: .empty
    case .array, .object: nil
    }
  }

  static func number(_ text: Text, in arena: Arena) -> Text {
    for byte in text where byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") {
      return ecmaScript(text, in: arena)
    }
    return text
  }

  private static func ecmaScript(_ text: Text, in arena: Arena) -> Text {
    // By far the most frequent case is a short plain decimal that is already the shortest form of its double.
    if isShortDecimal(text) { return text }
    // Ingest rejected numbers beyond the range of a double, so the conversion succeeds.
    guard let value = Double(text.description) else { return text }
    return arena.text(ECMAScriptNumber.text(value))
  }

  /// Returns whether there are at most 15 significant digits, no exponent and no zero to remove, so that the text is
  /// already the shortest for its double.
  private static func isShortDecimal(_ text: Text) -> Bool {
    guard text.count <= 16, text.count >= 3, text[text.count - 1] != UInt8(ascii: "0") else { return false }
    var at = text[0] == UInt8(ascii: "-") ? 1 : 0
    // 0.000001 is the smallest power of ten written without an exponent.
    if text[at] == UInt8(ascii: "0"), at + 2 < text.count, text[at + 2] == UInt8(ascii: "0") { return false }
    var points = 0
    while at < text.count {
      let byte = text[at]
      if byte == UInt8(ascii: ".") {
        points += 1
      } else if byte &- UInt8(ascii: "0") > 9 {
        return false
      }
      at += 1
    }
    return points == 1 && text[text.count - 1] != UInt8(ascii: ".")
  }

  /// Returns the elements of a Tags array joined by commas, skipping empty, null and nested ones (reference events 1.6,
  /// decisions 19). Converts a scalar like ``scalar(_:in:)``; returns nil for an object.
  static func tags(_ value: JSONView, in arena: Arena) -> Text? {
    guard value.kind == .array else { return scalar(value, in: arena) }
    let target = unsafe arena.allocate(value.size * 4).assumingMemoryBound(to: UInt8.self)
    var used = 0
    for element in value.elements where !element.isNull {
      guard let text = scalar(element, in: arena), !text.isEmpty else { continue }
      if used > 0 {
        unsafe target[used] = UInt8(ascii: ",")
        used += 1
      }
      unsafe (target + used).update(from: text.base, count: text.count)
      used += text.count
    }
    return unsafe Text(base: target, count: used)
  }

  static func integer(_ value: Int64, in arena: Arena) -> Text { arena.text(String(value)) }
}

/// Formats finite doubles as ECMAScript's `Number::toString` does.
package enum ECMAScriptNumber {
  package static func text(_ value: Double) -> String {
    if value == 0 { return "0" }
    let (digits, point) = shortestDigits(abs(value))
    let sign = value < 0 ? "-" : ""
    if -5...21 ~= point { return sign + plain(digits, point) }
    let exponent = point - 1
    let mantissa = digits.count == 1 ? digits : digits.prefix(1) + "." + digits.dropFirst()
    return sign + mantissa + (exponent < 0 ? "e-" : "e+") + String(abs(exponent))
  }

  /// Returns 0.DIGITS x 10^point without an exponent.
  static func plain(_ digits: String, _ point: Int) -> String {
    let count = digits.utf8.count
    if point <= 0 { return "0." + String(repeating: "0", count: -point) + digits }
    if point >= count { return digits + String(repeating: "0", count: point - count) }
    return digits.prefix(point) + "." + digits.dropFirst(point)
  }

  /// Returns the fewest digits that parse back to the value, and the position of the decimal point: 0.DIGITS x
  /// 10^point.
  static func shortestDigits(_ value: Double) -> (digits: String, point: Int) {
    // Swift's description already has the shortest digits; only their layout differs.
    let description = value.description.utf8
    let end = description.firstIndex(of: UInt8(ascii: "e")) ?? description.endIndex
    let mantissa = description[..<end]
    let exponent = end == description.endIndex ? 0 : Int(Substring(description[description.index(after: end)...])) ?? 0
    let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }.count
    var digits = mantissa.filter { $0 != UInt8(ascii: ".") }
    while digits.last == UInt8(ascii: "0"), digits.count > 1 { digits.removeLast() }
    let zeros = digits.dropLast().prefix { $0 == UInt8(ascii: "0") }.count
    return (String(decoding: digits[zeros...], as: UTF8.self), whole + exponent - zeros)
  }
}
