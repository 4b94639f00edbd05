/// The numbers of a device's events and identity checks, which grow in processing order across runs. A record's numbers
/// start at one derived from its instant, so a late record does not change those of others (reference decisions 34).
public enum EmissionNumber {
  @usableFromInline static var shift: Int64 { 13 }

  /// The exclusive upper bound of all numbers, including those a device can have at the last instant.
  public static let limit = Int64(1) << 62

  /// Returns the number that precedes those of a record of the instant, unless the device is already further.
  @inlinable @inline(__always)
  public static func begin(at instant: Instant) -> Int64 { instant.milliseconds << shift }

  /// Encodes the number relative to its event's time, in few bits: most events have the instant of their record.
  @inlinable @inline(__always)
  public static func packed(_ number: Int64, at instant: Instant) -> UInt64 {
    let distance = number &- begin(at: instant)
    return UInt64(bitPattern: distance << 1 ^ distance >> 63)
  }

  @inlinable @inline(__always)
  public static func unpacked(_ packed: UInt64, at instant: Instant) -> Int64 {
    begin(at: instant) &+ Int64(bitPattern: packed >> 1 ^ (0 &- packed & 1))
  }
}
