import Glibc

/// An instant as whole milliseconds since 1970-01-01T00:00:00Z, the resolution of every rule (reference formats 3.2).
public struct Instant: Hashable, Comparable, Codable, Sendable {
  public var milliseconds: Int64

  @inlinable
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The number of whole hours since 1970 (UTC), rounded down; negative before.
  @inlinable
  public var hour: Int64 { milliseconds.flooredQuotient(3_600_000) }

  @inlinable
  public static func < (one: Instant, other: Instant) -> Bool { one.milliseconds < other.milliseconds }

  /// 9999-12-31T23:59:59.999Z, the last instant that a record can have.
  public static var last: Instant { Instant(milliseconds: 253_402_300_799_999) }

  @inlinable
  public static func + (instant: Instant, span: Milliseconds) -> Instant {
    Instant(milliseconds: instant.milliseconds + span.count)
  }

  @inlinable
  public static func - (later: Instant, earlier: Instant) -> Milliseconds {
    Milliseconds(later.milliseconds - earlier.milliseconds)
  }
}

/// A length of time in whole milliseconds.
public struct Milliseconds: Hashable, Comparable, Sendable {
  public var count: Int64

  @inlinable
  public init(_ count: Int64) { self.count = count }

  @inlinable
  public static func < (one: Milliseconds, other: Milliseconds) -> Bool { one.count < other.count }

  @inlinable
  public static func + (one: Milliseconds, other: Milliseconds) -> Milliseconds {
    Milliseconds(one.count + other.count)
  }

  /// The whole seconds, rounded toward zero.
  public var wholeSeconds: Int64 { count / 1000 }

  /// The length in its largest unit and the next smaller one, such as `2 days and 1 hour`.
  public var inWords: String {
    let seconds = Int(wholeSeconds)
    let parts = [
      (seconds / 86_400, "day"), (seconds / 3_600 % 24, "hour"), (seconds / 60 % 60, "minute"),
      (seconds % 60, "second"),
    ].drop { $0.0 == 0 }.prefix(2).filter { $0.0 != 0 }
    return parts.isEmpty ? "0 seconds" : parts.map { $0.0.counted($0.1) }.joined(separator: " and ")
  }

  public static var zero: Milliseconds { Milliseconds(0) }
}

extension Int64 {
  /// Returns the quotient rounded down, even for negative numbers; the divisor must be positive.
  @inlinable
  public func flooredQuotient(_ divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : (self - divisor + 1) / divisor
  }
}

extension Instant {
  public static var now: Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Parses a timestamp from an export: RFC 3339, or `yyyy-MM-dd HH:mm:ss[.SSS]` in UTC.
  public init?(exportText text: Text) {
    guard text.count > 10 else { return nil }
    if text[10] == UInt8(ascii: "T") { self.init(rfc3339: text) } else { self.init(plain: text) }
  }
}
