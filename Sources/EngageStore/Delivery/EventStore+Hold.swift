import EngageModel
import GRDB

extension EventStore {
  /// Lets the chunks with events of these devices wait on `HOLD`, and all others go that waited there before
  /// (`Recipient.holdEventsUntilIdentified`).
  ///
  /// A chunk waits as a whole: the other events in it come later, but none goes out without its recipient. Chunks that were
  /// attempted before stay as they are, for they never change again.
  ///
  /// - Returns: the number of events that wait.
  package func hold(eventsOf devices: [String]) throws -> Int {
    let held = Set(devices.map { Array($0.utf8) })
    return try write { db in
      try db.execute(
        sql: "UPDATE chunk SET status = ? WHERE status = ?",
        arguments: [EventStatus.notPosted.rawValue, EventStatus.hold.rawValue])
      guard !held.isEmpty else { return 0 }
      let chunks = try Row.fetchAll(
        db,
        sql: "SELECT id, events, pack, offset, length FROM chunk WHERE status = ? AND body_digest IS NULL ORDER BY id",
        arguments: [EventStatus.notPosted.rawValue])
      var events = 0
      for chunk in chunks {
        let block = try Self.block(pack: chunk[2], offset: chunk[3], length: chunk[4], in: db)
        guard try Self.speaks(block, of: held) else { continue }
        try db.execute(
          sql: "UPDATE chunk SET status = ? WHERE id = ?",
          arguments: [EventStatus.hold.rawValue, chunk[0] as Int64])
        events += chunk[1] as Int
      }
      return events
    }
  }

  private static func speaks(_ block: [UInt8], of devices: Set<[UInt8]>) throws -> Bool {
    var reader = try BlockReader(block)
    while try reader.next() {
      if devices.contains(Array(reader.device().bytes)) { return true }
    }
    return false
  }
}
