package import BatchFoundation

/// What happened on the devices over time, as reports draw it: a few numbers however many events there are.
package struct Activity: Sendable, Equatable, Codable {
  /// Events by code or name, and when they happened.
  package var events = NameTable<HourCounts>(atMost: Activity.typeLimit)
  package var sessionsStarted = HourCounts()
  package var sessionsEnded = HourCounts()
  /// Sessions that are over, by the time they were used; places are those of ``lengths``.
  package var sessionLengths = [Int](repeating: 0, count: Activity.lengths.count)
  package var campaigns = NameTable<CampaignActivity>(atMost: Activity.campaignLimit)

  /// Codes whose hours are kept: an export that makes a code for each event must not fill the memory.
  package static let typeLimit = 50
  /// The same for one that makes a campaign for each push.
  package static let campaignLimit = 1000

  /// Upper ends of the classes of ``sessionLengths``, in seconds; nil is without end.
  package static let lengths: [(words: String, below: Int64?)] = [
    ("below 10 s", 10), ("10 to 30 s", 30), ("30 s to 1 min", 60), ("1 to 5 min", 300), ("5 to 15 min", 900),
    ("15 to 30 min", 1800), ("30 to 60 min", 3600), ("over 1 h", nil),
  ]

  package init() {}

  /// Sessions that are over although no event ended them: games have such.
  var sessionsOverSilently: Int { max(0, sessionLengths.reduce(0, +) - sessionsEnded.total) }

  package var isEmpty: Bool { self == Activity() }

  package mutating func sessionEnded(at instant: Instant, after seconds: Int64) {
    sessionsEnded.add(instant)
    sessionUsed(for: seconds)
  }

  /// Counts a session that is over, whether or not it was told to end.
  package mutating func sessionUsed(for seconds: Int64) {
    let place = Self.lengths.firstIndex { $0.below.map { seconds < $0 } ?? true } ?? Self.lengths.count - 1
    sessionLengths[place] += 1
  }

  /// Changes what is known of a campaign.
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

  /// Takes back what was counted before it was decided anew.
  package static func -= (total: inout Activity, part: Activity) {
    total.events -= part.events
    total.sessionsStarted -= part.sessionsStarted
    total.sessionsEnded -= part.sessionsEnded
    for (place, count) in part.sessionLengths.enumerated() { total.sessionLengths[place] -= count }
    total.campaigns -= part.campaigns
  }
}
