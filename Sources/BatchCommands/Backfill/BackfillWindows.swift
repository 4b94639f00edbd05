import BatchConfiguration
import BatchFoundation

/// The division of a past period into consecutive windows.
enum BackfillWindows {
  /// The maximum number of windows; more are taken for a typing error.
  static let most = 10_000

  enum Refusal: Error, Equatable, CustomStringConvertible {
    case endsBeforeItBegins
    case stepStandsStill
    case tooMany

    var description: String {
      switch self {
      case .endsBeforeItBegins: "--to has to be later than --from: windows go forward"
      case .stepStandsStill: "--step has to lead forward"
      case .tooMany: "--step makes more than \(most) windows"
      }
    }
  }

  /// - Parameter step: Counted from `from` by the calendar of `zone`; the last window ends at `to`, even if shorter.
  static func windows(
    from: Instant, to: Instant, step: CalendarSpan, in zone: Zone
  ) throws(Refusal) -> [(from: Instant, to: Instant)] {
    guard from < to else { throw .endsBeforeItBegins }
    var windows: [(from: Instant, to: Instant)] = []
    var begin = from
    while begin < to {
      guard windows.count < most else { throw .tooMany }
      // Counting from the first window keeps its day of the month after a February.
      let end = zone.instant(from, plus: step * (windows.count + 1)).map { min($0, to) } ?? to
      guard begin < end else { throw .stepStandsStill }
      windows.append((begin, end))
      begin = end
    }
    return windows
  }
}
