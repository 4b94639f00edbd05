import BatchFoundation
import BatchPipeline
import BatchStore

/// An event as people name it: by the id of listings, which may be shortened, or by the one that its service knows.
enum NamedEvent {
  case stored(StoredEvent)
  /// Kept back for what the checks found.
  case quarantined(EventID, StoredQuarantine)

  /// - Throws: ``UnknownName`` with events of the same instant where the name is an id of listings; ``AmbiguousName`` for the
  ///   beginning of several.
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

  /// The last event of a device that has a campaign, by its name or an id of it.
  ///
  /// - Parameter instant: after which none counts; nil for the end of what the store knows.
  /// - Throws: ``UnknownName`` with the campaigns that the device had.
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
