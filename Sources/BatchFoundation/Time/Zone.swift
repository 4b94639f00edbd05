/// A time zone: the offset of its clocks from UTC at every instant (RFC 9636).
public struct Zone: Hashable, Sendable, Codable {
  /// A change of the offset, with its time in seconds since 1970.
  struct Transition: Hashable, Sendable, Codable {
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
  /// The rule that applies after the last transition; nil if the offset then stays the same.
  let rule: ZoneRule?

  public static let utc = Zone(name: "UTC", firstOffset: 0, transitions: [], rule: nil)

  /// Returns the offset in seconds east of UTC at a second since 1970.
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

  /// Returns the instant of a local time: the first one if the time occurs twice, or the clock change if it
  /// is skipped.
  public func instant(_ civil: CivilTime) -> Instant {
    let local = civil.milliseconds / 1000
    // For any offset, a day earlier is before the only relevant transition, and a day later is after it.
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

  /// Returns the start of the local day that is `days` days after the instant's day.
  public func startOfDay(_ instant: Instant, plus days: Int = 0) -> Instant {
    self.instant(CivilTime(milliseconds: (civil(instant).dayNumber + Int64(days)) * 86_400_000))
  }

  /// Returns the zone with only the transitions in `span`, which take less space; after `span`, its rule must
  /// apply.
  public func limited(to span: ClosedRange<Instant>) -> Zone {
    let seconds = Self.second(of: span.lowerBound)...Self.second(of: span.upperBound)
    return Zone(
      name: name, firstOffset: offset(at: seconds.lowerBound),
      transitions: transitions.filter { seconds.contains($0.second) }, rule: rule)
  }

  private static func second(of instant: Instant) -> Int64 { instant.milliseconds.flooredQuotient(1000) }
}

extension Zone {
  /// Reads a file of the time zone database (RFC 9636); nil for other files, and for zones in `right/`, which count
  /// leap seconds.
  public init?(name: String, tzif bytes: [UInt8]) {
    guard let first = Block(bytes, at: 0, timeSize: 4) else { return nil }
    var block = first
    var rule: ZoneRule?
    if first.version != 0 {
      guard let second = Block(bytes, at: first.end, timeSize: 8) else { return nil }
      block = second
      let footer = bytes[second.end...]
      guard footer.count >= 2, footer.first == UInt8(ascii: "\n"), footer.last == UInt8(ascii: "\n") else { return nil }
      let text = footer.dropFirst().dropLast()
      if !text.isEmpty {
        guard let read = ZoneRule(text) else { return nil }
        rule = read
      }
    }
    guard block.leapSeconds == 0, let offsets = block.offsets(bytes), let first = offsets.first,
      let transitions = block.transitions(bytes, offsets)
    else { return nil }
    self.init(name: name, firstOffset: first, transitions: transitions, rule: rule)
  }

  /// One of a file's two blocks: a header of 44 bytes, then arrays with lengths from the header.
  private struct Block {
    let version: UInt8
    let leapSeconds: Int
    let end: Int
    private let start: Int
    private let timeSize: Int
    private let timeCount: Int
    private let typeCount: Int

    init?(_ bytes: [UInt8], at start: Int, timeSize: Int) {
      guard bytes.count - start >= 44, bytes[start..<start + 4].elementsEqual("TZif".utf8) else { return nil }
      func count(_ index: Int) -> Int { Int(Zone.number(bytes, at: start + 20 + index * 4, size: 4)) }
      let (utcFlags, standardFlags, characters) = (count(0), count(1), count(5))
      leapSeconds = count(2)
      timeCount = count(3)
      typeCount = count(4)
      // Real files have far smaller counts. Larger ones could not overflow the sums, but are meaningless.
      guard [utcFlags, standardFlags, characters, leapSeconds, timeCount, typeCount].allSatisfy({ 0...65_535 ~= $0 })
      else { return nil }
      version = bytes[start + 4]
      self.start = start + 44
      self.timeSize = timeSize
      end =
        self.start + timeCount * (timeSize + 1) + typeCount * 6 + characters + leapSeconds * (timeSize + 4)
        + standardFlags + utcFlags
      guard end <= bytes.count else { return nil }
    }

    /// Returns the offset of each local time type in seconds east of UTC; nil if one is implausible.
    func offsets(_ bytes: [UInt8]) -> [Int64]? {
      let types = start + timeCount * (timeSize + 1)
      let offsets = (0..<typeCount).map { Zone.number(bytes, at: types + $0 * 6, size: 4) }
      return offsets.allSatisfy { abs($0) < 100_000 } ? offsets : nil
    }

    func transitions(_ bytes: [UInt8], _ offsets: [Int64]) -> [Transition]? {
      var transitions: [Transition] = []
      for index in 0..<timeCount {
        let second = Zone.number(bytes, at: start + index * timeSize, size: timeSize)
        let type = Int(bytes[start + timeCount * timeSize + index])
        guard type < offsets.count, transitions.last.map({ $0.second < second }) ?? true else { return nil }
        transitions.append(Transition(second: second, offset: offsets[type]))
      }
      return transitions
    }
  }

  /// Reads a signed big-endian number.
  private static func number(_ bytes: [UInt8], at start: Int, size: Int) -> Int64 {
    let negative: Int64 = bytes[start] & 0x80 == 0 ? 0 : -1
    return bytes[start..<start + size].reduce(negative) { $0 << 8 | Int64($1) }
  }
}
