import BatchFoundation
import GRDB

extension Ledger {
  /// Lets the events of these devices wait on `HOLD`, and all others go that waited there before
  /// (`Recipient.holdEventsUntilIdentified`).
  ///
  /// A chunk with events of both kinds gives up those that wait to a chunk of their own. Chunks that were attempted before stay as
  /// they are, because they never change again.
  ///
  /// - Returns: the number of events that wait.
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

  /// - Returns: how many events of the chunk wait.
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
        try connection.format.codec.copy(of: block) { unsafe devices.contains(Array($0.device.bytes)) == waits }
      }
      try Self.insert(part(true), from: id, as: .hold, in: db)
      try Self.replaceBlock(of: id, by: part(false), in: db)
    }
    return waiting
  }

  private func countEvents(of devices: Set<[UInt8]>, in block: [UInt8]) throws -> Int {
    let cursor = try connection.format.codec.cursor(of: block)
    var count = 0
    while try cursor.next() {
      if unsafe devices.contains(Array(cursor.device.bytes)) { count += 1 }
    }
    return count
  }
}
