package import BatchFoundation

/// Records dated before phones recorded events, usually because their timestamps are not seconds since 1970.
package enum PastRecords {
  /// The kind of warning (`docs/words.md`).
  static let kind = "past-record"
  /// The beginning of every detail.
  private static let words = "before 2008"
  /// The instant before which records are reported: the start of 2008.
  package static let end = Instant(milliseconds: 1_199_145_600_000)

  /// Returns the detail of a warning, with the likely format of the number that was read as seconds since 1970.
  ///
  /// - Parameter asOf: the clock of the run; no format that yields a time more than a day later is suggested.
  package static func detail(_ instant: Instant, asOf: Instant) -> String {
    let seconds = instant.milliseconds.flooredQuotient(1000)
    let yearMonthDay = CivilTime(
      year: Int(seconds / 10_000), month: Int(seconds / 100 % 100), day: Int(seconds % 100))
    let readings: [(reading: String, milliseconds: Int64?)] = [
      ("seconds since 2001", instant.milliseconds + 978_307_200_000),
      // The day count starts at 1899-12-30.
      ("days of a spreadsheet", (seconds - 25_569) * 86_400_000),
      ("yyyyMMdd", yearMonthDay?.milliseconds),
    ]
    for (reading, milliseconds) in readings {
      guard let milliseconds, milliseconds >= end.milliseconds, milliseconds < asOf.milliseconds + 86_400_000 else {
        continue
      }
      return "\(words); perhaps \(reading): \(Instant(milliseconds: milliseconds).rfc3339.prefix(10))"
    }
    return words
  }

  /// Returns the note for the end of a run; nil if there are no such records.
  static func note(_ tally: ProcessingTally) -> String? {
    guard let warnings = tally.warnings[kind] else { return nil }
    let records = warnings.occurrences.counted("record is dated", "records are dated")
    let first = warnings.examples.first.map { $0.detail.dropFirst(words.count) } ?? ""
    return "\(records) \(words)\(first). Check device clocks and the format of 'timestamp'"
  }
}

/// Records from clocks that are ahead, perhaps by years if a phone lost track of the time.
///
/// They are processed like others (reference decisions 11), so records of the device that arrive later but precede that
/// time are late.
package enum FutureRecords {
  /// The kind of warning (`docs/words.md`).
  static let kind = "future-record"
  /// The distance from `asOf` beyond which a record counts as in the future. Time zone errors are smaller.
  private static let margin = Milliseconds(86_400_000)

  /// Returns the instant after which records are reported.
  package static func begin(asOf: Instant) -> Instant { asOf + margin }

  /// Returns the note for the end of a run; nil if there are no such records.
  static func note(_ tally: ProcessingTally, asOf: Instant) -> String? {
    guard let count = tally.warnings[kind]?.occurrences else { return nil }
    let records = count.counted("record is", "records are")
    let (clocks, devices, these) =
      count == 1
      ? ("the device's clock was", "this device", "this record")
      : ("device clocks were", "these devices", "these records")
    return
      "\(records) more than a day after asOf (\(asOf.rfc3339)), probably because \(clocks) ahead: records of \(devices) with earlier timestamps "
      + "count as late in later runs. Correct the export, or end the window before \(these): --to \(begin(asOf: asOf).rfc3339)"
  }
}
