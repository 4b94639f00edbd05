package import BatchFoundation
import BatchStore

/// The error of one device's records that came in several groups, each processed as if it were complete.
package struct UngroupedStreamError: RunError, Equatable, CustomStringConvertible {
  /// The line of the first record after records of other devices.
  package var line: UInt64
  /// The line of the device's first record.
  package var first: UInt64

  package var exit: RunExit { .inputRefused }

  package var description: String {
    "stdin:\(line): error: the records of a device that began at line \(first) continue here, behind those of another, so its "
      + "events are wrong. A stream has to be grouped by device: sort it, or use 'run', which takes any order"
  }
}

/// The starts of all groups of one device's records in a stream, in any number: they are spooled to a temporary file,
/// each as an empty line, with the device for sorting and the number of its first line as emission number.
struct DeviceGroups {
  private static let seriesBytes = 4 << 20

  private let folder: String
  private let groups: OrderedLines
  private var series = LineSeries()

  init(folder: String) throws {
    self.folder = folder
    groups = try OrderedLines(folder: folder)
  }

  mutating func begin(_ device: Text, at line: UInt64) throws {
    series.add([], at: Instant(milliseconds: 0), device, Int64(line))
    if series.byteCount > Self.seriesBytes { try groups.append(&series) }
  }

  /// - Throws: ``UngroupedStreamError`` for the first group of a device that had one before.
  mutating func refuseRepeated() throws {
    try groups.append(&series)
    let codec = LineCodec()
    var merge = try EventMerge(EventMerge.narrowed(groups.sequences, codec: codec, folder: folder), codec: codec)
    var device: [UInt8]?
    var first: UInt64 = 0
    var error: UngroupedStreamError?
    while let next = merge.device, let emission = merge.emission {
      let line = UInt64(emission)
      if let device, unsafe next.bytes.elementsEqual(device) {
        if line < error?.line ?? .max { error = UngroupedStreamError(line: line, first: first) }
      } else {
        device = unsafe Array(next.bytes)
        first = line
      }
      try merge.skip()
    }
    if let error { throw error }
  }
}
