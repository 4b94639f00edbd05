internal import CBytes

/// Reads numbers, which are checked and kept as written.
extension JSONReader {
  /// Reads the number at `at` and moves `at` past it; a number beyond the range of `Double` is noted as a flaw.
  @inline(__always)
  static func number(
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
  private static func digitsEnd(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
    var at = start
    while at < end, unsafe base[at].isASCIIDigit { at += 1 }
    return at
  }
}

/// Reads strings: in place if they have no escapes; otherwise unescaped into the reader's memory.
extension JSONReader {
  /// Reads the string whose opening quote is at `at` and moves `at` past its closing quote.
  @inline(__always)
  mutating func string(
    _ base: UnsafePointer<UInt8>, _ at: inout Int, _ end: Int, _ flaws: inout JSONFlaws
  ) throws(JSONSyntaxError) -> Text {
    let start = at + 1
    let stop = unsafe plainEnd(base, start, end)
    guard stop < end else { throw JSONSyntaxError(offset: at) }
    if unsafe base[stop] == UInt8(ascii: "\"") {
      at = stop + 1
      return unsafe Text(base: base + start, count: stop - start)
    }
    return try unsafe escapedString(base, &at, stop, end, &flaws)
  }

  /// Returns the offset of the first quote, backslash or control character from `start` on; `end` if there is none.
  @inline(__always)
  private func plainEnd(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
    unsafe start + engage_count_plain(base + start, end - start)
  }

  private mutating func escapedString(
    _ base: UnsafePointer<UInt8>, _ at: inout Int, _ firstStop: Int, _ end: Int, _ flaws: inout JSONFlaws
  ) throws(JSONSyntaxError) -> Text {
    scratchUsed = true
    let start = at + 1
    // An escape is never shorter than its result, so the source up to the closing quote bounds the result.
    var close = firstStop
    while close < end, unsafe base[close] != UInt8(ascii: "\"") {
      guard unsafe base[close] == UInt8(ascii: "\\"), close + 1 < end else { throw JSONSyntaxError(offset: close) }
      close = unsafe plainEnd(base, close + 2, end)
    }
    guard close < end else { throw JSONSyntaxError(offset: at) }
    let target = unsafe scratch.allocate(close - start).assumingMemoryBound(to: UInt8.self)
    var used = firstStop - start
    unsafe target.update(from: base + start, count: used)
    var from = firstStop
    while from < close {
      guard unsafe base[from] == UInt8(ascii: "\\") else {
        let plain = unsafe engage_copy_plain(base + from, close - from, target + used)
        (from, used) = (from + plain, used + plain)
        continue
      }
      from += 2
      let letter = unsafe base[from - 1]
      if let byte = JSONString.escapedByte(letter) {
        unsafe target[used] = byte
        used += 1
        continue
      }
      let escape = from - 2
      guard letter == UInt8(ascii: "u"), var scalar = unsafe hexadecimal(base, from, close) else {
        throw JSONSyntaxError(offset: escape)
      }
      from += 4
      if scalar & 0xFC00 == 0xD800, from + 6 <= close, unsafe base[from] == UInt8(ascii: "\\"),
        unsafe base[from + 1] == UInt8(ascii: "u"), let low = unsafe hexadecimal(base, from + 2, close),
        low & 0xFC00 == 0xDC00
      {
        scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
        from += 6
      }
      if scalar & 0xFFFF_F800 == 0xD800 {
        if flaws.unpairedSurrogate == nil { flaws.unpairedSurrogate = escape }
        scalar = 0xFFFD
      }
      if scalar == 0, flaws.nulCharacter == nil { flaws.nulCharacter = escape }
      unsafe used += encode(scalar, target + used)
    }
    at = close + 1
    return unsafe Text(base: target, count: used)
  }

  private func hexadecimal(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> UInt32? {
    guard start + 4 <= end else { return nil }
    var value: UInt32 = 0
    for at in start..<start + 4 {
      guard let digit = unsafe Hexadecimal.value(of: base[at]) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  private func encode(_ scalar: UInt32, _ target: UnsafeMutablePointer<UInt8>) -> Int {
    switch scalar {
    case 0..<0x80:
      unsafe target[0] = UInt8(scalar)
      return 1
    case 0x80..<0x800:
      unsafe target[0] = UInt8(0xC0 | scalar >> 6)
      unsafe target[1] = UInt8(0x80 | scalar & 0x3F)
      return 2
    case 0x800..<0x10000:
      unsafe target[0] = UInt8(0xE0 | scalar >> 12)
      unsafe target[1] = UInt8(0x80 | scalar >> 6 & 0x3F)
      unsafe target[2] = UInt8(0x80 | scalar & 0x3F)
      return 3
    default:
      unsafe target[0] = UInt8(0xF0 | scalar >> 18)
      unsafe target[1] = UInt8(0x80 | scalar >> 12 & 0x3F)
      unsafe target[2] = UInt8(0x80 | scalar >> 6 & 0x3F)
      unsafe target[3] = UInt8(0x80 | scalar & 0x3F)
      return 4
    }
  }
}
