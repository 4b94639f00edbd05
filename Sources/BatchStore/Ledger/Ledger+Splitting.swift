import BatchFoundation
import GRDB

/// Splits chunks that are too large for a request, or some of whose events are rejected. `DeliverySchedule` in
/// BatchDelivery decides which chunks to halve, except for those that the platform's changes made too large.
extension Ledger {
  /// Halves a chunk that the service rejected because of its size or some of its events (reference guarantees 3).
  func split(
    _ chunk: PendingChunk, reason: String, limits: RequestLimits, _ receipt: inout LedgerReceipt, in db: Database
  ) throws {
    try Self.replace(chunk, by: halves(of: chunk, limits, in: db), reason: reason, &receipt, in: db)
  }

  func halves(of chunk: PendingChunk, _ limits: RequestLimits, in db: Database) throws -> EventBlocks {
    let half = RequestLimits(maxEvents: (chunk.events + 1) / 2, maxBodyBytes: limits.maxBodyBytes)
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
        db, sql: "SELECT id, pack, offset, length FROM chunk WHERE status = ? AND body_digest IS NULL ORDER BY id",
        arguments: [EventStatus.notPosted])
      return try chunks.reduce(0) { count, chunk in
        try count + move(chunk, to: .hold, in: db) { unsafe held.contains(Array($0.device.bytes)) }
      }
    }
  }

  /// Sets the events of a chunk for which `goes` is true to a status: the whole chunk or, if it has others as well, a
  /// new chunk with these events. Returns their number.
  ///
  /// - Parameter chunk: a row with the columns `id`, `pack`, `offset` and `length`.
  func move(
    _ chunk: Row, to status: EventStatus, in db: Database, where goes: (EventBlockReader) -> Bool
  ) throws -> Int {
    let id: Int64 = try chunk.value("id")
    let (form, block) = (connection.format.wireForm, try Self.block(of: chunk, in: db))
    let reader = try form.reader(of: block)
    var (count, others) = (0, 0)
    while try reader.next() { if goes(reader) { count += 1 } else { others += 1 } }
    if count > 0, others == 0 {
      try db.execute(sql: "UPDATE chunk SET status = ? WHERE id = ?", arguments: [status, id])
    } else if count > 0 {
      try Self.insert(form.copy(of: block, where: goes), from: id, as: status, in: db)
      try Self.replaceBlock(of: id, by: form.copy(of: block) { !goes($0) }, in: db)
      // The planned body no longer matches the events.
      try db.execute(sql: "UPDATE chunk SET body_digest = NULL, form = 0 WHERE id = ?", arguments: [id])
    }
    return count
  }
}
