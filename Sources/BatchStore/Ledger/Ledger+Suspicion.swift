import GRDB

/// The handling of chunks on which the service fails: they are halved, joined again, or given up (decisions 38).
extension Ledger {
  /// Returns the pending parts of chunks on which the service failed because of some event: in one run, it failed on
  /// the chunk, answered another request, and then failed on a part. Parts of rejected chunks are excluded, as are
  /// parts that a killed run had not tried after such a response.
  package func remainders() throws -> Set<Int64> {
    let parts = try connection.all(
      """
      WITH RECURSIVE line (part, whole) AS (
        SELECT id, id FROM chunk WHERE status = ?1 AND parent IS NOT NULL
        UNION SELECT line.part, chunk.parent FROM line JOIN chunk ON chunk.id = line.whole
        WHERE chunk.parent IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.chunk = chunk.parent AND outcome = ?3)),
      failure (id, chunk, run) AS (
        SELECT id, chunk, run FROM attempt
        WHERE chunk IN (SELECT whole FROM line) AND outcome IN (?4, ?5) AND reason IS NOT 'crash')
      SELECT DISTINCT line.part AS part FROM line
      JOIN failure AS last ON last.id = (SELECT max(id) FROM failure WHERE chunk = line.whole)
      WHERE line.whole <> line.part
        AND EXISTS (
          SELECT 1 FROM line AS own JOIN failure AS again ON again.chunk = own.whole
          WHERE own.part = line.part AND again.run = last.run AND again.id > (
            SELECT min(id) FROM attempt WHERE id > last.id AND run = last.run AND outcome IN (?2, ?3)))
      """,
      [
        EventStatus.notPosted, AttemptOutcome.acknowledged, AttemptOutcome.rejected, AttemptOutcome.refused,
        AttemptOutcome.unknown,
      ]
    ) { try $0.value(0) as Int64 }
    return Set(parts)
  }

  func carryOut(
    _ change: ChunkChange, holdsDoubt: Bool, run: RunID, limits: RequestLimits, _ receipt: inout LedgerReceipt,
    in db: Database
  ) throws {
    switch change {
    case .quarantine(let chunk): try setAside(chunk, run: run, &receipt, in: db)
    case .giveUp(let chunk), .halve(let chunk):
      if holdsDoubt, try Self.isInDoubt(chunk.id, in: db) {
        try Self.settle(chunk.id, as: .unknown, run: run, in: db)
      } else if case .halve = change {
        try halve(chunk, limits: limits, &receipt, in: db)
      } else {
        try Self.settle(chunk.id, as: .failedPost, run: run, in: db)
        receipt.givenUp += 1
      }
    case .join(let parts, let whole, let isOutage): try join(parts, to: whole.id, isOutage: isOutage, &receipt, in: db)
    }
  }

  /// Returns whether the service may have accepted an attempt to send the chunk or any chunk of which it is a part.
  static func isInDoubt(_ chunk: Int64, in db: Database) throws -> Bool {
    let statement = try db.cachedStatement(
      sql: """
        WITH RECURSIVE line (id) AS (
          SELECT ?1 UNION SELECT chunk.parent FROM chunk JOIN line ON chunk.id = line.id WHERE chunk.parent IS NOT NULL)
        SELECT EXISTS (SELECT 1 FROM attempt WHERE outcome = ?2 AND chunk IN (SELECT id FROM line))
        """)
    return try Bool.fetchOne(statement, arguments: [chunk, AttemptOutcome.unknown]) ?? false
  }

  /// Settles a pending chunk. The reason for its last attempt's failure is kept.
  private static func settle(_ chunk: Int64, as status: EventStatus, run: RunID, in db: Database) throws {
    try db.execute(
      sql: "UPDATE chunk SET status = ?, settled_run = ? WHERE id = ? AND status = ?",
      arguments: [status, run.number, chunk, EventStatus.notPosted])
    guard db.changesCount == 1 else { throw StoreError.inconsistent("chunk \(chunk) is not pending") }
  }

  private func halve(
    _ chunk: PendingChunk, limits: RequestLimits, _ receipt: inout LedgerReceipt, in db: Database
  ) throws {
    guard
      let row = try Row.fetchOne(
        db, sql: "SELECT reason, form, body_digest FROM chunk WHERE id = ? AND status = ?",
        arguments: [chunk.id, EventStatus.notPosted])
    else { throw StoreError.inconsistent("chunk \(chunk.id) is not pending") }
    let first = receipt.parts.count
    try Self.replace(
      chunk, by: halves(of: chunk, limits, in: db), reason: row.value("reason") ?? "", &receipt, in: db)
    // A body that the service may have accepted must not change, so the halves of a frozen chunk are frozen, too.
    guard try row.bytes("body_digest") != nil else { return }
    let form: Int = try row.value("form")
    for index in first..<receipt.parts.count {
      let part = receipt.parts[index].id
      let digest = try connection.format.wireForm.body(of: Self.currentBlock(of: part, in: db), version: form).digest
      try db.execute(
        sql: "UPDATE chunk SET body_digest = ?, form = ? WHERE id = ?", arguments: [digest.blob, form, part])
      (receipt.parts[index].digest, receipt.parts[index].form) = (digest, form)
    }
  }

  private func join(
    _ parts: [Int64], to whole: Int64, isOutage: Bool, _ receipt: inout LedgerReceipt, in db: Database
  ) throws {
    let writer = EventBlockCopier(connection.format.wireForm, .ofParts)
    var packs: [Int64] = []
    for part in parts.sorted() {
      guard
        let row = try Row.fetchOne(
          db, sql: "SELECT pack FROM chunk WHERE id = ? AND status = ?", arguments: [part, EventStatus.notPosted])
      else { throw StoreError.inconsistent("chunk \(part) is not pending") }
      let cursor = try connection.format.wireForm.reader(of: Self.currentBlock(of: part, in: db))
      while try cursor.next() { writer.append(cursor) }
      packs.append(try row.value("pack"))
    }
    let block = writer.finish()
    guard let entry = block.entries.first, block.entries.count == 1 else {
      throw StoreError.inconsistent("the parts of chunk \(whole) cannot be joined into one chunk")
    }
    try db.execute(
      sql: """
        UPDATE chunk SET pack = ?, offset = 0, length = ?, status = ?, failures = iif(?, 0, failures), body_bytes = ?
        WHERE id = ?
        """,
      arguments: [
        try Self.insertPack(block, in: db), entry.length, EventStatus.notPosted, isOutage, entry.bodyBytes, whole,
      ])
    for (part, pack) in zip(parts.sorted(), packs) {
      try db.execute(
        sql: "UPDATE chunk SET status = ?, pack = NULL, offset = 0, length = 0 WHERE id = ?",
        arguments: [ChunkStatus.split, part])
      try Self.releasePack(pack, in: db)
    }
    var chunk = try PendingChunk(whole, in: db)
    if let frozen = chunk.digest,
      try connection.format.wireForm.body(of: block.block(0), version: chunk.form).digest != frozen
    {
      // The halves contain changes that were found in the meantime.
      try db.execute(sql: "UPDATE chunk SET body_digest = NULL, form = 0 WHERE id = ?", arguments: [whole])
      (chunk.digest, chunk.form) = (nil, 0)
    }
    receipt.joined.removeAll { parts.contains($0.id) }
    receipt.joined.append(chunk)
  }
}
