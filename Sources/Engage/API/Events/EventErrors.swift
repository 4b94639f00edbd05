package import BatchFoundation

/// An event that the service accepted and later refused (reference identity 6.1).
package struct EventError: Sendable {
  /// The service's error number; empty if there is none.
  package var id: String
  /// The service's message; it may quote the event.
  package var reason: ServiceWords
  /// The event as the service returns it; nil if it does not.
  package var event: JSONNode?

  /// Reads an answer of the errors endpoint. Its format is undocumented: an array, at the root or under `data`,
  /// `errors` or `events`. Returns nil if there is no array.
  package static func list(_ root: JSONNode) -> [EventError]? {
    let places = [root, root["data"], root["data"]?["errors"], root["data"]?["events"], root["errors"], root["events"]]
    guard let entries = places.compactMap({ $0?.array }).first else { return nil }
    return entries.map { entry in
      EventError(
        id: text(entry, ["errorId", "id"]),
        reason: ServiceWords(text(entry, ["errorMessage", "message", "description", "reason", "error"])),
        event: event(in: entry))
    }
  }

  private static func text(_ entry: JSONNode, _ keys: [String]) -> String {
    for key in keys {
      switch entry[key]?.value {
      case .string(let text), .number(let text): return text
      default: continue
      }
    }
    return ""
  }

  private static func event(in entry: JSONNode) -> JSONNode? {
    for key in ["event", "payload", "request"] {
      guard let node = entry[key] else { continue }
      if node.members != nil { return node }
      // Some services return the event as a string; if it is not JSON, there is no event.
      if let text = node.string { return try? JSONNode.parse(Array(text.utf8)) }
    }
    return entry["eventTypeCode"] == nil ? nil : entry
  }
}
