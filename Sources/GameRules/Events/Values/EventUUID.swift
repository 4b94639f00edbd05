package import BatchFoundation

/// The `eventUUID` of an event (reference deltadna 5); sixteen bytes if in upper case with hyphens, like generated ids.
package enum EventUUID: Sendable {
  case key(NameUUID)
  /// Any other spelling, as recorded.
  case text(Text)

  package init(_ text: Text) {
    self = NameUUID(text).map(EventUUID.key) ?? .text(text)
  }

  var count: Int {
    switch self {
    case .key: NameUUID.textBytes
    case .text(let text): text.count
    }
  }

  /// The number of bytes of the text in JSON, without quotes.
  var escapedCount: Int {
    switch self {
    case .key: NameUUID.textBytes
    case .text(let text): CanonicalJSON.escapedCount(text)
    }
  }

  func copied(to arena: Arena) -> EventUUID {
    switch self {
    case .key: self
    case .text(let text): unsafe .text(arena.copy(text.bytes))
    }
  }
}

extension EventUUID: CustomStringConvertible {
  package var description: String {
    switch self {
    case .key(let key): key.upperText
    case .text(let text): text.description
    }
  }
}
