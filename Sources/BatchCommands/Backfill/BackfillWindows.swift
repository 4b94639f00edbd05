import BatchConfiguration
import BatchFoundation

/// A past time cut into windows, each of which begins where the one before ends.
enum BackfillWindows {
  /// More windows than this are a slip of the hand.
  static let most = 10_000

  /// Why there are no such windows.
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

  /// - Parameter step: by the calendar of the zone, counted from `from`; the last window ends at `to`, however long it is.
  static func windows(
    from: Instant, to: Instant, step: CalendarSpan, in zone: Zone
  ) throws(Refusal) -> [(from: Instant, to: Instant)] {
    guard from < to else { throw .endsBeforeItBegins }
    var windows: [(from: Instant, to: Instant)] = []
    var begin = from
    while begin < to {
      guard windows.count < most else { throw .tooMany }
      // Counted from the first, so that the months after a February keep the day of the first window.
      let end = zone.instant(from, plus: step * (windows.count + 1)).map { min($0, to) } ?? to
      guard begin < end else { throw .stepStandsStill }
      windows.append((begin, end))
      begin = end
    }
    return windows
  }
}
