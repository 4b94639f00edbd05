public import Glibc

/// Compares two byte strings of equal length; the result has the sign that `memcmp` returns.
@inlinable
public func compareBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Int {
  unsafe Int(memcmp(one, other, count))
}

/// Returns whether byte strings of equal length are equal. Most are short: two overlapping loads cost less than a call.
@inlinable @inline(__always)
public func equalBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
  let (one, other) = unsafe (UnsafeRawPointer(one), UnsafeRawPointer(other))
  switch count {
  case 33...: return unsafe memcmp(one, other, count) == 0
  case 17...:
    func word(_ at: Int) -> UInt64 {
      unsafe one.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        ^ other.loadUnaligned(fromByteOffset: at, as: UInt64.self)
    }
    return word(0) | word(8) | word(count - 16) | word(count - 8) == 0
  case 8...:
    let first = unsafe one.loadUnaligned(as: UInt64.self) ^ other.loadUnaligned(as: UInt64.self)
    let last =
      unsafe (one + count - 8).loadUnaligned(as: UInt64.self) ^ (other + count - 8).loadUnaligned(as: UInt64.self)
    return first | last == 0
  case 4...:
    let first = unsafe one.loadUnaligned(as: UInt32.self) ^ other.loadUnaligned(as: UInt32.self)
    let last =
      unsafe (one + count - 4).loadUnaligned(as: UInt32.self) ^ (other + count - 4).loadUnaligned(as: UInt32.self)
    return first | last == 0
  case 1...:
    func byte(_ raw: UnsafeRawPointer, _ at: Int) -> UInt8 { unsafe raw.load(fromByteOffset: at, as: UInt8.self) }
    return unsafe byte(one, 0) == byte(other, 0) && byte(one, count / 2) == byte(other, count / 2)
      && byte(one, count - 1) == byte(other, count - 1)
  default: return true
  }
}

/// Copies bytes between regions that do not overlap. Most texts are short: two overlapping words cost less than a call.
@inlinable @inline(__always)
public func copyBytes(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int) {
  switch count {
  case 33...: unsafe target.copyMemory(from: source, byteCount: count)
  case 17...:
    let first = unsafe source.loadUnaligned(as: SIMD16<UInt8>.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 16, as: SIMD16<UInt8>.self)
    unsafe target.storeBytes(of: first, as: SIMD16<UInt8>.self)
    unsafe target.storeBytes(of: last, toByteOffset: count - 16, as: SIMD16<UInt8>.self)
  case 8...:
    let first = unsafe source.loadUnaligned(as: UInt64.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    unsafe target.storeBytes(of: first, as: UInt64.self)
    unsafe target.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
  case 4...:
    let first = unsafe source.loadUnaligned(as: UInt32.self)
    let last = unsafe source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
    unsafe target.storeBytes(of: first, as: UInt32.self)
    unsafe target.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
  case 1...:
    let bytes = unsafe (
      source.load(as: UInt8.self), source.load(fromByteOffset: count / 2, as: UInt8.self),
      source.load(fromByteOffset: count - 1, as: UInt8.self)
    )
    unsafe target.storeBytes(of: bytes.0, as: UInt8.self)
    unsafe target.storeBytes(of: bytes.1, toByteOffset: count / 2, as: UInt8.self)
    unsafe target.storeBytes(of: bytes.2, toByteOffset: count - 1, as: UInt8.self)
  default: break
  }
}

extension UInt8 {
  @inlinable package var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }

  @inlinable package var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }

  @inlinable package var isASCIILetterOrDigit: Bool { isASCIILetter || isASCIIDigit }

  /// Whether the byte is an ASCII space, tab, line feed, vertical tab, form feed or carriage return.
  @inlinable package var isASCIIWhitespace: Bool { self == 0x20 || self &- 0x09 < 5 }
}

extension Collection<UInt8> {
  /// The length of the UTF-8 byte order mark at the beginning: 3 bytes, or 0 if there is none.
  package var byteOrderMarkLength: Int { starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}

extension BidirectionalCollection {
  /// Returns the collection without the elements at either end for which `isBlank` is true.
  package func trimming(while isBlank: (Element) -> Bool) -> SubSequence {
    guard let start = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
      return self[endIndex...]
    }
    return self[start...last]
  }
}

public enum Hexadecimal {
  public static let lowercase = Array("0123456789abcdef".utf8)
  public static let uppercase = Array("0123456789ABCDEF".utf8)

  /// Returns the bytes as two lower-case hexadecimal digits each.
  public static func text(of bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [lowercase[Int($0 >> 4)], lowercase[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Returns all hexadecimal digits of a number in lower case, including leading zeros.
  public static func text<Number: FixedWidthInteger & UnsignedInteger>(of number: Number) -> String {
    String(number, radix: 16).zeroPadded(to: Number.bitWidth / 4)
  }

  /// Returns the value of a hexadecimal digit in either case; nil for anything else.
  public static func value(of digit: UInt8) -> UInt8? {
    if digit.isASCIIDigit { return digit - UInt8(ascii: "0") }
    let place = (digit | 0x20) &- UInt8(ascii: "a")
    return place < 6 ? place + 10 : nil
  }
}

/// The percent escapes of URLs and forms.
package enum PercentEncoding {
  /// Appends the bytes, escaping all but ASCII letters, digits, `-`, `.`, `_` and those in `kept`.
  package static func append(_ bytes: some Sequence<UInt8>, keeping kept: String, to target: inout [UInt8]) {
    for byte in bytes {
      guard !byte.isASCIILetterOrDigit, !"-._".utf8.contains(byte), !kept.utf8.contains(byte) else {
        target.append(byte)
        continue
      }
      target += [UInt8(ascii: "%"), Hexadecimal.uppercase[Int(byte >> 4)], Hexadecimal.uppercase[Int(byte & 15)]]
    }
  }

  /// Decodes a value of a form, in which `+` is a space; returns nil for a `%` without two hexadecimal
  /// digits.
  package static func decodedForm(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(Hexadecimal.value), let low = rest.next().flatMap(Hexadecimal.value)
        else { return nil }
        decoded.append(high << 4 | low)
      default: decoded.append(byte)
      }
    }
    return decoded
  }
}

/// A string that is compared by its UTF-8 bytes (reference decisions 11), for ids and column names. `String` treats
/// canonically equivalent values as equal, but the service does not.
public struct ByteText: Sendable {
  public let string: String

  public init(_ string: String) { self.string = string }

  public static var empty: ByteText { ByteText("") }

  public var isEmpty: Bool { string.utf8.isEmpty }
}

extension ByteText: Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  public static func == (one: ByteText, other: ByteText) -> Bool {
    one.string.isIdentical(to: other.string)
  }

  public static func < (one: ByteText, other: ByteText) -> Bool {
    one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  public init(stringLiteral literal: String) { self.init(literal) }

  public var description: String { string }
}

extension ByteText: Codable, CodingKeyRepresentable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }

  public var codingKey: any CodingKey { Key(stringValue: string) }

  public init?<Other: CodingKey>(codingKey: Other) { self.init(codingKey.stringValue) }
}

extension String {
  /// Returns whether both have the same UTF-8 bytes; canonical equivalence is not enough.
  public func isIdentical(to other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let fast = unsafe utf8.withContiguousStorageIfAvailable { ours in
      unsafe other.utf8.withContiguousStorageIfAvailable { theirs in
        guard let ours = ours.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe compareBytes(ours, theirs, other.utf8.count) == 0
      }
    }
    return fast.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}

/// Returns the offset of the first invalid UTF-8 sequence (RFC 3629), such as a surrogate, an overlong encoding or a
/// value above U+10FFFF; nil if there is none.
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
