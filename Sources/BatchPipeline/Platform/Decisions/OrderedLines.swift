package import BatchFoundation
package import BatchStore

/// Lines about events that deciders write for a separate file, such as `--findings-out`.
///
/// They are spooled to a file without a name, in one sorted series from each stretch, and merged into the order of
/// delivery once all are there; so their number is not limited.
package final class OrderedLines: Sendable {
  private let spool: EventSpool

  package init(folder: String) throws { spool = try EventSpool(folder: folder) }

  /// Adds the lines of a series, which is empty afterwards.
  package func append(_ series: inout LineSeries) throws { try spool.append(series.finish()) }

  /// All lines in sequences by time, device and emission number, to be merged with ``LineCodec``.
  package var sequences: [BlockSequence] { spool.sequences() }
}

/// Lines of one worker for ``OrderedLines``, in any order.
package struct LineSeries {
  private struct Entry {
    var timestamp: Instant
    var emission: Int64
    var device: Range<Int>
    var line: Range<Int>
  }

  /// The size of a block; a merge holds one block of each series.
  private static let blockBytes = 16 << 10
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  package init() {}

  /// The approximate number of bytes of the lines in memory.
  package var byteCount: Int { bytes.count }

  /// Adds a line, given without its end.
  package mutating func add(
    _ line: some Collection<UInt8>, at timestamp: Instant, _ device: Text, _ emission: Int64
  ) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: device.bytes)
    let middle = bytes.count
    bytes.append(contentsOf: line)
    entries.append(
      Entry(timestamp: timestamp, emission: emission, device: start..<middle, line: middle..<bytes.count))
  }

  /// Returns the lines in order, as blocks of ``LineCodec``, and removes them.
  mutating func finish() -> EventBlocks {
    let bytes = bytes
    entries.sort { one, other in
      if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
      let (device, otherDevice) = (bytes[one.device], bytes[other.device])
      if !device.elementsEqual(otherDevice) { return device.lexicographicallyPrecedes(otherDevice) }
      return one.emission < other.emission
    }
    var blocks = EventBlocks()
    var next = 0
    while next < entries.count {
      let (start, first) = (blocks.bytes.count, next)
      repeat {
        append(entries[next], to: &blocks.bytes)
        next += 1
      } while next < entries.count && blocks.bytes.count - start < Self.blockBytes
      blocks.entries.append(
        EventBlocks.Entry(
          offset: start, length: blocks.bytes.count - start, events: next - first, expired: 0,
          first: entries[first].timestamp, last: entries[next - 1].timestamp, bodyBytes: 0))
    }
    self = LineSeries()
    return blocks
  }

  private func append(_ entry: Entry, to block: inout [UInt8]) {
    unsafe bytes.withUnsafeBytes {
      unsafe LineCodec.append(
        UnsafeRawBufferPointer(rebasing: $0[entry.line]), at: entry.timestamp,
        UnsafeRawBufferPointer(rebasing: $0[entry.device]), entry.emission, to: &block)
    }
  }
}
