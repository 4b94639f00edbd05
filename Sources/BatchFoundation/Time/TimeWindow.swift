/// The half-open span of time whose records count: `from <= timestamp < to`; nil is open.
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
}
