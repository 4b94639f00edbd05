import BatchFoundation
import GRDB

/// Splits chunks that are too large for a request, or some of whose events are rejected. `DeliverySchedule` in
/// BatchDelivery decides which chunks to halve, except for those that the platform's changes made too large.
extension Ledger {
  /// Halves a chunk that the service rejected because of its size or some of its events (reference guarantees 3).
  func split(
    _ chunk: PendingChunk, reason: String, limits: BlockLimits, _ receipt: inout LedgerReceipt, in db: Database
  ) throws {
    try Self.replace(chunk, by: halves(of: chunk, limits, in: db), reason: reason, &receipt, in: db)
  }

  func halves(of chunk: PendingChunk, _ limits: BlockLimits, in db: Database) throws -> EventBlocks {
    let half = BlockLimits(maxEvents: (chunk.events + 1) / 2, maxBodyBytes: limits.maxBodyBytes)
    return try connection.format.wireForm.copy(of: Self.currentBlock(of: chunk.id, in: db), limits: half)
  }

  static func currentBlock(of chunk: Int64, in db: Database) throws -> [UInt8] {
    guard
      let row = try Row.fetchOne(db, sql: "SELECT pack, offset, length FROM chunk WHERE id = ?", arguments: [chunk])
    else { throw StoreError.inconsistent("chunk \(chunk) is missing") }
    return try block(of: row, in: db)
  }

  /// Replaces a chunk with its halves or other parts. The chunk's row is kept, because its attempts refer to it.
  static func replace(
    _ chunk: PendingChunk, by parts: EventBlocks, reason: String, _ receipt: inout LedgerReceipt, in db: Database
  ) throws {
    // The chunk may have received a new block since it was read, for example with new identities.
    let old: Int64? = try Int64.fetchOne(db, sql: "SELECT pack FROM chunk WHERE id = ?", arguments: [chunk.id])
    for part in try insertParts(parts, of: chunk.id, as: .notPosted, in: db) {
      receipt.parts.append(try PendingChunk(part, in: db))
    }
    try db.execute(
      sql: "UPDATE chunk SET status = ?, pack = NULL, offset = 0, length = 0, reason = ? WHERE id = ?",
      arguments: [ChunkStatus.split, reason, chunk.id])
    if let old { try releasePack(old, in: db) }
  }
}

extension Ledger {
  /// Sets pending events of these devices to `HOLD`, and releases all others (`Recipient.holdEventsUntilIdentified`).
  /// If a chunk has both kinds, the held events are moved to a new chunk. Frozen chunks are not changed.
  ///
  /// - Returns: the number of held events.
  package func hold(eventsOf devices: [String]) throws -> Int {
    let held = Set(devices.map { Array($0.utf8) })
    return try connection.write { db in
      try db.execute(
        sql: "UPDATE chunk SET status = ? WHERE status = ?",
        arguments: [EventStatus.notPosted, EventStatus.hold])
      guard !held.isEmpty else { return 0 }
      let chunks = try Row.fetchAll(
        db,
        sql: "SELECT id, events, pack, offset, length FROM chunk WHERE status = ? AND body_digest IS NULL ORDER BY id",
        arguments: [EventStatus.notPosted])
      return try chunks.reduce(0) { try $0 + hold(eventsOf: held, in: $1, db) }
    }
  }

  /// - Returns: the number of held events in the chunk.
  private func hold(eventsOf devices: Set<[UInt8]>, in chunk: Row, _ db: Database) throws -> Int {
    let id: Int64 = try chunk.value("id")
    let events: Int = try chunk.value("events")
    let block = try Self.block(of: chunk, in: db)
    let waiting = try countEvents(of: devices, in: block)
    switch waiting {
    case 0: break
    case events:
      try db.execute(sql: "UPDATE chunk SET status = ? WHERE id = ?", arguments: [EventStatus.hold, id])
    default:
      func part(_ waits: Bool) throws -> EventBlocks {
        try connection.format.wireForm.copy(of: block) { unsafe devices.contains(Array($0.device.bytes)) == waits }
      }
      try Self.insert(part(true), from: id, as: .hold, in: db)
      try Self.replaceBlock(of: id, by: part(false), in: db)
    }
    return waiting
  }

  private func countEvents(of devices: Set<[UInt8]>, in block: [UInt8]) throws -> Int {
    let cursor = try connection.format.wireForm.reader(of: block)
    var count = 0
    while try cursor.next() {
      if unsafe devices.contains(Array(cursor.device.bytes)) { count += 1 }
    }
    return count
  }
}
