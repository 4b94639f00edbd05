package import BatchFoundation

/// What became of one campaign on all devices.
package struct CampaignActivity: Tallied {
  /// When a notification or link set it.
  package var set = TimeCounts()
  /// When those that were seen past their expiry had expired.
  package var expired = TimeCounts()
  /// When events happened that carry it.
  package var events = TimeCounts()
  /// Also by one that was taken back since, as long as another is left: these two only get further apart.
  package var firstSet: Instant?
  /// The last expiry that was given.
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

  /// Nothing set it, or what did was taken back.
  private mutating func forgetTimes() { if set.counts.isEmpty { (firstSet, until) = (nil, nil) } }
}
