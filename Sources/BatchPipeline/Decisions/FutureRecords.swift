package import BatchFoundation

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
    let records = count.counted("record lies", "records lie")
    return
      "\(records) more than a day after asOf, \(asOf.rfc3339): clocks of devices were ahead, and what those devices record until then "
      + "counts as late. Correct the export, or leave such records out by the end of a window: --to \(begin(asOf: asOf).rfc3339)"
  }
}
