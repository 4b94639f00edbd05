package import BatchFoundation

/// Derives event ids from record keys (reference deltadna 5), many at once, which takes a fraction of the time. Until
/// its id is derived, an event has the record's key as ``GameEvent/eventUUID``.
package final class EventIDs {
  /// Nil if the processor cannot compute several ids at once faster than one by one.
  private let lanes = SHA1Lanes.widths.first.map(SHA1Lanes.init)
  private var pending: [(event: Int, number: Int)] = []
  private var laid: [Int] = []
  private var name = ByteBuffer(capacity: 64)

  /// - Parameters:
  ///   - event: the index of the event in the list passed to ``make(in:)``.
  ///   - number: the event's index among the events with the same name from the same record.
  package func add(event: Int, number: Int) { pending.append((event, number)) }

  /// Replaces the record keys of all added events with their ids.
  package func make(in events: inout [GameEvent]) {
    var first = 0
    while first < pending.count {
      let end = min(first + SHA1Lanes.count, pending.count)
      lanes?.reset()
      laid.removeAll(keepingCapacity: true)
      for (event, number) in pending[first..<end] {
        guard case .key(let key) = events[event].eventUUID else { continue }
        if lay(key, events[event].name, number) {
          laid.append(event)
        } else {
          events[event].eventUUID = .key(key.uuid(events[event].name, number: number))
        }
      }
      lanes?.hash()
      for (lane, event) in laid.enumerated() {
        guard let (high, low) = lanes?.leadingWords(lane) else { continue }
        events[event].eventUUID = .key(NameUUID(hashed: high, low))
      }
      first = end
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// Puts an id's input into the next lane; returns false if it does not fit.
  private func lay(_ key: NameUUID, _ eventName: Text, _ number: Int) -> Bool {
    guard let lanes, number < 10 else { return false }
    name.removeAll()
    name.append(eventName)
    name.append(UInt8(ascii: "#"))
    name.append(UInt8(ascii: "0") + UInt8(number))
    return unsafe withUnsafeBytes(of: (key.high.bigEndian, key.low.bigEndian)) {
      unsafe lanes.add($0, UnsafeRawBufferPointer(name.bytes))
    }
  }
}

/// The `eventUUID` of an event (reference deltadna 5). Upper-case UUIDs with hyphens, such as generated ids, are stored
/// in sixteen bytes.
package enum EventUUID: Sendable, CustomStringConvertible {
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

  /// The size of the id in JSON, in bytes, without quotes.
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

  package var description: String {
    switch self {
    case .key(let key): key.upperText
    case .text(let text): text.description
    }
  }
}

extension NameUUID {
  /// The namespace D (reference deltadna 5).
  package static let deltaDNA = program.uuid("deltadna")

  /// Derives the key K of a record from its input kind and its line, which must have no white space at either end
  /// (reference deltadna 5).
  package init(line: Text, kind: InputKind) {
    self = Self.deltaDNA.uuid {
      unsafe $0.update(UnsafeRawBufferPointer(Self.start(of: kind).bytes))
      unsafe $0.update(UnsafeRawBufferPointer(line.bytes))
    }
  }

  /// Returns the text that is hashed before a line to derive its key K.
  static func start(of kind: InputKind) -> Text {
    switch kind {
    case .events: "events\t"
    case .notifications: "notifications\t"
    case .deepLinks: "deepLinks\t"
    }
  }
}
