package import BatchFoundation

/// The activity on the devices over time, as reports draw it, in a bounded number of counts.
package struct Activity: Sendable, Equatable, Codable {
  package var events = NameTable<HourCounts>(atMost: Activity.typeLimit)
  package var sessionsStarted = HourCounts()
  package var sessionsEnded = HourCounts()
  /// The number of finished sessions in each class of ``lengths``, by their time in use.
  package var sessionLengths = [Int](repeating: 0, count: Activity.lengths.count)
  package var campaigns = NameTable<CampaignActivity>(atMost: Activity.campaignLimit)

  /// The number of codes with hourly counts: an export with a code for each event must not fill the memory.
  package static let typeLimit = 50
  /// The same limit for campaigns, which an export may create for each push.
  package static let campaignLimit = 1000

  /// The upper ends of the classes of ``sessionLengths``, in seconds; nil for no limit.
  package static let lengths: [(words: String, below: Int64?)] = [
    ("below 10 s", 10), ("10 to 30 s", 30), ("30 s to 1 min", 60), ("1 to 5 min", 300), ("5 to 15 min", 900),
    ("15 to 30 min", 1800), ("30 to 60 min", 3600), ("over 1 h", nil),
  ]

  package init() {}

  /// The finished sessions that no event ended, as in games.
  var sessionsOverSilently: Int { max(0, sessionLengths.reduce(0, +) - sessionsEnded.total) }

  package var isEmpty: Bool { self == Activity() }

  package mutating func sessionEnded(at instant: Instant, after seconds: Int64) {
    sessionsEnded.add(instant)
    sessionUsed(for: seconds)
  }

  /// Counts a finished session, whether or not an event ended it.
  package mutating func sessionUsed(for seconds: Int64) {
    let place = Self.lengths.firstIndex { $0.below.map { seconds < $0 } ?? true } ?? Self.lengths.count - 1
    sessionLengths[place] += 1
  }

  package mutating func campaign(_ name: ByteText, _ change: (inout CampaignActivity) -> Void) {
    campaigns.change(name, change)
  }

  package static func += (total: inout Activity, part: Activity) {
    total.events += part.events
    total.sessionsStarted += part.sessionsStarted
    total.sessionsEnded += part.sessionsEnded
    for (place, count) in part.sessionLengths.enumerated() { total.sessionLengths[place] += count }
    total.campaigns += part.campaigns
  }

  /// Subtracts counts that are to be counted again.
  package static func -= (total: inout Activity, part: Activity) {
    total.events -= part.events
    total.sessionsStarted -= part.sessionsStarted
    total.sessionsEnded -= part.sessionsEnded
    for (place, count) in part.sessionLengths.enumerated() { total.sessionLengths[place] -= count }
    total.campaigns -= part.campaigns
  }
}

package struct CampaignActivity: Tallied {
  /// The times at which a notification or link set it.
  package var set = TimeCounts()
  /// The expiry times of campaigns that were seen after they had expired.
  package var expired = TimeCounts()
  /// The times of events that carry it.
  package var events = TimeCounts()
  /// May be of a setting withdrawn since, while others remain: ``firstSet`` and ``until`` only move apart.
  package var firstSet: Instant?
  /// The latest expiry given.
  package var until: Instant?

  package init() {}

  package mutating func wasSet(at instant: Instant, until expiry: Instant) {
    set.add(instant)
    firstSet = firstSet.map { min($0, instant) } ?? instant
    until = until.map { max($0, expiry) } ?? expiry
  }

  package static func += (total: inout CampaignActivity, part: CampaignActivity) {
    total.set += part.set
    total.expired += part.expired
    total.events += part.events
    total.firstSet = [total.firstSet, part.firstSet].compactMap { $0 }.min()
    total.until = [total.until, part.until].compactMap { $0 }.max()
    total.forgetTimes()
  }

  package static func -= (total: inout CampaignActivity, part: CampaignActivity) {
    total.set -= part.set
    total.expired -= part.expired
    total.events -= part.events
    total.forgetTimes()
  }

  /// Clears the times if nothing set the campaign, or the setting was withdrawn.
  private mutating func forgetTimes() { if set.counts.isEmpty { (firstSet, until) = (nil, nil) } }
}
