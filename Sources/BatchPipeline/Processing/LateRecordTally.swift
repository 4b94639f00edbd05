import BatchFoundation
import BatchIngest

/// The number and times of the late records that are beyond the reach of a rewind (reference decisions 34).
struct LateRecordTally: Sendable {
  private(set) var count = 0
  /// The times of the earliest and the latest late record; meaningless if ``count`` is 0.
  private(set) var first = Instant.last
  private(set) var last = Instant(milliseconds: 0)
  /// The position of one late record in each file, by file number.
  private var places: [UInt32: RecordPosition] = [:]
  private static let namesListed = 3

  /// Adds the late records of a device.
  mutating func add(_ records: RecordList) {
    for entry in records {
      count += 1
      first = min(first, entry.timestamp)
      last = max(last, entry.timestamp)
      places[entry.position.file] = entry.position
    }
  }

  static func += (total: inout LateRecordTally, part: LateRecordTally) {
    total.count += part.count
    total.first = min(total.first, part.first)
    total.last = max(total.last, part.last)
    total.places.merge(part.places) { $1 }
  }

  /// Returns the names of the first few files and the number of the others, in words.
  func fileNames(_ files: InputFiles) -> String {
    let names = Set(places.values.compactMap { files.source(of: $0)?.file }).sorted()
    let listed = names.prefix(Self.namesListed).map { "'\($0.printable)'" }.joined(separator: ", ")
    let rest = names.count - Self.namesListed
    return rest > 0 ? "\(listed) and \(rest.counted("other file"))" : listed
  }
}
