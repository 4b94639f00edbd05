import BatchFoundation
import BatchIngest

/// Cuts text of another encoding into lines.
final class LineCutter: RecordCutter {
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
  /// Hands these bytes to `body` as a record, or as what is none.
  func withCutRecord(
    _ number: UInt64, _ offset: UInt64, fault: QuarantineReason? = nil, detail: String = "", _ body: (CutRecord) -> Void
  ) {
    unsafe withUnsafeBufferPointer { bytes in
      body(unsafe CutRecord(bytes: bytes, number: number, offset: offset, fault: fault, detail: detail))
    }
  }
}
