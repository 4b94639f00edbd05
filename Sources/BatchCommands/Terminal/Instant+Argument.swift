public import ArgumentParser
import BatchConfiguration
package import BatchFoundation

extension Instant: ExpressibleByArgument {
  /// A time on the command line: RFC 3339; a day such as `2026-01-31`, which is its first instant in UTC; or what a window of a job
  /// takes, such as `yesterday` or `today-P7D`, by the clock and the calendar of UTC.
  package init?(argument: String) {
    self.init(argument: argument, at: .now)
  }

  /// - Parameter now: what words count from.
  package init?(argument: String, at now: Instant) {
    guard
      let instant = Instant.parse(rfc3339: argument) ?? Instant.parse(rfc3339: "\(argument)T00:00:00Z")
        ?? RelativeWindow.instant(argument, at: now)
    else { return nil }
    self = instant
  }
}
