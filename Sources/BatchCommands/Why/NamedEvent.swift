import BatchFoundation
import BatchPipeline
import BatchStore

/// An event named by an operator: by its id in listings, whole or shortened, or by the one known to its service.
enum NamedEvent {
  case stored(StoredEvent)
  /// An event quarantined because of findings of the checks.
  case quarantined(EventID, StoredQuarantine)

  /// - Throws: ``UnknownName``, for an id of listings with events of the same instant; ``AmbiguousName`` for a
  ///   beginning of several ids.
  static func find(_ text: String, in store: EventStore) throws -> NamedEvent {
    let id = EventID(text)
    if let id, let found = try find(id, in: store) { return found }
    let platform = try Platforms.installed.platform(named: store.format.destination)
    if let id = try platform.event(named: text, in: store), let found = try find(id, in: store) { return found }
    if let prefix = EventIDPrefix(text) { return .stored(try store.knownEvent(prefix)) }
    if try store.timelines.device(Array(text.utf8)) != nil {
      throw UnknownName(kind: "event", name: text, hint: "it is a device: ask with --device")
    }
    throw UnknownName(
      kind: "event", name: text,
      hint: "'engage-batch store events' lists those that it has; six characters of an id are enough")
  }

  /// Returns a device's last event, up to the instant if there is one, with a campaign, given by name or id.
  ///
  /// - Throws: ``UnknownName`` with the device's campaigns.
  static func last(
    ofCampaign campaign: String, on device: [UInt8], until instant: Instant?, in store: EventStore
  ) throws -> StoredEvent {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    let names = try InstalledPlatforms.of(platform)?.campaigns(in: store)
    var filter = EventFilter()
    filter.devices = [device]
    var last: StoredEvent?
    var known: Set<String> = []
    try store.ledger.forEachEvent(filter) { event in
      let values = try platform.describe(event).values.last.flatMap { names?($0) } ?? []
      known.formUnion(values.filter { !$0.isEmpty })
      guard values.contains(where: { $0.isIdentical(to: campaign) }), instant.map({ event.id.timestamp <= $0 }) ?? true
      else { return true }
      if last.map({ ($0.id.timestamp, $0.emission) < (event.id.timestamp, event.emission) }) ?? true { last = event }
      return true
    }
    if let last { return last }
    throw UnknownName(
      kind: "campaign of the device", name: campaign,
      hint: known.isEmpty ? "no event of it has one" : "its events have \(known.sorted().joined(separator: ", "))")
  }

  private static func find(_ id: EventID, in store: EventStore) throws -> NamedEvent? {
    if let event = try store.ledger.event(id) { return .stored(event) }
    return try store.quarantine.line(id).map { .quarantined(id, $0) }
  }
}
