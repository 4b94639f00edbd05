import BatchFoundation
import GRDB

extension Ledger {
  /// Removes events from a chunk, and the chunk if none is left. A frozen chunk thaws, because its body changes.
  ///
  /// - Parameters:
  ///   - row: `id`, `status`, `pack`, `offset` and `length` of the chunk.
  ///   - isUnwanted: called with the event and its status; `split` means that the event lives on in another chunk.
  /// - Returns: the number of removed events by status, without those that live on elsewhere.
  func removeEvents(
    of row: Row, in db: Database, where isUnwanted: (any EventCursor, ChunkStatus) throws -> Bool
  ) throws -> [EventStatus: Int] {
    let id: Int64 = try row.value("id")
    let status = try row.status("status")
    let pack: Int64 = try row.value("pack")
    var states: [Int: (status: ChunkStatus, reason: String)] = [:]
    let exceptions = try db.cachedStatement(
      sql: "SELECT ordinal, status, reason FROM event_exception WHERE chunk = ?")
    for exception in try Row.fetchAll(exceptions, arguments: [id]) {
      states[try exception.value("ordinal")] = (try exception.status("status"), try exception.value("reason"))
    }
    var counts: [EventStatus: Int] = [:]
    var unwanted: Set<Int> = []
    let block = try Self.block(pack: pack, offset: row.value("offset"), length: row.value("length"), in: db)
    let cursor = try connection.format.codec.cursor(of: block)
    var ordinal = 0
    while try cursor.next() {
      let own = states[ordinal]?.status ?? status
      if try isUnwanted(cursor, own) {
        unwanted.insert(ordinal)
        if case .events(let status) = own {
          counts[status == .notPosted && cursor.isExpired ? .expired : status, default: 0] += 1
        }
      }
      ordinal += 1
    }
    // Most blocks do not change, and need no copy.
    guard !unwanted.isEmpty else { return [:] }
    let kept = (0..<ordinal).filter { !unwanted.contains($0) }
    ordinal = 0
    let rest = try connection.format.codec.copy(of: block) { _ in
      defer { ordinal += 1 }
      return !unwanted.contains(ordinal)
    }
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

  /// Deletes rows of the ledger that nothing refers to any more.
  static func dropLooseRows(in db: Database) throws {
    try db.execute(
      sql: "DELETE FROM chunk WHERE status = ? AND id NOT IN (SELECT parent FROM chunk WHERE parent IS NOT NULL)",
      arguments: [ChunkStatus.split])
    try db.execute(sql: "DELETE FROM attempt WHERE chunk NOT IN (SELECT id FROM chunk)")
  }
}
