/// The numbers of a device's events and identity checks: they grow in the order of decision, across runs.
///
/// A record begins at a number of its own instant, so that what other records lead to keeps its number when a late one is decided
/// between them (reference decisions 34).
public enum EmissionNumber {
  @usableFromInline static var shift: Int64 { 13 }

  /// What numbers stay below of: those of the last instant, and as many as a device can have there.
  public static let limit = Int64(1) << 62

  /// The number that the events of a record of the instant come behind, unless the device has come further.
  @inlinable @inline(__always)
  public static func begin(at instant: Instant) -> Int64 { instant.milliseconds << shift }

  /// The number beside the time of its event, in few bits: most events are of the instant of their record.
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
