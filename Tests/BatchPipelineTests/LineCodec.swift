import BatchFoundation
import BatchStore

/// Blocks of nothing but lines, so that tests of orders need no events.
struct LineCodec: EventCodec {
  struct Line {
    var timestamp: Int64
    var device: String
    var emission: Int64
    var text: String
  }

  /// Returns lines, which are in order, as blocks of a few KB.
  static func blocks(of lines: [Line]) -> [[UInt8]] {
    var blocks: [[UInt8]] = []
    for line in lines {
      if blocks.last?.count ?? .max > 16 << 10 { blocks.append([]) }
      let (device, text) = (Array(line.device.utf8), Array(line.text.utf8))
      for word in [line.timestamp, line.emission, Int64(device.count), Int64(text.count)] {
        withUnsafeBytes(of: word) { blocks[blocks.count - 1] += $0 }
      }
      blocks[blocks.count - 1] += device + text
    }
    return blocks
  }

  func cursor(of block: [UInt8]) throws -> any EventCursor { LineCursor(block) }

  func writer(_ limits: BlockLimits) -> any BlockWriter { preconditionFailure("lines are only read") }

  func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws {
    throw StoreError.damagedBlock
  }
}

private final class LineCursor: EventCursor {
  private var lines: ByteBuffer
  private var at = 0
  private(set) var timestamp = Instant(milliseconds: 0)
  private(set) var emission: Int64 = 0
  private(set) var device = Text.empty
  private var line = Text.empty
  let type = Text.empty
  let isExpired = false
  let source = StoredSource.unknown

  init(_ block: [UInt8]) {
    lines = ByteBuffer(capacity: block.count)
    block.withUnsafeBufferPointer { lines.append($0) }
  }

  func next() -> Bool {
    guard at < lines.count else { return false }
    timestamp = Instant(milliseconds: word())
    emission = word()
    let (deviceBytes, lineBytes) = (Int(word()), Int(word()))
    device = Text(base: lines.base + at, count: deviceBytes)
    line = Text(base: lines.base + at + deviceBytes, count: lineBytes)
    at += deviceBytes + lineBytes
    return true
  }

  private func word() -> Int64 {
    defer { at += 8 }
    return UnsafeRawPointer(lines.base + at).loadUnaligned(as: Int64.self)
  }

  func appendJSON(to target: inout ByteBuffer) { target.append(line) }
}
