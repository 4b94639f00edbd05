import BatchFoundation
import GRDB

extension Ledger {
  /// The size of packs, in bytes: large enough that rows cost little, and small enough to be read for a single event.
  private static let packBytes = 64 << 10

  /// Creates the indexes that a new store lacks. Without them, finding chunks means reading all rows. Every run calls
  /// this before it sends chunks, because a killed run may not have created them.
  package func makeIndexes() throws {
    try connection.write { db in try db.execute(sql: StoreSchema.indexesByTime) }
  }

  static func insert(_ events: EventBlocks, run: RunID, into db: Database) throws {
    guard !events.entries.isEmpty else { return }
    let series = try (Row.integer(db, sql: "SELECT max(id) AS id FROM chunk") ?? 0) + 1
    let chunk = try BoundStatement(
      db,
      """
      INSERT INTO chunk (run, series, rank, status, events, expired, first, last, pack, offset, length, body_bytes, grouping)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    var next = 0
    while next < events.entries.count {
      let start = events.entries[next].offset
      var end = start
      var last = next
      while last < events.entries.count, last == next || end - start < packBytes {
        end = events.entries[last].offset + events.entries[last].length
        last += 1
      }
      let pack = try insertPack(events.entries[next..<last], of: events.bytes, in: db)
      for index in next..<last {
        let entry = events.entries[index]
        chunk.bind(1, run.number)
        chunk.bind(2, series)
        chunk.bind(3, Int64(index) << rankShift)
        chunk.bind(4, EventStatus.notPosted.rawValue)
        chunk.bind(5, entry.events)
        chunk.bind(6, entry.expired)
        chunk.bind(7, entry.first.milliseconds)
        chunk.bind(8, entry.last.milliseconds)
        chunk.bind(9, pack)
        chunk.bind(10, entry.offset - start)
        chunk.bind(11, entry.length)
        chunk.bind(12, entry.bodyBytes)
        chunk.bind(13, entry.group)
        try chunk.run()
      }
      next = last
    }
  }

  /// The number of bits by which a chunk's rank in its series is shifted, which leaves room for the parts of a split
  /// chunk before the next one.
  private static let rankShift: Int64 = 24

  /// Replaces a chunk's block, together with the columns that describe the block. Returns the new pack, which begins
  /// with that block.
  @discardableResult
  static func replaceBlock(of chunk: Int64, by block: EventBlocks, in db: Database) throws -> Int64 {
    guard let entry = block.entries.first, block.entries.count == 1,
      let old = try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT pack FROM chunk WHERE id = ?"), arguments: [chunk])
    else { throw StoreError.inconsistent("the block of chunk \(chunk) cannot be replaced") }
    let pack = try insertPack(block, in: db)
    let update = try db.cachedStatement(
      sql: """
        UPDATE chunk SET pack = ?, offset = 0, length = ?, events = ?, expired = ?, first = ?, last = ?, body_bytes = ?
        WHERE id = ?
        """)
    try update.execute(
      arguments: [
        pack, entry.length, entry.events, entry.expired, entry.first, entry.last, entry.bodyBytes, chunk,
      ])
    try releasePack(old, in: db)
    return pack
  }

  /// Creates chunks from events that another chunk has or had, each a sorted sequence with its own `series`.
  static func insert(_ blocks: EventBlocks, from chunk: Int64, as status: EventStatus, in db: Database) throws {
    for part in try insertParts(blocks, of: chunk, as: status, in: db) {
      try db.execute(sql: "UPDATE chunk SET series = id, rank = 0 WHERE id = ?", arguments: [part])
    }
  }

  /// Creates chunks from events that another chunk has or had, in its series after it; returns their ids.
  static func insertParts(
    _ blocks: EventBlocks, of chunk: Int64, as status: EventStatus, in db: Database
  ) throws -> [Int64] {
    let pack = try insertPack(blocks, in: db)
    var ordinal = 0
    return try blocks.entries.map { entry in
      try db.execute(
        sql: """
          INSERT INTO chunk
            (run, series, rank, status, events, expired, first, last, pack, offset, length, body_bytes, grouping, parent)
          SELECT run, series, rank + ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, grouping, id FROM chunk WHERE id = ?
          """,
        arguments: [
          ordinal, status, entry.events, entry.expired, entry.first, entry.last, pack, entry.offset, entry.length,
          entry.bodyBytes, chunk,
        ])
      ordinal += entry.events
      return db.lastInsertedRowID
    }
  }

  static func insertPack(_ blocks: EventBlocks, in db: Database) throws -> Int64 {
    try insertPack(blocks.entries[...], of: blocks.bytes, in: db)
  }

  /// Stores consecutive blocks, given by their entries, as a pack. Its blocks are placed relative to the first one.
  static func insertPack(
    _ entries: ArraySlice<EventBlocks.Entry>, of bytes: [UInt8], in db: Database
  ) throws -> Int64 {
    let start = entries.first?.offset ?? 0
    let end = entries.last.map { $0.offset + $0.length } ?? start
    var sums = BlockSums()
    let insert = try BoundStatement(db, "INSERT INTO pack (chunks, bytes, sums) VALUES (?, ?, ?)")
    try unsafe bytes.withUnsafeBytes { bytes in
      for entry in entries {
        let block = unsafe bytes[entry.offset..<entry.offset + entry.length]
        unsafe sums.add(UnsafeRawBufferPointer(rebasing: block), at: entry.offset - start)
      }
      insert.bind(1, entries.count)
      unsafe insert.bind(2, blob: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      try unsafe sums.bytes.withUnsafeBytes { sums in
        unsafe insert.bind(3, blob: sums)
        try insert.run()
      }
    }
    return db.lastInsertedRowID
  }

  /// Releases a chunk's place in a pack, and deletes the pack if it has no other chunk.
  static func releasePack(_ pack: Int64, in db: Database) throws {
    let last = try db.cachedStatement(sql: "DELETE FROM pack WHERE id = ? AND chunks <= 1")
    try last.execute(arguments: [pack])
    if db.changesCount > 0 { return }
    try db.cachedStatement(sql: "UPDATE pack SET chunks = chunks - 1 WHERE id = ?").execute(arguments: [pack])
  }
}
