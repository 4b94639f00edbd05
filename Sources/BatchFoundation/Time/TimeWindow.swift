/// The half-open span of time in which records count: `from <= timestamp < to`. A nil bound means no limit.
public struct TimeWindow: Sendable, Hashable {
  public var from: Instant?
  public var to: Instant?

  public init(from: Instant? = nil, to: Instant? = nil) {
    self.from = from
    self.to = to
  }

  @inlinable
  public func contains(_ instant: Instant) -> Bool {
    if let from, instant < from { return false }
    if let to, instant >= to { return false }
    return true
  }

  /// The window for display, such as `2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z`.
  public var words: String {
    switch (from, to) {
    case (let from?, let to?): "\(from.rfc3339) to \(to.rfc3339)"
    case (let from?, nil): "from \(from.rfc3339) onwards"
    case (nil, let to?): "up to \(to.rfc3339)"
    case (nil, nil): "open"
    }
  }
}

/// The union of several windows as disjoint spans in ascending order.
public struct TimeSpans: Sendable, Equatable {
  public private(set) var spans: [Range<Instant>] = []

  /// - Parameter windows: windows that are empty or have a nil bound are ignored.
  public init(_ windows: [TimeWindow]) {
    for window in windows {
      guard let from = window.from, let to = window.to, from < to else { continue }
      var (begin, end) = (from, to)
      spans.removeAll { span in
        guard span.lowerBound <= end, begin <= span.upperBound else { return false }
        (begin, end) = (min(begin, span.lowerBound), max(end, span.upperBound))
        return true
      }
      spans.append(begin..<end)
    }
    spans.sort { $0.lowerBound < $1.lowerBound }
  }

  /// Returns true if the whole span is covered, nil if only part of it is, and false otherwise.
  public func covers(_ span: Range<Instant>) -> Bool? {
    guard let first = spans.first(where: { $0.overlaps(span) }) else { return false }
    return first.lowerBound <= span.lowerBound && span.upperBound <= first.upperBound ? true : nil
  }
}

/// A set of UTC days, condensed into few spans for queries, even if the days are far apart.
public struct DaySpans: Sendable {
  /// A day in milliseconds.
  public static let day: Int64 = 86_400_000
  /// The number of spans above which spans at most a month apart are joined.
  private static let many = 32
  @usableFromInline var days: Set<Int64> = []
  @usableFromInline var last = Int64.min

  @inlinable
  public init() {}

  /// - Parameter milliseconds: the time in milliseconds since 1970.
  @inlinable @inline(__always)
  public mutating func add(_ milliseconds: Int64) {
    let day = milliseconds / Self.day
    guard day != last else { return }
    last = day
    days.insert(day)
  }

  /// The days as disjoint spans in ascending order. If there would be many spans, they also cover gaps of up to a
  /// month.
  public var spans: [ClosedRange<Instant>] {
    let days = days.sorted()
    let exact = Self.runs(of: days)
    return (exact.count > Self.many ? Self.runs(of: days, over: 31) : exact).map {
      Instant(milliseconds: $0.lowerBound * Self.day)...Instant(milliseconds: ($0.upperBound + 1) * Self.day - 1)
    }
  }

  /// Joins ascending days that are at most `gap` apart.
  package static func runs(of days: [Int64], over gap: Int64 = 1) -> [ClosedRange<Int64>] {
    var spans: [ClosedRange<Int64>] = []
    for day in days {
      if let span = spans.last, day - span.upperBound <= gap {
        spans[spans.count - 1] = span.lowerBound...day
      } else {
        spans.append(day...day)
      }
    }
    return spans
  }
}
