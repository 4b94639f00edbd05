package import BatchFoundation
package import GRDB

/// A platform's encoding of events in blocks: all that the store knows of events.
///
/// A block is the content of one request, in any form; the store keeps its bytes and ``EventBlocks/Entry``. Strings
/// follow their length and are escaped as in JSON; ``BlockText`` relies on that.
package protocol EventCodec: Sendable {
  /// Opens a block before its first event.
  ///
  /// - Throws: `StoreError/damagedBlock`, here or from the cursor, for malformed bytes.
  func cursor(of block: [UInt8]) throws -> any EventCursor

  /// Returns a writer for events of cursors of this codec.
  func writer(_ limits: BlockLimits) -> any BlockWriter

  /// Appends the exact request body of a block; the bytes for a version never change.
  func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws
}

/// Walks through the events of one block.
package protocol EventCursor: AnyObject {
  /// Moves to the next event; returns false after the last.
  func next() throws -> Bool

  var timestamp: Instant { get }
  /// The emission number, which grows from event to event of a device, across runs; see ``EmissionNumber``.
  var emission: Int64 { get }
  /// The device that the event came from; valid as long as the cursor.
  var device: Text { get }
  /// The code or the name of the event; valid as long as the cursor.
  var type: Text { get }
  /// Whether the event is shown as `EXPIRED` while it is pending; it is posted all the same.
  var isExpired: Bool { get }
  /// Whether its record is older than the rewind window, if that matters to its platform (reference decisions 34).
  var isLate: Bool { get }
  /// The place where the record that led to the event was read.
  var source: StoredSource { get }

  /// Appends the event in the form of requests and of `--events-out`, without a line end.
  func appendJSON(to target: inout ByteBuffer)
}

extension EventCursor {
  package var isLate: Bool { false }
}

/// Collects events into blocks.
package protocol BlockWriter: AnyObject {
  /// Appends the current event of a cursor under a new emission number; events arrive in delivery order. The block of
  /// the cursor may be released afterwards.
  func append(_ event: any EventCursor, emission: Int64)

  /// Returns the events since the last call in blocks within the limits.
  func finish() -> EventBlocks
}

extension BlockWriter {
  package func append(_ event: any EventCursor) { append(event, emission: event.emission) }
}

/// The changes of a platform to events between storing and the first attempt.
package protocol BlockAmendment: Sendable {
  /// Returns the events of a block as they are to be sent; nil if nothing changes.
  func amended(_ block: [UInt8], limits: BlockLimits, in db: Database) throws -> EventBlocks?

  /// Renumbers an event of a device; changes recorded for the old number apply to the new one.
  func renumber(_ device: [UInt8], from old: Int64, to new: Int64, in db: Database) throws
}

/// Rows of a platform's own tables, stored atomically with their batch.
package protocol PlatformRows: Sendable {
  /// The approximate memory use in bytes.
  var byteCount: Int { get }

  func insert(run: RunID, into db: Database) throws

  /// Adds rows of the same platform.
  mutating func add(_ more: any PlatformRows)

  /// Returns the rows not among the known ones, for a device processed again, whose earlier calls remain valid; nil for
  /// none.
  func without(_ known: any PlatformRows) -> (any PlatformRows)?

  /// Returns the rows that the store never had for a time span whose records are processed again; nil for none.
  func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)?
}

extension PlatformRows {
  package func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)? { nil }
}

extension EventCodec {
  /// Returns the wanted events of a block, in order, in blocks within the limits.
  package func copy(
    of block: [UInt8], limits: BlockLimits = .ofParts, where isWanted: (any EventCursor) throws -> Bool = { _ in true }
  ) throws -> EventBlocks {
    let cursor = try cursor(of: block)
    let writer = writer(limits)
    while try cursor.next() {
      if try isWanted(cursor) { writer.append(cursor) }
    }
    return writer.finish()
  }
}

/// Encoded blocks, consecutive in memory, with what the store keeps about each.
package struct EventBlocks: Sendable {
  package struct Entry: Sendable, Equatable {
    /// The offset of the block in the bytes.
    package var offset: Int
    package var length: Int
    package var events: Int
    /// The number of events whose augmentation timed out.
    package var expired: Int
    /// The times of the first and the last event.
    package var first: Instant
    package var last: Instant
    /// The exact size of the request body in bytes.
    package var bodyBytes: Int
    /// The platform's group, such as the request's headers: events of different groups never share a request.
    package var group: Int

    package init(
      offset: Int, length: Int, events: Int, expired: Int, first: Instant, last: Instant, bodyBytes: Int, group: Int = 0
    ) {
      self.offset = offset
      self.length = length
      self.events = events
      self.expired = expired
      self.first = first
      self.last = last
      self.bodyBytes = bodyBytes
      self.group = group
    }
  }

  package var bytes: [UInt8]
  package var entries: [Entry]

  package init(bytes: [UInt8] = [], entries: [Entry] = []) {
    self.bytes = bytes
    self.entries = entries
  }

  package var eventCount: Int { entries.reduce(0) { $0 + $1.events } }

  package func block(_ index: Int) -> [UInt8] {
    let entry = entries[index]
    return Array(bytes[entry.offset..<entry.offset + entry.length])
  }
}

/// The limits of one request (reference formats 2.3, `Upload`).
package struct BlockLimits: Sendable, Equatable {
  package var maxEvents: Int
  package var maxBodyBytes: Int

  package init(maxEvents: Int, maxBodyBytes: Int) {
    self.maxEvents = maxEvents
    self.maxBodyBytes = maxBodyBytes
  }
}
