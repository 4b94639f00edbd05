import BatchFoundation
import BatchJSON
import BatchReport
import BatchStore

/// The events of one device that a store holds, in the order in which they happened, and what they say about each other.
///
/// Everything is read from the events themselves, so it can be told when the inputs are gone.
struct DeviceTimeline {
  struct Entry {
    var id: EventID
    var timestamp: Instant
    var emission: Int64
    /// Code, or the name of a game's event.
    var type: String
    /// Values by name; of a game its parameters.
    var attributes: [String: String]
    var stored: StoredEvent

    subscript(name: String) -> String? { attributes[name] }
  }

  /// A stretch of use.
  struct Session {
    /// Nil where it began is not in the store.
    var start: Entry?
    /// Nil while it goes on.
    var end: Entry?
    /// Events of it up to the one in question.
    var events = 0
  }

  /// Where a campaign came from.
  struct CampaignOrigin {
    var name: String
    /// The first event that carried it.
    var first: Entry
  }

  private(set) var entries: [Entry] = []
  /// The attribute that names the campaign.
  let campaignAttribute: String

  /// - Parameter device: the bytes of its id.
  init(of device: [UInt8], in store: EventStore) throws {
    campaignAttribute = try InstalledPlatforms.of(store)?.campaignAttribute(in: store) ?? ""
    var filter = EventFilter()
    filter.device = device
    var entries: [Entry] = []
    try store.forEachEvent(filter) { stored in
      entries.append(try Entry(stored))
      return true
    }
    self.entries = entries.sorted { ($0.timestamp, $0.emission) < ($1.timestamp, $1.emission) }
  }

  func index(of id: EventID) -> Int? { entries.firstIndex { $0.id == id } }

  /// The last event up to the instant; nil if there is none.
  func last(at instant: Instant) -> Int? { entries.lastIndex { $0.timestamp <= instant } }

  /// The session that the event at the index belongs to; nil if none was under way.
  func session(at index: Int) -> Session? {
    var session: Session?
    for (place, entry) in entries[...index].enumerated() {
      switch entry.type {
      case Self.started:
        // A link that is opened in a session reports a start without beginning another one.
        if session == nil { session = Session(start: entry) }
      case Self.ended where place < index: session = nil
      default: break
      }
      session?.events += 1
    }
    if session == nil, entries[index].type == Self.ended { session = Session() }
    guard session != nil else { return nil }
    session?.end = entries[index...].first { $0.type == Self.ended }
    return session
  }

  /// The campaign that the event at the index carries, and the first event of those before it without another one between; nil
  /// for an event without campaign.
  func campaign(at index: Int) -> CampaignOrigin? {
    guard let name = entries[index][campaignAttribute], !name.isEmpty else { return nil }
    var first = entries[index]
    for entry in entries[..<index].reversed() {
      // Events of other kinds, such as the caller's own, name no campaign at all.
      guard let other = entry[campaignAttribute] else { continue }
      guard other.isIdentical(to: name) else { break }
      first = entry
    }
    return CampaignOrigin(name: name, first: first)
  }

  /// The last campaign before the event at the index that was over by then; nil if there was none.
  func lastCampaign(before index: Int) -> CampaignOrigin? {
    entries[..<index].indices.reversed().lazy.compactMap { campaign(at: $0) }.first
  }

  /// Codes of a session's two ends (reference events 1.1).
  static let started = "13"
  static let ended = "14"
}

extension DeviceTimeline.Entry {
  init(_ stored: StoredEvent) throws {
    let event = try JSONNode.parse(stored.json)
    var attributes: [String: String] = [:]
    for attribute in event["attributes"]?.array ?? [] {
      if let name = attribute["name"]?.string { attributes[name] = attribute["value"]?.string ?? "" }
    }
    for member in event["eventParams"]?.members ?? [] { attributes[member.key] = member.value.line }
    self.init(
      id: stored.id, timestamp: stored.id.timestamp, emission: stored.emission,
      type: (event["eventTypeCode"] ?? event["eventName"])?.string ?? "", attributes: attributes, stored: stored)
  }

  /// The event in words, without any value of it.
  var words: String { EventWords.of(type) }

  /// What of it can set a campaign; nil if nothing can.
  var campaignSource: String? {
    switch type {
    case "48": "the notification received"
    case "49": "the notification opened"
    case DeviceTimeline.started: "the link opened, or the session begun,"
    default: nil
    }
  }
}
