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

extension Instant {
  /// Parses an `eventTimestamp` in any spelling that stored events may have (reference deltadna 2): RFC 3339, where an
  /// offset may also be `±hhmm`, or `yyyy-M-d H:m:s` in UTC, with one or two digits per field and an optional fraction.
  package init?(eventTimestamp text: Text) {
    if text.count > 10, text[10] == UInt8(ascii: "T") {
      self.init(rfc3339: text, mayLackColon: true)
    } else {
      self.init(looseUTC: text)
    }
  }

  private init?(looseUTC text: Text) {
    var at = 0
    func digits(_ counts: ClosedRange<Int>) -> Int? {
      let start = at
      while at < text.count, at - start < counts.upperBound, text[at].isASCIIDigit { at += 1 }
      return counts ~= at - start ? text.digits(start, at - start) : nil
    }
    func separator(_ byte: UInt8) -> Bool {
      guard at < text.count, text[at] == byte else { return false }
      at += 1
      return true
    }
    guard let year = digits(4...4), separator(UInt8(ascii: "-")), let month = digits(1...2),
      separator(UInt8(ascii: "-")), let day = digits(1...2), separator(UInt8(ascii: " ")), let hour = digits(1...2),
      separator(UInt8(ascii: ":")), let minute = digits(1...2), separator(UInt8(ascii: ":")),
      let second = digits(1...2),
      let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    guard let millisecond = Self.fraction(text, &at), at == text.count else { return nil }
    self.init(checking: civil.milliseconds + millisecond)
  }

  /// The length of an `eventTimestamp` in the wire format, in bytes.
  package static let eventTimestampBytes = 23

  /// Writes the wire format `yyyy-MM-dd HH:mm:ss.SSS`; the target must have room for 24 bytes.
  package func writeEventTimestamp(to target: UnsafeMutablePointer<UInt8>) {
    unsafe write(to: target)
    unsafe target[10] = UInt8(ascii: " ")
  }

  /// The instant in the wire format of ``writeEventTimestamp(to:)``.
  package var eventTimestamp: String {
    unsafe String(unsafeUninitializedCapacity: 24) { buffer in
      if let base = buffer.baseAddress { unsafe writeEventTimestamp(to: base) }
      return Self.eventTimestampBytes
    }
  }
}
