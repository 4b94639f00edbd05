package import EngageModel

/// The one way text is written as JSON (contract section 5): escapes only where JSON demands one, `\u00xx` in lower case, `/` and
/// everything beyond ASCII as they are.
package enum CanonicalJSON {
  /// Bytes that the text takes between its quotes.
  static func escapedCount(_ text: Text) -> Int {
    let first = firstEscape(text, from: 0)
    guard first < text.count else { return text.count }
    var count = text.count
    for index in first..<text.count { count += extraBytes(text[index]) }
    return count
  }

  /// Appends the text escaped, without quotes.
  package static func appendEscaped(_ text: Text, to target: inout ByteBuffer) {
    var start = 0
    while true {
      let end = firstEscape(text, from: start)
      target.append(UnsafeBufferPointer(start: text.base + start, count: end - start))
      guard end < text.count else { return }
      appendEscape(of: text[end], to: &target)
      start = end + 1
    }
  }

  /// Appends the text as a JSON string.
  package static func appendString(_ text: Text, to target: inout ByteBuffer) {
    target.append(UInt8(ascii: "\""))
    appendEscaped(text, to: &target)
    target.append(UInt8(ascii: "\""))
  }

  /// Undoes ``appendEscaped(_:to:)``; for text without a backslash the text itself.
  static func unescaped(_ text: Text, in arena: Arena) -> Text {
    guard var at = text.bytes.firstIndex(of: UInt8(ascii: "\\")) else { return text }
    let target = arena.allocate(text.count).assumingMemoryBound(to: UInt8.self)
    target.update(from: text.base, count: at)
    var count = at
    while at < text.count {
      var byte = text[at]
      at += 1
      if byte == UInt8(ascii: "\\"), at < text.count {
        byte = text[at]
        at += 1
        switch byte {
        case UInt8(ascii: "b"): byte = 8
        case UInt8(ascii: "f"): byte = 12
        case UInt8(ascii: "n"): byte = 10
        case UInt8(ascii: "r"): byte = 13
        case UInt8(ascii: "t"): byte = 9
        case UInt8(ascii: "u") where at + 4 <= text.count:
          byte = hexValue(text[at + 2]) << 4 | hexValue(text[at + 3])
          at += 4
        default: break
        }
      }
      target[count] = byte
      count += 1
    }
    return Text(base: target, count: count)
  }

  /// The first place from `start` on that needs an escape; the length of the text if none does.
  @inline(__always)
  private static func firstEscape(_ text: Text, from start: Int) -> Int {
    let raw = UnsafeRawPointer(text.base)
    var at = start
    while at + 8 <= text.count {
      let word = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      if marks(word) != 0 { break }
      at += 8
    }
    while at < text.count {
      let byte = text[at]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return at }
      at += 1
    }
    return text.count
  }

  /// Non-zero if a byte of the word is a control character, a quote or a backslash; never zero wrongly.
  @inline(__always)
  private static func marks(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let control = (word &- ones &* 0x20) & ~word
    return (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & tops
  }

  private static func extraBytes(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 8, 9, 10, 12, 13: 1
    case 0..<0x20: 5
    default: 0
    }
  }

  private static func appendEscape(of byte: UInt8, to target: inout ByteBuffer) {
    target.append(UInt8(ascii: "\\"))
    switch byte {
    case 8: target.append(UInt8(ascii: "b"))
    case 9: target.append(UInt8(ascii: "t"))
    case 10: target.append(UInt8(ascii: "n"))
    case 12: target.append(UInt8(ascii: "f"))
    case 13: target.append(UInt8(ascii: "r"))
    case 0..<0x20:
      target.append("u00")
      target.append(hexDigit(byte >> 4))
      target.append(hexDigit(byte & 15))
    default: target.append(byte)
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func hexValue(_ digit: UInt8) -> UInt8 {
    digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : (digit | 0x20) - UInt8(ascii: "a") + 10
  }
}
