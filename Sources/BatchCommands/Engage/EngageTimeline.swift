import BatchFoundation
import BatchJSON
import BatchStore

extension DeviceTimeline {
  /// A stretch of use.
  struct Session {
    /// Nil where it began is not in the store.
    var start: Entry?
    /// Nil while it goes on.
    var end: Entry?
    /// Events of it up to the one in question.
    var events = 0
  }

  /// Codes of a session's two ends (reference events 1.1).
  static let started: Set = ["13", "91"]
  static let ended: Set = ["14", "92"]

  /// The session that the event at the index belongs to; nil if none was under way.
  func session(at index: Int) -> Session? {
    var session: Session?
    for (place, entry) in entries[...index].enumerated() where !entry.stored.isLate {
      // A link that is opened in a session reports a start without beginning another one.
      if Self.started.contains(entry.type), session == nil { session = Session(start: entry) }
      if Self.ended.contains(entry.type), place < index { session = nil }
      session?.events += 1
    }
    if session == nil, Self.ended.contains(entries[index].type) { session = Session() }
    guard session != nil else { return nil }
    session?.end = entries[index...].first { Self.ended.contains($0.type) }
    return session
  }
}

/// The campaigns that the events of a device carry.
struct CampaignTimeline {
  /// The attribute that names the campaign.
  let attribute: String

  /// Where a campaign came from.
  struct Origin {
    var name: String
    /// The first event that carried it.
    var first: DeviceTimeline.Entry
  }

  /// The campaign that the event at the index carries, and the first event of those before it without another one between; nil
  /// for an event without campaign.
  func campaign(at index: Int, in timeline: DeviceTimeline) -> Origin? {
    guard let name = timeline.entries[index].attribute(attribute), !name.isEmpty else { return nil }
    var first = timeline.entries[index]
    for entry in timeline.entries[..<index].reversed() where !entry.stored.isLate {
      // Events of other kinds, such as the caller's own, name no campaign at all.
      guard let other = entry.attribute(attribute) else { continue }
      guard other.isIdentical(to: name) else { break }
      first = entry
    }
    return Origin(name: name, first: first)
  }

  /// The last campaign before the event at the index that was over by then; nil if there was none.
  func last(before index: Int, in timeline: DeviceTimeline) -> Origin? {
    timeline.entries[..<index].indices.reversed().lazy.filter { !timeline.entries[$0].stored.isLate }
      .compactMap { campaign(at: $0, in: timeline) }.first
  }
}

extension DeviceTimeline.Entry {
  /// The value of an attribute; of several of one name the last.
  func attribute(_ name: String) -> String? {
    guard let attribute = (event["attributes"]?.array ?? []).last(where: { $0["name"]?.string == name }) else {
      return nil
    }
    return attribute["value"]?.string ?? ""
  }

  /// What of it can set a campaign; nil if nothing can.
  var campaignSource: String? {
    switch type {
    case "48": "the notification received"
    case "49", "94": "the notification opened"
    case "13": "the link opened, or the session begun,"
    default: nil
    }
  }
}
