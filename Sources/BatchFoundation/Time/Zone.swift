/// A time zone: the offset of its clocks from UTC at every instant (RFC 9636).
public struct Zone: Hashable, Sendable {
  /// A change of the offset at a second since 1970.
  struct Transition: Hashable, Sendable {
    var second: Int64
    /// The new offset in seconds east of UTC.
    var offset: Int64
  }

  /// The name as requested, such as `Europe/London`.
  public let name: String
  /// The offset before the first transition.
  let firstOffset: Int64
  /// The transitions in ascending order.
  let transitions: [Transition]
  /// The rule after the last transition; nil if its offset stays.
  let rule: ZoneRule?

  public static let utc = Zone(name: "UTC", firstOffset: 0, transitions: [], rule: nil)

  /// Returns the offset in seconds east of UTC.
  func offset(at second: Int64) -> Int64 {
    guard let last = transitions.last else { return rule?.offset(at: second) ?? firstOffset }
    if second >= last.second { return rule?.offset(at: second) ?? last.offset }
    let next = transitions.place { $0.second <= second }
    return next == 0 ? firstOffset : transitions[next - 1].offset
  }

  /// Returns the local calendar time, without milliseconds.
  public func civil(_ instant: Instant) -> CivilTime {
    let second = Self.second(of: instant)
    return CivilTime(milliseconds: (second + offset(at: second)) * 1000)
  }

  /// Returns the instant of a local time: the first if it occurs twice, and the instant of the gap if it is skipped.
  public func instant(_ civil: CivilTime) -> Instant {
    let local = civil.milliseconds / 1000
    // Whatever the offset, one day to either side is before and after the only relevant transition.
    let before = offset(at: local - 86_400)
    let after = offset(at: local + 86_400)
    if offset(at: local - before) == before { return Instant(milliseconds: (local - before) * 1000) }
    if offset(at: local - after) == after { return Instant(milliseconds: (local - after) * 1000) }
    var (low, high) = (local - after, local - before)
    while low < high {
      let middle = low + (high - low) / 2
      if offset(at: middle) == before { low = middle + 1 } else { high = middle }
    }
    return Instant(milliseconds: low * 1000)
  }

  /// Returns the start of the instant's local day, `days` later.
  public func startOfDay(_ instant: Instant, plus days: Int = 0) -> Instant {
    var day = civil(instant)
    (day.hour, day.minute, day.second) = (0, 0, 0)
    return self.instant(CivilTime(milliseconds: day.milliseconds + Int64(days) * 86_400_000))
  }

  private static func second(of instant: Instant) -> Int64 {
    let (quotient, remainder) = instant.milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
