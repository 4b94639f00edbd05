package import BatchFoundation

/// The form of a platform's events in requests and in `--events-out`, as fixed texts and the places of values between
/// them. One writer and one reader serve the events of all platforms in blocks (``EventBlockWriter``,
/// ``EventBlockReader``).
package struct WireForm: Sendable {
  package enum Piece: Sendable {
    /// A fixed text.
    case text(Text)
    /// The type of the event, escaped.
    case type
    /// The timestamp as in RFC 3339, or as deltaDNA writes it.
    case timestamp, spacedTimestamp
    /// A recipient id as a member of the event, if the body's version has it and the shared text is a number.
    case contact(Text, shared: Int)
    /// All shared texts, each after its own fixed text.
    case shared
    /// What an event has before its fields.
    case lead
    /// The event's own fields.
    case fields
  }

  /// A text that the events of a device share, escaped.
  package struct Shared: Sendable {
    package var before: Text
    package var after: Text
    /// Whether it is kept and not written.
    package var isHidden: Bool
    /// Whether nothing at all is written for an empty one.
    package var omitsEmpty: Bool

    package init(_ before: Text, after: Text = "", isHidden: Bool = false, omitsEmpty: Bool = false) {
      self.before = before
      self.after = after
      self.isHidden = isHidden
      self.omitsEmpty = omitsEmpty
    }
  }

  /// The start and the end of a request body, and what is between its events.
  package var bodyStart: Text
  package var bodyEnd: Text
  package var separator: UInt8
  package var pieces: [Piece]
  package var shared: [Shared]
  /// The shared text that names the device of an event, unless the event itself names another.
  package var device: Int
  /// The texts before the name of the first field, before those of the others, and between a name and its value.
  package var beforeFirstName: Text
  package var beforeName: Text
  package var beforeValue: Text
  /// Whether the values of fields are JSON values in the form of ``JSONView``; texts otherwise.
  package var valuesAreViews: Bool
  /// Called for each block that is opened; nil outside of tests.
  package var opened: (@Sendable () -> Void)?

  /// The bytes of every event besides its texts, with the separator.
  package let frame: Int
  /// The bytes of every request body besides its events.
  let bodyFrame: Int

  package init(
    body: (start: Text, end: Text), pieces: [Piece], shared: [Shared], device: Int = 0,
    names: (first: Text, next: Text, after: Text) = ("", "", ""), valuesAreViews: Bool = false,
    separator: UInt8 = UInt8(ascii: ",")
  ) {
    (bodyStart, bodyEnd) = body
    self.separator = separator
    self.pieces = pieces
    self.shared = shared
    self.device = device
    (beforeFirstName, beforeName, beforeValue) = names
    self.valuesAreViews = valuesAreViews
    let fixed = pieces.map { piece in
      switch piece {
      case .text(let text): text.count
      case .timestamp: 24
      case .spacedTimestamp: Instant.eventTimestampBytes
      case .type, .contact, .shared, .lead, .fields: 0
      }
    }
    frame = fixed.reduce(1, +)
    bodyFrame = bodyStart.count + bodyEnd.count
  }

  /// Returns the bytes that a shared text takes on the wire.
  @inline(__always)
  package func size(ofShared place: Int, escaped count: Int) -> Int {
    let slot = shared[place]
    return slot.isHidden || slot.omitsEmpty && count == 0 ? 0 : slot.before.count + count + slot.after.count
  }
}

extension WireForm {
  /// Opens a block before its first event.
  ///
  /// - Throws: ``StoreError/damagedBlock``, here or from the reader, for malformed bytes.
  package func reader(of block: [UInt8]) throws -> EventBlockReader {
    opened?()
    return try EventBlockReader(block, self)
  }

  /// Returns the wanted events of a block, in order, in blocks within the limits.
  package func copy(
    of block: [UInt8], limits: BlockLimits = .ofParts, where isWanted: (EventBlockReader) throws -> Bool = { _ in true }
  ) throws -> EventBlocks {
    let reader = try reader(of: block)
    let copier = EventBlockCopier(self, limits)
    while try reader.next() {
      if try isWanted(reader) { copier.append(reader) }
    }
    return copier.finish()
  }

  /// Appends the exact request body of a block; the bytes for a version never change.
  ///
  /// - Parameter version: 1 for a body with contact ids, if the form has them.
  /// - Throws: ``StoreError/damagedBlock`` for a block that cannot be read, or a body larger than the block states.
  package func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws {
    let reader = try unsafe EventBlockReader(BlockCursor(block), self)
    // The number is the block's claim, and a damaged block may claim anything; the buffer grows if it is true.
    body.reserve(min(reader.bodyBytes, 16 << 20))
    let contacts = version == 1 ? reader.eventCount * 64 : 0
    let limit = body.count + reader.bodyBytes + contacts
    body.append(bodyStart)
    var isFirst = true
    while try reader.next() {
      if !isFirst { body.append(separator) }
      isFirst = false
      reader.append(to: &body, withContact: version == 1)
      guard body.count <= limit else { throw StoreError.damagedBlock }
    }
    body.append(bodyEnd)
  }
}

/// What an event is besides its texts and values.
package struct EventHead {
  /// The code or the name of the event.
  package var type: Text
  package var timestamp: Instant
  /// The device that the event came from.
  package var device: Text
  /// The emission number; with timestamp and device it orders all events.
  package var emission: Int64
  /// The place where the event's record was read.
  package var source: StoredSource
  package var flags: EventFlags
  /// The platform's group: events of different groups never share a request.
  package var group: UInt8
  package var lead: Lead

  /// What an event has before its fields.
  package enum Lead {
    case none
    case uuid(NameUUID)
    /// A text, written in quotes.
    case text(Text)
    /// Bytes to be written as they are.
    case raw(Text)
  }

  package init(
    type: Text, timestamp: Instant, device: Text, emission: Int64, source: StoredSource = .unknown,
    flags: EventFlags = [], group: UInt8 = 0, lead: Lead = .none
  ) {
    self.type = type
    self.timestamp = timestamp
    self.device = device
    self.emission = emission
    self.source = source
    self.flags = flags
    self.group = group
    self.lead = lead
  }
}

package struct EventFlags: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Augmentation ran out of time (reference events 5.3); the event is still posted.
  package static let isExpired = EventFlags(rawValue: 1)
  /// The event stays as it was recorded: it names its recipient or user itself, or an SDK stored it.
  package static let isFixed = EventFlags(rawValue: 2)
  /// The record was older than a rewind reaches (reference decisions 34).
  package static let isLate = EventFlags(rawValue: 4)

  // Of blocks only.
  static let hasOwnDevice = EventFlags(rawValue: 8)
  static let hasUUID = EventFlags(rawValue: 16)
  static let bits: UInt64 = 5
}
