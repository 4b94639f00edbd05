import BatchFoundation
import BatchPlatform
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

  private static func find(_ id: EventID, in store: EventStore) throws -> NamedEvent? {
    if let event = try store.ledger.event(id) { return .stored(event) }
    return try store.quarantine.line(id).map { .quarantined(id, $0) }
  }
}
