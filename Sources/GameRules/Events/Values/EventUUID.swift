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

  /// Appends the text in quotes.
  @inline(__always)
  package func appendJSON(to target: inout ByteBuffer) {
    switch self {
    case .key(let key):
      unsafe target.append(limit: NameUUID.textBytes + 2) { bytes in
        unsafe bytes[0] = UInt8(ascii: "\"")
        unsafe key.write(to: bytes + 1)
        unsafe bytes[NameUUID.textBytes + 1] = UInt8(ascii: "\"")
        return NameUUID.textBytes + 2
      }
    case .text(let text): CanonicalJSON.appendString(text, to: &target)
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
