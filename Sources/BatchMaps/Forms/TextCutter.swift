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
  /// The first byte of an incomplete UTF-16 unit.
  private var rest: [UInt8] = []
  private var isBigEndian = false
  private var hasStarted = false
  private var high: UInt16?

  init(_ encoding: TextEncoding) { self.encoding = encoding }

  var isUTF8: Bool { encoding == .utf8 }

  /// The characters that Windows-1252 assigns to the bytes from 0x80 to 0x9F; 0 for unassigned bytes.
  private static let windows: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]

  mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for index in bytes.indices {
      let byte = unsafe bytes[index]
      switch encoding {
      case .utf8: text.append(byte)
      case .latin1: Self.append(UInt32(byte), to: &text)
      case .windows1252:
        let mapped = 0x80...0x9F ~= byte ? UInt32(Self.windows[Int(byte) - 0x80]) : 0
        Self.append(mapped == 0 ? UInt32(byte) : mapped, to: &text)
      case .utf16: take(byte, &text)
      }
    }
    return text
  }

  private mutating func take(_ byte: UInt8, _ text: inout [UInt8]) {
    rest.append(byte)
    guard rest.count == 2 else { return }
    let unit = isBigEndian ? UInt16(rest[0]) << 8 | UInt16(rest[1]) : UInt16(rest[1]) << 8 | UInt16(rest[0])
    rest.removeAll(keepingCapacity: true)
    if !hasStarted {
      hasStarted = true
      if unit == 0xFEFF { return }
      if unit == 0xFFFE {
        isBigEndian = true
        return
      }
    }
    if let first = high {
      high = nil
      if 0xDC00...0xDFFF ~= unit {
        return Self.append(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(unit) - 0xDC00), to: &text)
      }
      Self.append(0xFFFD, to: &text)
    }
    switch unit {
    case 0xD800...0xDBFF: high = unit
    case 0xDC00...0xDFFF: Self.append(0xFFFD, to: &text)
    default: Self.append(UInt32(unit), to: &text)
    }
  }

  private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
    text.append(contentsOf: Unicode.Scalar(scalar).map { Array(String($0).utf8) } ?? [0xEF, 0xBF, 0xBD])
  }
}
