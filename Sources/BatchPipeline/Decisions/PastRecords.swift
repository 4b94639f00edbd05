import BatchFoundation

/// Records from before there were phones that record: mostly numbers that count something else than seconds since 1970.
enum PastRecords {
  /// The kind of warning (`docs/warnings.md`).
  static let kind = "past-record"
  /// Records before this instant are told: 2008.
  static let end = Instant(milliseconds: 1_199_145_600_000)

  /// What a time that was read as seconds since 1970 perhaps is.
  ///
  /// - Parameter asOf: nothing is taken for a time more than a day behind it.
  static func detail(_ instant: Instant, asOf: Instant) -> String {
    let seconds = instant.milliseconds.flooredQuotient(1000)
    let yearMonthDay = CivilTime(
      year: Int(seconds / 10_000), month: Int(seconds / 100 % 100), day: Int(seconds % 100))
    let readings: [(words: String, milliseconds: Int64?)] = [
      ("seconds since 2001", instant.milliseconds + 978_307_200_000),
      // Counted from the day before 1900.
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

  /// What they mean, for the end of a run that met some; nil for one that met none.
  static func note(_ tally: DecisionTally) -> String? {
    guard let warnings = tally.warnings[kind] else { return nil }
    let records = warnings.occurrences.counted("record lies", "records lie")
    let first = warnings.examples.first.map { " (the first is \($0.detail))" } ?? ""
    return
      "\(records) before 2008\(first): their times are perhaps of another form than the export's reader takes them for"
  }
}
