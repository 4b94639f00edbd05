/// Returns the offset of the first byte that is not valid UTF-8 by RFC 3629, such as one of a surrogate, an overlong
/// form or a value above U+10FFFF; nil if there is none.
package func firstInvalidUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
  guard let base = bytes.baseAddress else { return nil }
  let end = bytes.count
  var at = 0
  while true {
    at = unsafe asciiEnd(base, at, end)
    guard at < end else { return nil }
    let length = unsafe sequenceLength(base, at, end)
    guard length > 0 else { return at }
    at += length
  }
}

@inline(__always)
private func asciiEnd(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
  var at = start
  let highs: UInt64 = 0x8080_8080_8080_8080
  while at + 32 <= end {
    let raw = unsafe UnsafeRawPointer(base + at)
    let all =
      unsafe raw.loadUnaligned(as: UInt64.self) | raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      | raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self) | raw.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    if all & highs != 0 { break }
    at += 32
  }
  while at + 8 <= end {
    let found = unsafe UInt64(littleEndian: UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)) & highs
    if found != 0 { return at + found.trailingZeroBitCount / 8 }
    at += 8
  }
  while at < end, unsafe base[at] < 0x80 { at += 1 }
  return at
}

/// Returns the length of the multi-byte sequence at `at`, or 0 if it is invalid.
@inline(__always)
private func sequenceLength(_ base: UnsafePointer<UInt8>, _ at: Int, _ end: Int) -> Int {
  let lead = unsafe base[at]
  let left = end - at
  func isTail(_ index: Int) -> Bool { unsafe base[at + index] & 0xC0 == 0x80 }
  switch lead {
  case 0xC2...0xDF:
    return left >= 2 && isTail(1) ? 2 : 0
  case 0xE0...0xEF:
    guard left >= 3, isTail(1), isTail(2) else { return 0 }
    let second = unsafe base[at + 1]
    if lead == 0xE0, second < 0xA0 { return 0 }
    if lead == 0xED, second > 0x9F { return 0 }
    return 3
  case 0xF0...0xF4:
    guard left >= 4, isTail(1), isTail(2), isTail(3) else { return 0 }
    let second = unsafe base[at + 1]
    if lead == 0xF0, second < 0x90 { return 0 }
    if lead == 0xF4, second > 0x8F { return 0 }
    return 4
  default:
    return 0
  }
}
