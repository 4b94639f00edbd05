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
}
