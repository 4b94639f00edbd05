package import BatchFoundation

/// The format of a platform's events in requests and in `--events-out`: fixed texts, and the places of values between
/// them. One writer and one reader serve all platforms (``EventBlockWriter``, ``EventBlockReader``).
package struct WireForm: Sendable {
  package enum Piece: Sendable {
    /// The same text in each event.
    case text(Text)
    /// The type of the event, escaped.
    case type
    /// The timestamp as in RFC 3339, or as in deltaDNA's `eventTimestamp`.
    case timestamp, spacedTimestamp
    /// A fixed text followed by the recipient id, which is a shared text. Omitted if the body's version has no contact
    /// ids, or if the id is not a number.
    case contact(Text, shared: Int)
    /// All shared texts, each with its own fixed texts around it.
    case shared
    /// The part of the event before its fields.
    case lead
    /// The event's own fields.
    case fields
  }

  /// A text that the events of a device have in common, escaped.
  package struct Shared: Sendable {
    package var before: Text
    package var after: Text
    /// Whether the text is stored but not written to the wire.
    package var isHidden: Bool
    /// Whether nothing at all is written if the text is empty.
    package var omitsEmpty: Bool

    package init(_ before: Text, after: Text = "", isHidden: Bool = false, omitsEmpty: Bool = false) {
      self.before = before
      self.after = after
      self.isHidden = isHidden
      self.omitsEmpty = omitsEmpty
    }
  }

  /// The start and the end of a request body, and the separator between its events.
  package var bodyStart: Text
  package var bodyEnd: Text
  package var separator: UInt8
  package var pieces: [Piece]
  package var shared: [Shared]
  /// The index of the shared text that names the device of an event, unless the event names a different device itself.
  package var device: Int
  /// The texts before the name of the first field, before other names, and between a name and its value.
  package var beforeFirstName: Text
  package var beforeName: Text
  package var beforeValue: Text
  /// Whether the values of fields are given as ``JSONView``; otherwise they are texts.
  package var valuesAreViews: Bool
  /// Called whenever a reader is created for a block; nil except in tests.
  package var opened: (@Sendable () -> Void)?

  /// The number of bytes that every event has in addition to its variable texts, including the separator.
  package let frame: Int
  /// The number of bytes that every request body has in addition to its events.
  let bodyFrame: Int
  /// The pieces of the list that has the fields: these and, if they come directly before, the shared texts. Empty if
  /// the form has no fields.
  let list: Range<Int>

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
    let fields = pieces.firstIndex { if case .fields = $0 { true } else { false } }
    list =
      fields.map { fields in
        if fields > 0, case .shared = pieces[fields - 1] { fields - 1..<fields + 1 } else { fields..<fields + 1 }
      } ?? 0..<0
  }

  /// Returns the number of bytes that the shared text at an index adds to an event on the wire.
  ///
  /// - Parameter count: the length of the escaped text.
  @inline(__always)
  package func size(ofShared place: Int, escaped count: Int) -> Int {
    let slot = shared[place]
    return slot.isHidden || slot.omitsEmpty && count == 0 ? 0 : slot.before.count + count + slot.after.count
  }
}

extension WireForm {
  /// Returns a reader positioned before the first event of a block.
  ///
  /// - Throws: ``StoreError/damagedBlock`` for malformed bytes; the reader may throw it, too.
  package func reader(of block: [UInt8]) throws -> EventBlockReader {
    opened?()
    return try EventBlockReader(block, self)
  }

  /// Copies the wanted events of a block, in order, to blocks within the limits.
  ///
  /// - Throws: ``StoreError/damagedBlock``, and what `isWanted` throws.
  package func copy(
    of block: [UInt8], limits: RequestLimits = .ofParts,
    where isWanted: (EventBlockReader) throws -> Bool = { _ in true }
  ) throws -> EventBlocks {
    let reader = try reader(of: block)
    let copier = EventBlockCopier(self, limits)
    while try reader.next() {
      if try isWanted(reader) { copier.append(reader) }
    }
    return copier.finish()
  }

  /// Appends the exact request body of a block. The bytes for a version never change.
  ///
  /// - Parameter version: 1 for a body with contact ids, if the form has them.
  /// - Throws: ``StoreError/damagedBlock`` if the block cannot be read, or if its body is larger than the block claims.
  package func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws {
    let reader = try unsafe EventBlockReader(BlockCursor(block), self)
    // A damaged block may claim any size, so the reservation is limited; the buffer grows if the claim is true.
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

  /// Returns the exact request body of a block and its SHA-256; see ``appendBody(of:version:to:)``.
  ///
  /// - Parameter capacity: the probable size of the body in bytes.
  func body(of block: [UInt8], version: Int, capacity: Int = 0) throws -> (bytes: [UInt8], digest: [UInt8]) {
    var body = ByteBuffer(capacity: capacity)
    try unsafe block.withUnsafeBufferPointer { try unsafe appendBody(of: $0, version: version, to: &body) }
    var hash = SHA256()
    unsafe hash.update(UnsafeRawBufferPointer(body.bytes))
    return (body.array, Array(hash.finalize()))
  }
}

/// The properties of an event other than its shared texts and fields.
package struct EventHead {
  /// The code or the name of the event.
  package var type: Text
  package var timestamp: Instant
  /// The device that the event came from.
  package var device: Text
  /// The emission number. Together with timestamp and device, it orders all events.
  package var emission: Int64
  /// The place where the event's record was read.
  package var source: StoredSource
  package var flags: EventFlags
  /// A group chosen by the platform. Events of different groups never share a request.
  package var group: UInt8
  package var lead: Lead

  /// The part of the event before its fields.
  package enum Lead {
    case none
    case uuid(NameUUID)
    /// A text that is written in quotes.
    case text(Text)
    /// Bytes that are written as is.
    case raw(Text)
  }

  package init(
    type: Text, timestamp: Instant, device: Text, emission: Int64, source: StoredSource = .unknown,
    flags: EventFlags = .init(rawValue: 0), group: UInt8 = 0, lead: Lead = .none
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
  /// The augmentation timed out (reference events 5.3); the event is still posted.
  package static let isExpired = EventFlags(rawValue: 1)
  /// The event keeps the ids it was recorded with, because it names its own recipient or user, or an SDK stored it.
  package static let isFixed = EventFlags(rawValue: 2)
  /// The record was beyond the reach of a rewind (reference decisions 34).
  package static let isLate = EventFlags(rawValue: 4)

  // These are used only within blocks.
  static let hasOwnDevice = EventFlags(rawValue: 8)
  static let hasUUID = EventFlags(rawValue: 16)
  static let bits: UInt64 = 5
}
