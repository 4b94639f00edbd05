package import BatchFoundation

/// What happened on the devices over time, as reports draw it: a few numbers however many events there are.
package struct Activity: Sendable, Equatable, Codable {
  /// Events by code or name, and when they happened.
  package var events: [String: HourCounts] = [:]
  package var sessionsStarted = HourCounts()
  package var sessionsEnded = HourCounts()
  /// Sessions that ended, by the time they were used; places are those of ``lengths``.
  package var sessionLengths = [Int](repeating: 0, count: Activity.lengths.count)
  /// By name, ``campaignLimit`` at most.
  package var campaigns: [String: CampaignActivity] = [:]
  /// Settings of campaigns beyond those that are kept by name.
  package var otherCampaigns = 0

  /// Names that are kept; an export that makes a name for each push must not fill the memory.
  package static let campaignLimit = 2000

  /// Upper ends of the classes of ``sessionLengths``, in seconds; nil is without end.
  package static let lengths: [(words: String, below: Int64?)] = [
    ("below 10 s", 10), ("10 to 30 s", 30), ("30 s to 1 min", 60), ("1 to 5 min", 300), ("5 to 15 min", 900),
    ("15 to 30 min", 1800), ("30 to 60 min", 3600), ("over 1 h", nil),
  ]

  package init() {}

  package var isEmpty: Bool { self == Activity() }

  package mutating func sessionEnded(at instant: Instant, after seconds: Int64) {
    sessionsEnded.add(instant)
    let place = Self.lengths.firstIndex { $0.below.map { seconds < $0 } ?? true } ?? Self.lengths.count - 1
    sessionLengths[place] += 1
  }

  /// Changes what is known of a campaign; of one too many only the number is kept.
  package mutating func campaign(_ name: String, _ change: (inout CampaignActivity) -> Void) {
    if campaigns[name] == nil, campaigns.count >= Self.campaignLimit {
      otherCampaigns += 1
    } else {
      change(&campaigns[name, default: CampaignActivity()])
    }
  }

  package static func += (total: inout Activity, part: Activity) {
    for (code, counts) in part.events { total.events[code, default: HourCounts()] += counts }
    total.sessionsStarted += part.sessionsStarted
    total.sessionsEnded += part.sessionsEnded
    for (place, count) in part.sessionLengths.enumerated() { total.sessionLengths[place] += count }
    for (name, other) in part.campaigns { total.campaign(name) { $0 += other } }
    total.otherCampaigns += part.otherCampaigns
  }
}

/// What became of one campaign on all devices.
package struct CampaignActivity: Sendable, Equatable, Codable {
  /// Times that a notification or link set it.
  package var set = 0
  /// Of these, those that were seen past their expiry.
  package var expired = 0
  /// Events that carry it.
  package var events = 0
  package var firstSet: Instant?
  /// The last expiry that was given.
  package var until: Instant?

  package init() {}

  package mutating func wasSet(at instant: Instant, until expiry: Instant) {
    set += 1
    firstSet = firstSet.map { min($0, instant) } ?? instant
    until = until.map { max($0, expiry) } ?? expiry
  }

  static func += (total: inout CampaignActivity, part: CampaignActivity) {
    total.set += part.set
    total.expired += part.expired
    total.events += part.events
    total.firstSet = [total.firstSet, part.firstSet].compactMap { $0 }.min()
    total.until = [total.until, part.until].compactMap { $0 }.max()
  }
}

/// Counts by hour (UTC), in one array from the first hour to the last.
package struct HourCounts: Sendable, Equatable, Codable {
  /// Hours since 1970 of the first place.
  package private(set) var first: Int64 = 0
  package private(set) var counts: [Int] = []
  /// Counts of hours too far from the others: a clock that was years off must not fill the memory.
  package private(set) var elsewhere = 0

  /// Three years.
  private static let limit = 3 * 366 * 24

  package init() {}

  package init(one hour: Int64) { add(1, at: hour) }

  package var total: Int { counts.reduce(elsewhere, +) }

  /// The same by day (UTC), and the first day; nil and none without counts.
  package var days: (first: Instant?, counts: [Int]) {
    guard !counts.isEmpty else { return (nil, []) }
    let day = first / 24
    var sums = [Int](repeating: 0, count: Int((first + Int64(counts.count) - 1) / 24 - day) + 1)
    for (place, count) in counts.enumerated() { sums[Int((first + Int64(place)) / 24 - day)] += count }
    return (Instant(milliseconds: day * 86_400_000), sums)
  }

  /// Nil for none.
  package var last: Int64? { counts.isEmpty ? nil : first + Int64(counts.count) - 1 }

  package mutating func add(_ instant: Instant) { add(1, at: instant.milliseconds / 3_600_000) }

  package mutating func add(_ count: Int, at hour: Int64) {
    let place = hour - first
    if place >= 0, place < Int64(counts.count) {
      counts[Int(place)] += count
    } else {
      extend(to: hour, count)
    }
  }

  private mutating func extend(to hour: Int64, _ count: Int) {
    if counts.isEmpty {
      first = hour
      counts = [count]
      return
    }
    let span = max(hour - first, first + Int64(counts.count) - 1 - hour) + 1
    guard span <= Int64(Self.limit) else {
      elsewhere += count
      return
    }
    if hour < first {
      counts.insert(contentsOf: [Int](repeating: 0, count: Int(first - hour)), at: 0)
      first = hour
      counts[0] = count
    } else {
      counts += [Int](repeating: 0, count: Int(hour - first) - counts.count + 1)
      counts[Int(hour - first)] = count
    }
  }

  package static func += (total: inout HourCounts, part: HourCounts) {
    for (place, count) in part.counts.enumerated() where count > 0 { total.add(count, at: part.first + Int64(place)) }
    total.elsewhere += part.elsewhere
  }
}
