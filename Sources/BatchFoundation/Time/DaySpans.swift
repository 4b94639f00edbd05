/// Days (UTC) on which something happened, to look up what else happened on them: a few spans, however far apart the days lie.
public struct DaySpans: Sendable {
  /// In milliseconds.
  public static let day: Int64 = 86_400_000
  /// More spans than these are joined where less than a month lies between them.
  private static let many = 32
  @usableFromInline var days: Set<Int64> = []
  @usableFromInline var last = Int64.min

  @inlinable
  public init() {}

  /// - Parameter milliseconds: since 1970.
  @inlinable @inline(__always)
  public mutating func add(_ milliseconds: Int64) {
    let day = milliseconds / Self.day
    guard day != last else { return }
    last = day
    days.insert(day)
  }

  /// Whole days, ascending and apart.
  public var spans: [ClosedRange<Instant>] {
    let days = days.sorted()
    let exact = Self.joined(days, over: 1)
    return exact.count > Self.many ? Self.joined(days, over: 31) : exact
  }

  private static func joined(_ days: [Int64], over gap: Int64) -> [ClosedRange<Instant>] {
    var spans: [ClosedRange<Int64>] = []
    for day in days {
      if let span = spans.last, day - span.upperBound <= gap {
        spans[spans.count - 1] = span.lowerBound...day
      } else {
        spans.append(day...day)
      }
    }
    return spans.map {
      Instant(milliseconds: $0.lowerBound * day)...Instant(milliseconds: ($0.upperBound + 1) * day - 1)
    }
  }
}
