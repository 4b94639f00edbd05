/// Times that windows cover together: apart from each other, ascending.
public struct TimeSpans: Sendable, Equatable {
  public private(set) var spans: [Range<Instant>] = []

  /// - Parameter windows: of which those with an open end count for nothing.
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

  /// Whether the span is among them; nil where a part of it is and another is not.
  public func covers(_ span: Range<Instant>) -> Bool? {
    guard let first = spans.first(where: { $0.overlaps(span) }) else { return false }
    return first.lowerBound <= span.lowerBound && span.upperBound <= first.upperBound ? true : nil
  }
}
