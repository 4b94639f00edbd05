package import BatchFoundation

/// Makes event ids from record keys (reference deltadna 5), for many events together, which takes a fraction of the
/// time. Until then the record's key takes the place of the event's id.
package final class EventIDs {
  /// Nil if the processor is not faster with several ids than with one.
  private let lanes = SHA1Lanes.widths.first.map(SHA1Lanes.init)
  private var waiting: [(event: Int, number: Int)] = []
  private var laid: [Int] = []
  private var name = ByteBuffer(capacity: 64)

  package init() {}

  /// - Parameters:
  ///   - event: the index of the event in the list passed to ``make(in:)``.
  ///   - number: the number of the event among those of its name from the same record, from 0.
  package func add(event: Int, number: Int) { waiting.append((event, number)) }

  /// Gives all added events their ids.
  package func make(in events: inout [GameEvent]) {
    var first = 0
    while first < waiting.count {
      let end = min(first + SHA1Lanes.count, waiting.count)
      lanes?.reset()
      laid.removeAll(keepingCapacity: true)
      for (event, number) in waiting[first..<end] {
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
    waiting.removeAll(keepingCapacity: true)
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

/// The `eventUUID` of an event (reference deltadna 5); sixteen bytes if in upper case with hyphens, like generated ids.
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

  package var description: String {
    switch self {
    case .key(let key): key.upperText
    case .text(let text): text.description
    }
  }
}

extension NameUUID {
  /// D of the reference.
  package static let deltaDNA = program.uuid("deltadna")

  /// Makes the key K of a record from its input kind and its line, without white space at both ends (reference deltadna
  /// 5).
  package init(line: Text, kind: InputKind) {
    self = Self.deltaDNA.uuid {
      unsafe $0.update(UnsafeRawBufferPointer(Self.start(of: kind).bytes))
      unsafe $0.update(UnsafeRawBufferPointer(line.bytes))
    }
  }

  /// Returns the text hashed before a line for its key K.
  static func start(of kind: InputKind) -> Text {
    switch kind {
    case .events: "events\t"
    case .notifications: "notifications\t"
    case .deepLinks: "deepLinks\t"
    }
  }
}
