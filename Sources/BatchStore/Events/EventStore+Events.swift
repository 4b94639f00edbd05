import BatchFoundation
import GRDB

/// An event of the store with its place in the delivery.
package struct StoredEvent: Sendable, Equatable {
  package var id: EventID
  package var status: EventStatus
  package var chunk: Int64
  /// Why it is where it is, in the words of the service or of the transport; nil if there is nothing to say.
  package var reason: String?
  /// The event as it stands on the wire.
  package var json: [UInt8]
}

extension EventStore {
  /// How many events have each status; those of no event are left out.
  package func statusCounts() throws -> [EventStatus: Int] {
    try read { db in
      var counts: [Int: Int] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT status, sum(events), sum(expired) FROM chunk GROUP BY status") {
        let status: Int = row[0]
        let events: Int = row[1]
        let expired: Int = row[2]
        if status == EventStatus.notPosted.rawValue {
          counts[status, default: 0] += events - expired
          counts[EventStatus.expired.rawValue, default: 0] += expired
        } else {
          counts[status, default: 0] += events
        }
      }
      for row in try Row.fetchAll(
        db,
        sql: """
          SELECT c.status, e.status, count(*) FROM event_exception e JOIN chunk c ON c.id = e.chunk
          GROUP BY c.status, e.status
          """)
      {
        counts[row[0], default: 0] -= row[2]
        counts[row[1], default: 0] += row[2]
      }
      counts[EventStatus.hold.rawValue, default: 0] +=
        try Int.fetchOne(db, sql: "SELECT coalesce(sum(held), 0) FROM device WHERE held > 0") ?? 0
      var result: [EventStatus: Int] = [:]
      for status in EventStatus.allCases {
        if let count = counts[status.rawValue], count > 0 { result[status] = count }
      }
      return result
    }
  }

  /// Hands events of a status, or of any, to `body` in the order of their chunks until it returns false.
  ///
  /// Events on `HOLD` that the rules hold back are part of the devices' states and do not appear here.
  package func forEachEvent(status wanted: EventStatus?, _ body: (StoredEvent) throws -> Bool) throws {
    try read { db in
      let chunkStatus = wanted == .expired ? EventStatus.notPosted : wanted
      let chunks: RowCursor
      if let chunkStatus {
        chunks = try Row.fetchCursor(
          db,
          sql: """
            SELECT id, status, reason, pack, offset, length FROM chunk WHERE id IN (
              SELECT id FROM chunk WHERE status = ?1 AND (?2 = 0 OR expired > 0)
              UNION SELECT chunk FROM event_exception WHERE status = ?1)
            ORDER BY first, id
            """, arguments: [chunkStatus.rawValue, wanted == .expired ? 1 : 0])
      } else {
        chunks = try Row.fetchCursor(
          db,
          sql: """
            SELECT id, status, reason, pack, offset, length FROM chunk WHERE status <> 8 ORDER BY first, id
            """)
      }
      while let row = try chunks.next() {
        guard try Self.forEachEvent(of: row, in: db, { try $0.status == wanted || wanted == nil ? body($0) : true })
        else { return }
      }
    }
  }

  /// The event with this id; nil if the store has none.
  package func event(_ id: EventID) throws -> StoredEvent? {
    try read { db in
      let time = id.timestamp.milliseconds
      let chunks = try Row.fetchCursor(
        db,
        sql: """
          SELECT id, status, reason, pack, offset, length FROM chunk
          WHERE last >= ? AND first <= ? AND status <> 8 ORDER BY id
          """, arguments: [time, time])
      var found: StoredEvent?
      while found == nil, let row = try chunks.next() {
        _ = try Self.forEachEvent(of: row, in: db, at: id.timestamp) { event in
          if event.id == id { found = event }
          return found == nil
        }
      }
      return found
    }
  }

  /// False if `body` ended it.
  private static func forEachEvent(
    of chunk: Row, in db: Database, at time: Instant? = nil, _ body: (StoredEvent) throws -> Bool
  ) throws -> Bool {
    let id: Int64 = chunk[0]
    let number: Int = chunk[1]
    guard let status = EventStatus(rawValue: number) else { throw StoreError.inconsistent("chunk status \(number)") }
    var exceptions: [Int: (status: Int, reason: String)] = [:]
    for row in try Row.fetchAll(
      db, sql: "SELECT ordinal, status, reason FROM event_exception WHERE chunk = ?", arguments: [id])
    {
      exceptions[row[0]] = (row[1], row[2])
    }
    var reader = try BlockReader(try block(pack: chunk[3], offset: chunk[4], length: chunk[5], in: db))
    var json = ByteBuffer()
    var ordinal = -1
    while try reader.next() {
      ordinal += 1
      if let time, reader.timestamp != time { continue }
      var own = status == .notPosted && reader.isExpired ? EventStatus.expired : status
      var reason: String? = chunk[2]
      if let exception = exceptions[ordinal] {
        guard let status = EventStatus(rawValue: exception.status) else { continue }
        own = status
        reason = exception.reason
      }
      json.removeAll()
      reader.appendJSON(to: &json)
      let stored = StoredEvent(
        id: EventID(timestamp: reader.timestamp, device: reader.device(), emission: reader.emission), status: own,
        chunk: id, reason: reason, json: json.array)
      guard try body(stored) else { return false }
    }
    return true
  }

  /// The bytes of one block.
  static func block(pack: Int64, offset: Int, length: Int, in db: Database) throws -> [UInt8] {
    let statement = try db.cachedStatement(sql: "SELECT substr(bytes, ?, ?) FROM pack WHERE id = ?")
    guard let row = try Row.fetchOne(statement, arguments: [offset + 1, length, pack]) else {
      throw StoreError.inconsistent("pack \(pack) is missing")
    }
    let bytes = row.bytes(0)
    guard bytes.count == length else { throw StoreError.damagedBlock }
    return bytes
  }
}
