package import BatchFoundation
package import GRDB

/// How a platform keeps its events in blocks: what the store knows of events.
///
/// A block is the content of one request, in whatever form; the store keeps its bytes and what stands beside them in
/// ``EventBlocks/Entry``. Strings stand in it behind their length, escaped as in JSON; ``BlockText`` relies on that.
package protocol EventCodec: Sendable {
  /// Opens a block before its first event.
  ///
  /// - Throws: `StoreError/damagedBlock`, here or from the cursor, for bytes that make no sense.
  func cursor(of block: [UInt8]) throws -> any EventCursor

  /// Writes events that cursors of this codec stand on.
  func writer(_ limits: BlockLimits) -> any BlockWriter

  /// Appends the exact request body of a block: the same bytes for the same version ever after.
  func appendBody(of block: UnsafeBufferPointer<UInt8>, version: Int, to body: inout ByteBuffer) throws
}

/// Walks through the events of one block.
package protocol EventCursor: AnyObject {
  /// Goes to the next event; false behind the last.
  func next() throws -> Bool

  var timestamp: Instant { get }
  /// Grows from event to event of a device, across runs; see ``EmissionNumber``.
  var emission: Int64 { get }
  /// The device that the event came from; lives as long as the cursor.
  var device: Text { get }
  /// The code or the name of the event; lives as long as the cursor.
  var type: Text { get }
  /// Posted all the same, but shown as `EXPIRED` while it waits.
  var isExpired: Bool { get }
  /// Its record came beyond the reach of a rewind, where that makes a difference to its platform (reference decisions 34).
  var isLate: Bool { get }
  /// Where the record that led to the event was read.
  var source: StoredSource { get }

  /// Appends the event in the form of the wire and of `--events-out`, without a line end.
  func appendJSON(to target: inout ByteBuffer)
}

extension EventCursor {
  package var isLate: Bool { false }
}

/// Collects events into blocks.
package protocol BlockWriter: AnyObject {
  /// Takes the event that the cursor stands on, whose block may go afterwards; events come in the order of delivery.
  ///
  /// - Parameter emission: its number from here on.
  func append(_ event: any EventCursor, emission: Int64)

  /// The events since the last call in blocks within the limits.
  func finish() -> EventBlocks
}

extension BlockWriter {
  package func append(_ event: any EventCursor) { append(event, emission: event.emission) }
}

/// What a platform changes about events between their storing and their first attempt.
package protocol BlockAmendment: Sendable {
  /// The events of a block as they are to be sent; nil if nothing changes.
  func amended(_ block: [UInt8], limits: BlockLimits, in db: Database) throws -> EventBlocks?

  /// An event of a device has another number from here on, and is changed as by its number before.
  func renumber(_ device: [UInt8], from old: Int64, to new: Int64, in db: Database) throws
}

/// Rows of a platform's own tables that belong to a batch and are stored with it or not at all.
package protocol PlatformRows: Sendable {
  /// About what the rows take in memory.
  var byteCount: Int { get }

  func insert(run: RunID, into db: Database) throws

  /// Takes in more rows of the same platform.
  mutating func add(_ more: any PlatformRows)

  /// The rows besides those that are known, of a device that is decided anew: what was asked of a service stays asked; nil for none.
  func without(_ known: any PlatformRows) -> (any PlatformRows)?

  /// The rows of a span of time that the store has never had, for records that are decided once more; nil for none.
  ///
  /// - Parameters:
  ///   - span: of the records that the rows come from.
  ///   - db: with the platform's tables.
  func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)?
}

extension PlatformRows {
  package func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)? { nil }
}

extension EventCodec {
  /// The events of a block that are wanted, in their order, in blocks of these limits.
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

/// Encoded blocks, one after the other in one piece of memory, with what the store keeps beside each.
package struct EventBlocks: Sendable {
  package struct Entry: Sendable, Equatable {
    /// Place of the block in the bytes.
    package var offset: Int
    package var length: Int
    package var events: Int
    /// Events whose augmentation ran out of time.
    package var expired: Int
    /// Of the first and of the last event.
    package var first: Instant
    package var last: Instant
    /// Exact size of the request body that is made from the block.
    package var bodyBytes: Int
    /// Events of different groups never share a request; what a group means is the platform's, such as the request's headers.
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

/// How much goes into one request (reference formats 2.3, `Upload`).
package struct BlockLimits: Sendable, Equatable {
  package var maxEvents: Int
  package var maxBodyBytes: Int

  package init(maxEvents: Int, maxBodyBytes: Int) {
    self.maxEvents = maxEvents
    self.maxBodyBytes = maxBodyBytes
  }
}
