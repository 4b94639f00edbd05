import ArgumentParser
import BatchConfiguration
import BatchFoundation

extension Instant {
  /// Parses a time for the `transform` of an option: RFC 3339; a day such as `2026-01-31`, meaning its first instant in
  /// UTC; or a value of a job's window, such as `yesterday` or `today-P7D`, by the clock and the calendar of UTC.
  @Sendable static func argument(_ text: String) throws(ValidationError) -> Instant {
    try argument(text, at: .now)
  }

  /// - Parameter now: The reference time for relative values.
  static func argument(_ text: String, at now: Instant) throws(ValidationError) -> Instant {
    if let instant = RelativeWindow.instant(text, at: now) { return instant }
    throw ValidationError(
      CivilTime.isImpossibleDay(text)
        ? "there is no such day"
        : "write a time as 2026-01-31T08:00:00Z, a day as 2026-01-31, or words as yesterday or today-P7D")
  }
}
