package import BatchFoundation

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
