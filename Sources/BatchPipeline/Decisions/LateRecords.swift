import BatchFoundation
import BatchIngest

/// Records before the processed ones of their devices, and beyond the reach of a rewind (reference decisions 34).
struct LateRecords: Sendable {
  private(set) var count = 0
  /// The times of the first and the last late record.
  private(set) var first = Instant.last
  private(set) var last = Instant(milliseconds: 0)
  /// One position in each of the files that they were read from.
  private var places: [UInt32: RecordPosition] = [:]
  private static let namesTold = 3

  /// Adds a device's records from before its processed time.
  mutating func add(_ records: RecordList) {
    for entry in records {
      count += 1
      first = min(first, entry.timestamp)
      last = max(last, entry.timestamp)
      places[entry.position.file] = entry.position
    }
  }

  static func += (total: inout LateRecords, part: LateRecords) {
    total.count += part.count
    total.first = min(total.first, part.first)
    total.last = max(total.last, part.last)
    total.places.merge(part.places) { $1 }
  }

  /// Returns the files as text, the first few by name.
  func fileNames(_ files: InputFiles) -> String {
    let names = Set(places.values.compactMap { files.source(of: $0)?.file }).sorted()
    let told = names.prefix(Self.namesTold).map { "'\($0.printable)'" }.joined(separator: ", ")
    let rest = names.count - Self.namesTold
    return rest > 0 ? "\(told) and \(rest.counted("other file"))" : told
  }
}
