package import BatchFoundation

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
    let records = warnings.occurrences.counted("record lies", "records lie")
    let first = warnings.examples.first.map { " (the first is \($0.detail))" } ?? ""
    return
      "\(records) before 2008\(first): their times are perhaps of another form than the export's reader takes them for"
  }
}
