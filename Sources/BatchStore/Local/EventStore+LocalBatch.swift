import BatchFoundation
import BatchThreads
import FoundationEssentials
package import GRDB

extension EventStore {
  /// Blocks that share a row: large enough that rows cost nothing, small enough to be read for one event.
  private static let packBytes = 64 << 10

  /// Stores a batch in one transaction.
  ///
  /// Events, device states and digests of the lines belong together: after a kill either all of them are there and a second
  /// reading of the lines finds duplicates, or none is.
  package func commit(_ batch: LocalBatch, run: RunID) throws { try commit([batch], run: run) }

  /// Stores several batches in one transaction: their rows share the pages of the indexes, which are then written once.
  package func commit(_ batches: [LocalBatch], run: RunID) throws {
    try write { db in
      defer { CrashPoint.beforeLocalCommit.reach() }
      var left = room.withLock { $0 }
      for batch in batches { try Self.insert(batch, run: run, &left, into: db) }
      let rest = left
      room.withLock { $0 = rest }
    }
    CrashPoint.afterLocalCommit.reach()
  }

  /// Makes the indexes of chunks, unless they are there; before that, chunks are found by looking at all of them.
  ///
  /// Called when the local part of a run is over and before chunks are sent, because a run that was killed leaves none.
  package func indexChunks() throws {
    try write { db in try db.execute(sql: StoreSchema.chunkIndexes) }
  }

  static func insert(_ batch: LocalBatch, run: RunID, _ room: inout QuarantineRoom, into db: Database) throws {
    for series in batch.events { try insert(series, run: run, into: db) }
    try insert(batch.devices, into: db)
    try insert(batch.digests, into: db)
    try insert(batch.quarantine, run: run, &room, into: db)
    try insert(batch.rewoundNights, into: db)
    try insert(batch.nights, run: run, into: db)
    try insert(batch.changes, run: run, into: db)
    try markReplayed(batch.replayed, by: run, in: db)
    try batch.rows?.insert(run: run, into: db)
    if let counters = batch.counters {
      try db.execute(sql: "UPDATE run SET counters = ? WHERE id = ?", arguments: [counters, run.number])
    }
  }

  private static func insert(_ events: EventBlocks, run: RunID, into db: Database) throws {
    guard !events.entries.isEmpty else { return }
    let series = try (Row.integer(db, sql: "SELECT max(id) AS id FROM chunk") ?? 0) + 1
    let pack = try BoundStatement(db, "INSERT INTO pack (chunks, bytes, sums) VALUES (?, ?, ?)")
    let chunk = try BoundStatement(
      db,
      """
      INSERT INTO chunk (run, series, rank, status, events, expired, first, last, pack, offset, length, body_bytes, grouping)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    try unsafe events.bytes.withUnsafeBytes { bytes in
      var next = 0
      while next < events.entries.count {
        let start = events.entries[next].offset
        var end = start
        var last = next
        while last < events.entries.count, last == next || end - start < packBytes {
          end = events.entries[last].offset + events.entries[last].length
          last += 1
        }
        pack.bind(1, last - next)
        unsafe pack.bind(2, blob: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        var sums = BlockSums()
        for entry in events.entries[next..<last] {
          let block = unsafe bytes[entry.offset..<entry.offset + entry.length]
          unsafe sums.add(UnsafeRawBufferPointer(rebasing: block), at: entry.offset - start)
        }
        try unsafe sums.bytes.withUnsafeBytes { sums in
          unsafe pack.bind(3, blob: sums)
          try pack.run()
        }
        let packID = db.lastInsertedRowID
        for index in next..<last {
          let entry = events.entries[index]
          chunk.bind(1, run.number)
          chunk.bind(2, series)
          chunk.bind(3, Int64(index) << ChunkRank.shift)
          chunk.bind(4, EventStatus.notPosted.rawValue)
          chunk.bind(5, entry.events)
          chunk.bind(6, entry.expired)
          chunk.bind(7, entry.first.milliseconds)
          chunk.bind(8, entry.last.milliseconds)
          chunk.bind(9, packID)
          chunk.bind(10, entry.offset - start)
          chunk.bind(11, entry.length)
          chunk.bind(12, entry.bodyBytes)
          chunk.bind(13, entry.group)
          try chunk.run()
        }
        next = last
      }
    }
  }

  private static func insert(_ devices: DeviceStates, into db: Database) throws {
    guard devices.count > 0 else { return }
    let statement = try BoundStatement(
      db,
      """
      INSERT INTO device (bucket, name, version, held, due, state) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (bucket, name) DO UPDATE
      SET version = excluded.version, held = excluded.held, due = excluded.due, state = excluded.state
      """)
    try unsafe devices.bytes.withUnsafeBytes { bytes in
      for entry in devices.entries {
        statement.bind(1, entry.bucket)
        unsafe statement.bind(2, blob: UnsafeRawBufferPointer(rebasing: bytes[entry.name]))
        statement.bind(3, entry.version)
        statement.bind(4, entry.held)
        if let due = entry.due { statement.bind(5, due.milliseconds) } else { statement.bindNull(5) }
        unsafe statement.bind(6, blob: UnsafeRawBufferPointer(rebasing: bytes[entry.state]))
        try statement.run()
      }
    }
  }

  private static func insert(_ segments: [DigestSegment], into db: Database) throws {
    guard !segments.isEmpty else { return }
    let statement = try BoundStatement(
      db, "INSERT INTO digest_segment (bucket, first, last, digests) VALUES (?, ?, ?, ?)")
    for segment in segments {
      statement.bind(1, segment.bucket)
      statement.bind(2, segment.first.milliseconds)
      statement.bind(3, segment.last.milliseconds)
      try unsafe segment.digests.withUnsafeBytes { bytes in
        unsafe statement.bind(4, blob: bytes)
        try statement.run()
      }
    }
  }

  /// Keeps events in quarantine, which have no bound.
  static func insert(_ events: [QuarantinedLine], run: RunID, into db: Database) throws {
    var room = QuarantineRoom()
    try insert(events, run: run, &room, into: db)
  }

  /// A line that waits there already, because the same input was read before, is not quarantined a second time; nor is one that a
  /// person dismissed. One that there is no room for is counted.
  static func insert(
    _ lines: [QuarantinedLine], run: RunID, _ room: inout QuarantineRoom, into db: Database
  ) throws {
    guard !lines.isEmpty else { return }
    var unkept: [QuarantinedLine] = []
    let seen = try db.cachedStatement(
      sql: """
        UPDATE quarantine SET seen_run = ?1
        WHERE file = ?2 AND line = ?3 AND offset = ?4 AND reason = ?5 AND raw = ?6 AND replayed_run IS NULL
          AND (resolution IS NULL OR resolution = 'dismissed') AND run <> ?1
        """)
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO quarantine (run, file, line, offset, reason, detail, raw, kind, block, seen_run)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?1)
        """)
    for line in lines {
      try seen.execute(arguments: [
        run.number, line.file, Int64(bitPattern: line.line), Int64(bitPattern: line.offset), line.reason.rawValue,
        line.raw.blob,
      ])
      guard db.changesCount == 0 else { continue }
      guard room.take(line) else {
        unkept.append(line)
        continue
      }
      try statement.execute(arguments: [
        run.number, line.file, Int64(bitPattern: line.line), Int64(bitPattern: line.offset), line.reason.rawValue,
        line.detail, line.raw.blob, line.kind.map { Int($0.rawValue) }, line.block?.blob,
      ])
    }
    try count(unkept: unkept, run: run, in: db)
  }
}

/// Chunks of a series in the order of their events: room for the parts of a split chunk between two neighbours.
enum ChunkRank {
  static let shift: Int64 = 24
}

extension [UInt8] {
  /// The bytes as a value of the database, copied once.
  package var blob: DatabaseValue { Data(self).databaseValue }
}
