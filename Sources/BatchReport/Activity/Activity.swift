package import BatchFoundation

/// The activity on devices over time, for the charts of reports. The number of counts is bounded.
package struct Activity: Sendable, Equatable, Codable {
  package var events = NameTable<HourCounts>(atMost: Activity.typeLimit)
  package var sessionsStarted = HourCounts()
  package var sessionsEnded = HourCounts()
  /// The number of finished sessions in each class of ``lengths``, according to their time of use.
  package var sessionLengths = [Int](repeating: 0, count: Activity.lengths.count)
  package var campaigns = NameTable<CampaignActivity>(atMost: Activity.campaignLimit)

  /// The maximum number of event codes with hourly counts, because an export may have a code for each event.
  package static let typeLimit = 50
  /// The maximum number of campaigns counted individually, because an export may have a campaign for each push.
  package static let campaignLimit = 1000

  /// The classes of ``sessionLengths`` in words, and their exclusive upper bounds in seconds; nil for no limit.
  package static let lengths: [(words: String, below: Int64?)] = [
    ("below 10 s", 10), ("10 to 30 s", 30), ("30 s to 1 min", 60), ("1 to 5 min", 300), ("5 to 15 min", 900),
    ("15 to 30 min", 1800), ("30 to 60 min", 3600), ("over 1 h", nil),
  ]

  package init() {}

  /// The number of sessions that ended without an event, as in games.
  var sessionsOverSilently: Int { max(0, sessionLengths.reduce(0, +) - sessionsEnded.total) }

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

  /// Adds the steps of one device with campaigns that are not counted individually.
  package mutating func addToOtherCampaigns(_ steps: CampaignSteps) {
    campaigns.addToRest { $0.add(steps) }
  }

  package static func += (total: inout Activity, part: Activity) {
    total.events += part.events
    total.sessionsStarted += part.sessionsStarted
    total.sessionsEnded += part.sessionsEnded
    for (place, count) in part.sessionLengths.enumerated() { total.sessionLengths[place] += count }
    total.campaigns += part.campaigns
  }

  /// Subtracts earlier counts that new ones replace.
  package static func -= (total: inout Activity, part: Activity) {
    total.events -= part.events
    total.sessionsStarted -= part.sessionsStarted
    total.sessionsEnded -= part.sessionsEnded
    for (place, count) in part.sessionLengths.enumerated() { total.sessionLengths[place] -= count }
    total.campaigns -= part.campaigns
  }
}

package struct CampaignActivity: Tallied {
  /// The times at which a notification or link set the campaign.
  package var set = TimeCounts()
  /// The expiry times of the campaign, counted when the rules end it on a device.
  package var expired = TimeCounts()
  /// The times of the events that carry the campaign.
  package var events = TimeCounts()
  /// The earliest time at which the campaign was set; nil if unknown. If the record that set it was withdrawn later but
  /// others remain, ``firstSet`` and ``until`` stay unchanged.
  package var firstSet: Instant?
  /// The latest time at which the campaign expires; nil if unknown.
  package var until: Instant?
  /// The steps that devices took with the campaign; nil if there are none, and in reports from older releases. A rewind
  /// subtracts from each device's steps before they are counted here.
  package private(set) var steps: CampaignSteps?

  package init() {}

  package mutating func add(_ more: CampaignSteps) {
    var sum = steps ?? CampaignSteps()
    sum += more
    steps = sum == CampaignSteps() ? nil : sum
  }

  package mutating func wasSet(at instant: Instant, until expiry: Instant) {
    set.add(instant)
    firstSet = firstSet.map { min($0, instant) } ?? instant
    until = until.map { max($0, expiry) } ?? expiry
  }

  package static func += (total: inout CampaignActivity, part: CampaignActivity) {
    total.set += part.set
    total.expired += part.expired
    total.events += part.events
    if let steps = part.steps { total.add(steps) }
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

  /// Clears the times if no record that set the campaign remains.
  private mutating func forgetTimes() { if set.counts.isEmpty { (firstSet, until) = (nil, nil) } }
}
