package import BatchFoundation
package import BatchStore

/// The form of lines about events before their merge: each follows its time, its emission number and its device.
///
/// The form never outlives the run, so it uses the machine's byte order.
package struct LineCodec: EventCodec {
  package init() {}

  package func cursor(of block: [UInt8]) throws -> any EventCursor { LineCursor(block) }

  package func writer(_ limits: BlockLimits) -> any BlockWriter { LineWriter() }

  /// Always throws: lines are not part of any request.
  package func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws {
    throw StoreError.damagedBlock
  }

  static func append(
    _ line: UnsafeRawBufferPointer, at timestamp: Instant, _ device: UnsafeRawBufferPointer, _ emission: Int64,
    to block: inout [UInt8]
  ) {
    for word in [timestamp.milliseconds, emission, Int64(device.count), Int64(line.count)] {
      unsafe withUnsafeBytes(of: word) { unsafe block.append(contentsOf: $0) }
    }
    unsafe block.append(contentsOf: device)
    unsafe block.append(contentsOf: line)
  }
}

private final class LineCursor: EventCursor {
  private var lines: ByteBuffer
  private var at = 0
  private(set) var timestamp = Instant(milliseconds: 0)
  private(set) var emission: Int64 = 0
  private(set) var device = Text.empty
  private(set) var line = Text.empty
  let type = Text.empty
  let isExpired = false
  let source = StoredSource.unknown

  init(_ block: [UInt8]) {
    lines = ByteBuffer(capacity: block.count)
    unsafe block.withUnsafeBufferPointer { unsafe lines.append($0) }
  }

  func next() -> Bool {
    guard at < lines.count else { return false }
    timestamp = Instant(milliseconds: word())
    emission = word()
    let (deviceBytes, lineBytes) = (Int(word()), Int(word()))
    device = unsafe Text(base: lines.base + at, count: deviceBytes)
    line = unsafe Text(base: lines.base + at + deviceBytes, count: lineBytes)
    at += deviceBytes + lineBytes
    return true
  }

  private func word() -> Int64 {
    defer { at += 8 }
    return unsafe UnsafeRawPointer(lines.base + at).loadUnaligned(as: Int64.self)
  }

  func appendJSON(to target: inout ByteBuffer) { target.append(line) }
}

private final class LineWriter: BlockWriter {
  private var series = LineSeries()

  func append(_ event: any EventCursor, emission: Int64) {
    // A merge passes a codec only the cursors that the codec made.
    guard let cursor = event as? LineCursor else { preconditionFailure("a cursor of another codec") }
    unsafe series.add(cursor.line.bytes, at: cursor.timestamp, cursor.device, emission)
  }

  func finish() -> EventBlocks { series.finish() }
}
