import BatchFoundation
import GRDB

extension Ledger {
  /// Removes events from a chunk, and the chunk if none are left. A frozen chunk is unfrozen, because its body changes.
  ///
  /// - Parameters:
  ///   - row: a row with the columns `id`, `status`, `pack`, `offset` and `length` of the chunk.
  ///   - isUnwanted: called with each event and its status; `split` means that the event is now in another chunk.
  /// - Returns: the number of removed events by status, without those that are now in other chunks.
  func removeEvents(
    of row: Row, in db: Database, where isUnwanted: (EventBlockReader, ChunkStatus) throws -> Bool
  ) throws -> [EventStatus: Int] {
    let id: Int64 = try row.value("id")
    let status = try row.status("status")
    let pack: Int64 = try row.value("pack")
    let states = try Self.exceptions(of: id, in: db)
    var counts: [EventStatus: Int] = [:]
    var unwanted: Set<Int> = []
    let block = try Self.block(pack: pack, offset: row.value("offset"), length: row.value("length"), in: db)
    let cursor = try connection.format.wireForm.reader(of: block)
    while try cursor.next() {
      let own = states[cursor.ordinal]?.status ?? status
      guard try isUnwanted(cursor, own) else { continue }
      unwanted.insert(cursor.ordinal)
      if case .events(let status) = own {
        counts[status == .notPosted && cursor.isExpired ? .expired : status, default: 0] += 1
      }
    }
    // Most blocks do not change, so they are not copied.
    guard !unwanted.isEmpty else { return [:] }
    let kept = (0..<cursor.eventCount).filter { !unwanted.contains($0) }
    let rest = try connection.format.wireForm.copy(of: block) { !unwanted.contains($0.ordinal) }
    if !states.isEmpty { try db.execute(sql: "DELETE FROM event_exception WHERE chunk = ?", arguments: [id]) }
    guard !rest.entries.isEmpty else {
      try db.execute(sql: "DELETE FROM chunk WHERE id = ?", arguments: [id])
      try Self.releasePack(pack, in: db)
      return counts
    }
    for (place, ordinal) in kept.enumerated() {
      guard let state = states[ordinal] else { continue }
      try db.execute(
        sql: "INSERT INTO event_exception (chunk, ordinal, status, reason) VALUES (?, ?, ?, ?)",
        arguments: [id, place, state.status, state.reason])
    }
    try Self.replaceBlock(of: id, by: rest, in: db)
    try db.cachedStatement(sql: "UPDATE chunk SET body_digest = NULL, form = 0 WHERE id = ?").execute(arguments: [id])
    return counts
  }

  /// Removes, from the chunks that cover a time span, the events that no service can have. In a posted chunk, whose
  /// block must not change, a failed event is only marked as moved.
  ///
  /// - Parameters:
  ///   - run: the run whose chunks are left out; nil for none.
  ///   - isOfInterest: called with the time span of each chunk; nil for all chunks that cover the span.
  ///   - isUnwanted: called with each event, its chunk, and whether a service may have the event; if so, it is kept.
  func removeUnsent(
    in span: ClosedRange<Instant>, besides run: Int64? = nil, in db: Database,
    chunks isOfInterest: ((ClosedRange<Instant>) -> Bool)? = nil,
    where isUnwanted: (EventBlockReader, _ chunk: Int64, _ isSent: Bool) throws -> Bool
  ) throws {
    let doubtful = try Self.chunksInDoubt(in: db)
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT id, status, pack, offset, length, first, last FROM chunk
        WHERE last >= ? AND first <= ? AND status <> ? AND run IS NOT ? ORDER BY id
        """, arguments: [span.lowerBound.milliseconds, span.upperBound.milliseconds, ChunkStatus.split, run])
    for row in rows {
      if let isOfInterest, try !isOfInterest(row.value("first")...row.value("last")) { continue }
      let chunk: Int64 = try row.value("id")
      let isDoubtful = doubtful.contains(chunk)
      let isFrozen = try row.status("status") == .events(.successfullyPosted)
      var failed: [Int] = []
      _ = try removeEvents(of: row, in: db) { event, own in
        guard case .events(let status) = own else { return false }
        let isSent = !Self.standing(of: status, isDoubtful: isDoubtful).isEmpty
        guard try isUnwanted(event, chunk, isSent), !isSent else { return false }
        if isFrozen { failed.append(event.ordinal) }
        return !isFrozen
      }
      for ordinal in failed {
        try db.execute(
          sql: "UPDATE event_exception SET status = ? WHERE chunk = ? AND ordinal = ?",
          arguments: [ChunkStatus.split, chunk, ordinal])
      }
    }
  }

  /// Deletes ledger rows to which nothing refers.
  static func dropLooseRows(in db: Database) throws {
    try db.execute(
      sql: "DELETE FROM chunk WHERE status = ? AND id NOT IN (SELECT parent FROM chunk WHERE parent IS NOT NULL)",
      arguments: [ChunkStatus.split])
    try db.execute(sql: "DELETE FROM attempt WHERE chunk NOT IN (SELECT id FROM chunk)")
  }
}
