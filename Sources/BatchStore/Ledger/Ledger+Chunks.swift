import BatchFoundation
import GRDB

extension BlockLimits {
  /// The limits for parts of a block that was small enough.
  package static let ofParts = BlockLimits(maxEvents: .max, maxBodyBytes: .max)
}

extension Ledger {
  /// Replaces the block of a chunk by a single one, keeping everything else; returns the pack that begins with it.
  @discardableResult
  static func replaceBlock(of chunk: Int64, by block: EventBlocks, in db: Database) throws -> Int64 {
    guard let entry = block.entries.first, block.entries.count == 1,
      let old = try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT pack FROM chunk WHERE id = ?"), arguments: [chunk])
    else { throw StoreError.inconsistent("chunk \(chunk) cannot get another block") }
    let pack = try insertPack(block, in: db)
    let update = try db.cachedStatement(
      sql: """
        UPDATE chunk SET pack = ?, offset = 0, length = ?, events = ?, expired = ?, first = ?, last = ?, body_bytes = ?
        WHERE id = ?
        """)
    try update.execute(
      arguments: [
        pack, entry.length, entry.events, entry.expired, entry.first.milliseconds, entry.last.milliseconds,
        entry.bodyBytes, chunk,
      ])
    try releasePack(old, in: db)
    return pack
  }

  /// Creates chunks of events that another one has or had: each is a separate sorted sequence, numbered like a batch's.
  static func insert(_ blocks: EventBlocks, from chunk: Int64, as status: EventStatus, in db: Database) throws {
    let pack = try insertPack(blocks, in: db)
    for entry in blocks.entries {
      try db.execute(
        sql: """
          INSERT INTO chunk
            (run, series, rank, status, events, expired, first, last, pack, offset, length, body_bytes, grouping, parent)
          SELECT run, id, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, grouping, id FROM chunk WHERE id = ?
          """,
        arguments: [
          status, entry.events, entry.expired, entry.first.milliseconds, entry.last.milliseconds, pack,
          entry.offset, entry.length, entry.bodyBytes, chunk,
        ])
      try db.execute(sql: "UPDATE chunk SET series = id WHERE id = ?", arguments: [db.lastInsertedRowID])
    }
  }

  static func insertPack(_ blocks: EventBlocks, in db: Database) throws -> Int64 {
    var sums = BlockSums()
    unsafe blocks.bytes.withUnsafeBytes { bytes in
      for entry in blocks.entries {
        let block = unsafe bytes[entry.offset..<entry.offset + entry.length]
        unsafe sums.add(UnsafeRawBufferPointer(rebasing: block), at: entry.offset)
      }
    }
    let insert = try BoundStatement(db, "INSERT INTO pack (chunks, bytes, sums) VALUES (?, ?, ?)")
    insert.bind(1, blocks.entries.count)
    try unsafe blocks.bytes.withUnsafeBytes { bytes in
      unsafe insert.bind(2, blob: bytes)
      try unsafe sums.bytes.withUnsafeBytes { sums in
        unsafe insert.bind(3, blob: sums)
        try insert.run()
      }
    }
    return db.lastInsertedRowID
  }

  /// Releases a chunk's place in a pack, and deletes a pack without chunks.
  static func releasePack(_ pack: Int64, in db: Database) throws {
    let last = try db.cachedStatement(sql: "DELETE FROM pack WHERE id = ? AND chunks <= 1")
    try last.execute(arguments: [pack])
    if db.changesCount > 0 { return }
    try db.cachedStatement(sql: "UPDATE pack SET chunks = chunks - 1 WHERE id = ?").execute(arguments: [pack])
  }
}
