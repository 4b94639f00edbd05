package import BatchFoundation
package import GRDB

/// The changes that a platform makes to events after they are stored and before the first attempt to send them. Errors,
/// such as those of GRDB or ``StoreError/damagedBlock``, roll back the transaction.
package protocol BlockAmendment: Sendable {
  /// Returns the events of a block as they are to be sent; nil if the platform changes none of them.
  func amended(_ block: [UInt8], limits: RequestLimits, in db: Database) throws -> EventBlocks?

  /// Renumbers an event of a device. Changes that are recorded for the old number then apply to the new one.
  func renumber(_ device: [UInt8], from old: Int64, to new: Int64, in db: Database) throws
}

/// Rows of a platform's own tables, stored in one transaction with the batch that they belong to. Errors roll it back.
package protocol PlatformRows: Sendable {
  /// The approximate memory use in bytes.
  var byteCount: Int { get }

  func insert(run: RunID, into db: Database) throws

  /// Adds rows of the same platform.
  mutating func add(_ more: any PlatformRows)

  /// Returns these rows except those that are also in `known`, for a device that is processed again; nil if none are
  /// left. Requests for the known rows may already have been sent.
  func without(_ known: any PlatformRows) -> (any PlatformRows)?

  /// Returns the rows that the store never had, for a span that is processed again; nil if there are none.
  func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)?
}

extension PlatformRows {
  package func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)? { nil }
}

/// Encoded blocks, consecutive in memory, with the properties that the store keeps for each.
package struct EventBlocks: Sendable {
  package struct Entry: Sendable, Equatable {
    /// The offset of the block in ``EventBlocks/bytes``.
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
    /// A group chosen by the platform, for example by request headers. Events of different groups never share a
    /// request.
    package var group: Int
  }

  package var bytes: [UInt8]
  package var entries: [Entry]

  package var eventCount: Int { entries.reduce(0) { $0 + $1.events } }

  package func block(_ index: Int) -> [UInt8] {
    let entry = entries[index]
    return Array(bytes[entry.offset..<entry.offset + entry.length])
  }
}

/// The limits of one request (reference formats 2.3, `Upload`).
package struct RequestLimits: Sendable, Equatable {
  package var maxEvents: Int
  package var maxBodyBytes: Int

  package init(maxEvents: Int, maxBodyBytes: Int) {
    self.maxEvents = maxEvents
    self.maxBodyBytes = maxBodyBytes
  }
}
