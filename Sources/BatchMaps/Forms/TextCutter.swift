import BatchFoundation
import BatchIngest

/// Splits text that is not UTF-8 into lines.
final class TextCutter: RecordCutter {
  private var decoder: TextDecoder
  private var line: [UInt8] = []
  private var number: UInt64 = 1
  private var offset: UInt64 = 0
  private let longest: Int

  init(_ encoding: TextEncoding, longest: Int) {
    decoder = TextDecoder(encoding)
    self.longest = longest
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? { nil }

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    for byte in unsafe decoder.decode(bytes) {
      guard byte == UInt8(ascii: "\n") else {
        if line.count <= longest { line.append(byte) }
        continue
      }
      end(body)
    }
  }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) { if !isDamaged { end(body) } }

  private func end(_ body: (CutRecord) -> Void) {
    let count = UInt64(line.count) + 1
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    if !line.isEmpty {
      line.withCutRecord(number, offset, fault: line.count > longest ? .lineTooLong : nil, body)
    }
    line.removeAll(keepingCapacity: true)
    number += 1
    offset += count
  }
}

extension [UInt8] {
  /// Passes these bytes to `body` as a record, or as an invalid one if `fault` is given.
  func withCutRecord(
    _ number: UInt64, _ offset: UInt64, fault: QuarantineReason? = nil, detail: String = "", _ body: (CutRecord) -> Void
  ) {
    unsafe withUnsafeBufferPointer { bytes in
      body(unsafe CutRecord(bytes: bytes, number: number, offset: offset, fault: fault, detail: detail))
    }
  }
}

/// Decodes text to UTF-8, from chunks of bytes that may end anywhere.
struct TextDecoder {
  private let encoding: TextEncoding
  /// The bytes of an incomplete UTF-16 character.
  private var rest: [UInt8] = []
  /// Whether UTF-16 is big-endian; nil until the first unit, which may be a byte order mark.
  private var isBigEndian: Bool?

  init(_ encoding: TextEncoding) { self.encoding = encoding }

  var isUTF8: Bool { encoding == .utf8 }

  /// The characters that Windows-1252 assigns to the bytes from 0x80 to 0x9F; 0 for unassigned bytes.
  private static let windows: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]

  /// Returns the text without a byte order mark of UTF-16; surrogates that are not a pair become U+FFFD.
  mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    let units: [UInt16]
    switch encoding {
    case .utf8: return unsafe Array(bytes)
    case .latin1: units = unsafe bytes.map { UInt16($0) }
    case .windows1252:
      units = unsafe bytes.map { byte in
        let mapped = 0x80...0x9F ~= byte ? Self.windows[Int(byte) - 0x80] : 0
        return mapped == 0 ? UInt16(byte) : mapped
      }
    case .utf16: units = unsafe takeUnits(bytes)
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  private mutating func takeUnits(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt16] {
    unsafe rest += bytes
    var end = rest.count / 2 * 2
    var units = stride(from: 0, to: end, by: 2).map { UInt16(rest[$0]) | UInt16(rest[$0 + 1]) << 8 }
    if isBigEndian == nil, let first = units.first {
      isBigEndian = first == 0xFFFE
      if first == 0xFFFE || first == 0xFEFF { units.removeFirst() }
    }
    if isBigEndian == true { units = units.map(\.byteSwapped) }
    if let last = units.last, UTF16.isLeadSurrogate(last) {
      units.removeLast()
      end -= 2
    }
    rest.removeFirst(end)
    return units
  }
}
