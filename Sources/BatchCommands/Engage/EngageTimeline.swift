import BatchConfiguration
import BatchFoundation
import BatchStore

extension DeviceTimeline {
  struct Session {
    /// The first event; nil if it is not in the store.
    var start: Entry?
    /// The last event; nil while the session is open.
    var end: Entry?
    /// The number of the session's events up to the given event.
    var events = 0
  }

  /// Returns the session of the event at the index; nil if none was open.
  func session(at index: Int, _ codes: EventCodes) -> Session? {
    var session: Session?
    for (place, entry) in entries[...index].enumerated() where !entry.stored.isLate {
      // A link opened during a session may report a start without beginning another session.
      if entry.isKind(.sessionStarted, codes), session == nil { session = Session(start: entry) }
      if entry.isKind(.sessionEnded, codes), place < index { session = nil }
      session?.events += 1
    }
    if session == nil, entries[index].isKind(.sessionEnded, codes) { session = Session() }
    guard session != nil else { return nil }
    session?.end = entries[index...].first { $0.isKind(.sessionEnded, codes) }
    return session
  }
}

/// The campaigns that the events of a device carry.
struct CampaignTimeline {
  let attribute: String
  let codes: EventCodes

  struct Origin {
    var name: String
    /// The first event that carried the campaign.
    var first: DeviceTimeline.Entry
    /// The last notification after the first event, which may have set the same campaign again; nil if there was none.
    var again: DeviceTimeline.Entry?
  }

  /// Returns the campaign of the event at the index, and the first event of the unbroken series that carries
  /// this campaign; nil if the event carries none.
  func campaign(at index: Int, in timeline: DeviceTimeline) -> Origin? {
    guard let name = timeline.entries[index].attribute(attribute), !name.isEmpty else { return nil }
    var first = timeline.entries[index]
    var again: DeviceTimeline.Entry? = first.isNotification(codes) ? first : nil
    for entry in timeline.entries[..<index].reversed() where !entry.stored.isLate {
      // Events of other kinds, such as custom events, name no campaign at all.
      guard let other = entry.attribute(attribute) else { continue }
      guard other.isIdentical(to: name) else { break }
      first = entry
      if again == nil, entry.isNotification(codes) { again = entry }
    }
    return Origin(name: name, first: first, again: again?.id == first.id ? nil : again)
  }

  /// Returns the last campaign that an event before the index carried; nil if there was none.
  func last(before index: Int, in timeline: DeviceTimeline) -> Origin? {
    timeline.entries[..<index].indices.reversed().lazy.filter { !timeline.entries[$0].stored.isLate }
      .compactMap { campaign(at: $0, in: timeline) }.first
  }
}

extension DeviceTimeline.Entry {
  /// Returns the value of an attribute, or the last value if the name occurs repeatedly; nil if there is none.
  func attribute(_ name: String) -> String? {
    guard let attribute = (event["attributes"]?.array ?? []).last(where: { $0["name"]?.string == name }) else {
      return nil
    }
    return attribute["value"]?.string ?? ""
  }

  func isKind(_ kind: EventKind, _ codes: EventCodes) -> Bool { codes.kinds(of: type).contains(kind) }

  func isNotification(_ codes: EventCodes) -> Bool {
    codes.kinds(of: type).contains { [.receivedNotification, .openedNotification].contains($0) }
  }

  /// Describes the part of the event that can set a campaign; nil if nothing can.
  func campaignSource(_ settings: Settings) -> String? {
    let kinds = settings.general.eventCodes.kinds(of: type)
    if kinds.contains(.receivedNotification) { return "the notification received" }
    if kinds.contains(.openedNotification) { return "the notification opened" }
    guard kinds.contains(.link) else { return nil }
    if kinds.contains(.sessionStarted) { return "the link opened, or the session started," }
    // Links may share a code with named events and goals.
    let names = [AutomaticField.eventName, .goalName].map { settings.attributeNames[$0] }
    return names.allSatisfy { attribute($0) == nil } ? "the link opened" : nil
  }
}
