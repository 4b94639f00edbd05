package import BatchFoundation
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

/// Records from before phones recorded events: mostly numbers that are not seconds since 1970.
package enum PastRecords {
  /// The kind of warning (`docs/words.md`).
  static let kind = "past-record"
  /// The instant before which records are reported: the start of 2008.
  package static let end = Instant(milliseconds: 1_199_145_600_000)

  /// Returns the likely form of a time that was read as seconds since 1970.
  ///
  /// - Parameter asOf: readings more than a day after it are not suggested.
  package static func detail(_ instant: Instant, asOf: Instant) -> String {
    let seconds = instant.milliseconds.flooredQuotient(1000)
    let yearMonthDay = CivilTime(
      year: Int(seconds / 10_000), month: Int(seconds / 100 % 100), day: Int(seconds % 100))
    let readings: [(words: String, milliseconds: Int64?)] = [
      ("seconds since 2001", instant.milliseconds + 978_307_200_000),
      // The day count starts at 1899-12-30.
      ("days of a spreadsheet", (seconds - 25_569) * 86_400_000),
      ("yyyyMMdd", yearMonthDay?.milliseconds),
    ]
    for (words, milliseconds) in readings {
      guard let milliseconds, milliseconds >= end.milliseconds, milliseconds < asOf.milliseconds + 86_400_000 else {
        continue
      }
      return "before 2008; perhaps \(words): \(Instant(milliseconds: milliseconds).rfc3339.prefix(10))"
    }
    return "before 2008"
  }

  /// Returns the note for the end of a run; nil without such records.
  static func note(_ tally: DecisionTally) -> String? {
    guard let warnings = tally.warnings[kind] else { return nil }
    let records = warnings.occurrences.counted("record is dated", "records are dated")
    let first = warnings.examples.first.map { " (the first is \($0.detail))" } ?? ""
    return "\(records) before 2008\(first): check the device's clock or the format of 'timestamp'"
  }
}

/// Records of clocks that are ahead: years, on a phone that lost its time.
///
/// They are processed like others (reference decisions 11), so records of their device until then count as late.
package enum FutureRecords {
  /// The kind of warning (`docs/words.md`).
  static let kind = "future-record"
  /// The distance from `asOf` beyond which a record is in the future: no mistaken time zone is that far off.
  private static let margin = Milliseconds(86_400_000)

  /// Returns the instant after which records are reported.
  package static func begin(asOf: Instant) -> Instant { asOf + margin }

  /// Returns the note for the end of a run; nil without such records.
  static func note(_ tally: DecisionTally, asOf: Instant) -> String? {
    guard let count = tally.warnings[kind]?.occurrences else { return nil }
    let records = count.counted("record is", "records are")
    return
      "\(records) more than a day after asOf, \(asOf.rfc3339): device clocks were ahead, so other records of those devices before that time "
      + "count as late. Correct the export, or end the window before these records: --to \(begin(asOf: asOf).rfc3339)"
  }
}
