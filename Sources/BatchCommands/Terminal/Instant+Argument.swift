import ArgumentParser
import BatchConfiguration
import BatchFoundation

extension Instant {
  /// A time on the command line, for the `transform` of an option: RFC 3339; a day such as `2026-01-31`, which is its first instant in
  /// UTC; or what a window of a job takes, such as `yesterday` or `today-P7D`, by the clock and the calendar of UTC.
  @Sendable static func argument(_ text: String) throws(ValidationError) -> Instant {
    try argument(text, at: .now)
  }

  /// - Parameter now: what words count from.
  static func argument(_ text: String, at now: Instant) throws(ValidationError) -> Instant {
    if let instant = RelativeWindow.instant(text, at: now) { return instant }
    throw ValidationError(
      CivilTime.isImpossibleDay(text)
        ? "there is no such day"
        : "write a time as 2026-01-31T08:00:00Z, a day as 2026-01-31, or words as yesterday or today-P7D")
  }
}
