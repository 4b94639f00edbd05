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
