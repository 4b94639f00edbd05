/// A point in time in whole milliseconds since 1970-01-01T00:00:00Z; the resolution of every rule (reference formats 3.2).
package struct Instant: Hashable, Comparable, Codable, Sendable {
  package var milliseconds: Int64

  @inlinable
  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  @inlinable
  package static func < (one: Instant, other: Instant) -> Bool { one.milliseconds < other.milliseconds }

  /// 9999-12-31T23:59:59.999Z: the last instant a record may carry.
  package static var last: Instant { Instant(milliseconds: 253_402_300_799_999) }

  @inlinable
  package static func + (instant: Instant, span: Milliseconds) -> Instant {
    Instant(milliseconds: instant.milliseconds + span.count)
  }

  @inlinable
  package static func - (later: Instant, earlier: Instant) -> Milliseconds {
    Milliseconds(later.milliseconds - earlier.milliseconds)
  }
}

/// A length of time in whole milliseconds.
package struct Milliseconds: Hashable, Comparable, Sendable {
  package var count: Int64

  @inlinable
  package init(_ count: Int64) { self.count = count }

  @inlinable
  package static func < (one: Milliseconds, other: Milliseconds) -> Bool { one.count < other.count }

  @inlinable
  package static func + (one: Milliseconds, other: Milliseconds) -> Milliseconds {
    Milliseconds(one.count + other.count)
  }

  /// The whole seconds in it, rounded towards zero.
  package var wholeSeconds: Int64 { count / 1000 }

  package static var zero: Milliseconds { Milliseconds(0) }
}
