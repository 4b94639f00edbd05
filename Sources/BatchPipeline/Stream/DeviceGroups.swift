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
  private let groups: OrderedLines
  private var series = LineSeries()

  init() throws { groups = try OrderedLines() }

  mutating func begin(_ device: Text, at line: UInt64) throws {
    series.add([], at: Instant(milliseconds: 0), device, Int64(line))
    if series.isFull { try groups.append(&series) }
  }

  /// - Throws: ``UngroupedStreamError`` for the first group of a device that had one before.
  mutating func refuseRepeated() throws {
    try groups.append(&series)
    var first: OrderedLines.Line?
    var error: UngroupedStreamError?
    try groups.forEach { group in
      guard let begin = first, begin.device == group.device else { return first = group }
      let line = UInt64(group.emission)
      if line < error?.line ?? .max { error = UngroupedStreamError(line: line, first: UInt64(begin.emission)) }
    }
    if let error { throw error }
  }
}
