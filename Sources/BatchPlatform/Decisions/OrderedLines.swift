package import BatchFoundation
import BatchThreads

/// Lines about events that deciders write for a file of their own, such as `--findings-out`; in the end they have the order of delivery.
package final class OrderedLines: Sendable {
  private struct Line {
    var timestamp: Instant
    var device: [UInt8]
    var emission: Int64
    var bytes: [UInt8]
  }

  private let lines = Guarded<[Line]>([])

  package init() {}

  /// - Parameter bytes: without a line end.
  package func add(_ bytes: [UInt8], at timestamp: Instant, _ device: Text, _ emission: Int64) {
    let line = Line(timestamp: timestamp, device: Array(device.bytes), emission: emission, bytes: bytes)
    lines.withLock { $0.append(line) }
  }

  /// All lines by time, device and emission number, each with its line end.
  package func sorted() -> [[UInt8]] {
    let all = lines.withLock { $0 }
    return all.sorted { one, other in
      if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
      if one.device != other.device { return one.device.lexicographicallyPrecedes(other.device) }
      return one.emission < other.emission
    }.map { $0.bytes + [UInt8(ascii: "\n")] }
  }
}
