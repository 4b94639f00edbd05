import BatchFoundation
import BatchStore

/// A line of a block of nothing but lines, so that tests of orders need no events.
struct Line {
  var timestamp: Int64
  var device: String
  var emission: Int64
  var text: String

  /// Returns lines, which are in order, as blocks of a few KB.
  static func blocks(of lines: [Line]) -> [[UInt8]] {
    var writer = EventBlockWriter(.lines, limits: RequestLimits(maxEvents: .max, maxBodyBytes: 16 << 10))
    let arena = Arena(blockSize: 1 << 14)
    for line in lines {
      let device = arena.text(line.device)
      let head = EventHead(
        type: "", timestamp: Instant(milliseconds: line.timestamp), device: device, emission: line.emission,
        lead: .raw(arena.text(line.text)))
      [device].withUnsafeBufferPointer {
        writer.append(head, shared: $0, fields: UnsafeBufferPointer(start: nil, count: 0))
      }
    }
    let blocks = writer.take()
    return blocks.entries.indices.map { blocks.block($0) }
  }
}

extension WireForm {
  static let lines = WireForm(body: ("", ""), pieces: [.lead], shared: [Shared("", isHidden: true)])
}
