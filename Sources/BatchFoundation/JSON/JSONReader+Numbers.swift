/// Numbers: checked and kept as they are written.
extension JSONReader {
  /// Reads the number that starts at `at` and leaves `at` behind it; one that no `Double` holds is noted as a flaw.
  @inline(__always)
  func number(
    _ base: UnsafePointer<UInt8>, _ at: inout Int, _ end: Int, _ flaws: inout JSONFlaws
  ) throws(JSONSyntaxError) -> Text {
    let start = at
    var to = at
    if unsafe base[to] == UInt8(ascii: "-") { to += 1 }
    let whole = to
    to = unsafe digitsEnd(base, to, end)
    guard to > whole, unsafe to == whole + 1 || base[whole] != UInt8(ascii: "0") else {
      throw JSONSyntaxError(offset: start)
    }
    var mayOverflow = to - whole > 300
    if to < end, unsafe base[to] == UInt8(ascii: ".") {
      let fraction = to + 1
      to = unsafe digitsEnd(base, fraction, end)
      guard to > fraction else { throw JSONSyntaxError(offset: start) }
    }
    if to < end, unsafe base[to] | 0x20 == UInt8(ascii: "e") {
      to += 1
      if to < end, unsafe base[to] == UInt8(ascii: "+") || base[to] == UInt8(ascii: "-") { to += 1 }
      let exponent = to
      to = unsafe digitsEnd(base, exponent, end)
      guard to > exponent else { throw JSONSyntaxError(offset: start) }
      mayOverflow = true
    }
    at = to
    let text = unsafe Text(base: base + start, count: to - start)
    if mayOverflow, flaws.numberOutOfRange == nil, text.double == nil { flaws.numberOutOfRange = start }
    return text
  }

  @inline(__always)
  private func digitsEnd(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
    var at = start
    while at < end, unsafe base[at] &- UInt8(ascii: "0") < 10 { at += 1 }
    return at
  }
}
