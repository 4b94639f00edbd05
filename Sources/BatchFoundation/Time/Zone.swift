/// A time zone: which offset from UTC its clocks showed at every instant (RFC 9636).
public struct Zone: Hashable, Sendable {
  /// Clocks were set to another offset at this second since 1970.
  struct Transition: Hashable, Sendable {
    var second: Int64
    /// Seconds east of UTC from then on.
    var offset: Int64
  }

  /// As it was asked for, such as `Europe/London`.
  public let name: String
  /// Before the first transition.
  let firstOffset: Int64
  /// In order of their seconds.
  let transitions: [Transition]
  /// From the last transition on; nil keeps its offset.
  let rule: ZoneRule?

  public static let utc = Zone(name: "UTC", firstOffset: 0, transitions: [], rule: nil)

  /// Seconds east of UTC.
  func offset(at second: Int64) -> Int64 {
    guard let last = transitions.last else { return rule?.offset(at: second) ?? firstOffset }
    if second >= last.second { return rule?.offset(at: second) ?? last.offset }
    let next = transitions.place { $0.second <= second }
    return next == 0 ? firstOffset : transitions[next - 1].offset
  }

  /// What calendar and clock show, without the milliseconds.
  public func civil(_ instant: Instant) -> CivilTime {
    let second = Self.second(of: instant)
    return CivilTime(milliseconds: (second + offset(at: second)) * 1000)
  }

  /// When calendar and clock show that: the first time where they show it twice, and where they skip it the instant of the skip.
  public func instant(_ civil: CivilTime) -> Instant {
    let local = civil.milliseconds / 1000
    // Whatever the offset is, one day to either side is before and after the only transition that matters.
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

  /// The first instant of the instant's day, so many days later.
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
