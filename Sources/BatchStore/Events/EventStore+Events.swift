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
      var counts: [EventStatus: Int] = [:]
      func add(_ count: Int, to status: ChunkStatus) {
        if case .events(let status) = status { counts[status, default: 0] += count }
      }
      for row in try Row.fetchAll(
        db, sql: "SELECT status, sum(events) AS events, sum(expired) AS expired FROM chunk GROUP BY status")
      {
        let status = try row.status("status")
        let expired: Int = status == .events(.notPosted) ? row["expired"] : 0
        add(row["events"] - expired, to: status)
        add(expired, to: .events(.expired))
      }
      for row in try Row.fetchAll(
        db,
        sql: """
          SELECT c.status AS chunk, e.status AS event, count(*) AS events
          FROM event_exception e JOIN chunk c ON c.id = e.chunk GROUP BY c.status, e.status
          """)
      {
        add(-(row["events"] as Int), to: try row.status("chunk"))
        add(row["events"], to: try row.status("event"))
      }
      counts[.hold, default: 0] +=
        try Int.fetchOne(db, sql: "SELECT coalesce(sum(held), 0) FROM device WHERE held > 0") ?? 0
      return counts.filter { $0.value > 0 }
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
              SELECT id FROM chunk WHERE status = ?1 AND (?2 = 0 OR expired > 0) OR ?2 = 1 AND status = ?3
              UNION SELECT chunk FROM event_exception WHERE status = ?1)
            ORDER BY first, id
            """, arguments: [chunkStatus, wanted == .expired ? 1 : 0, EventStatus.expired])
      } else {
        chunks = try Row.fetchCursor(
          db,
          sql: """
            SELECT id, status, reason, pack, offset, length FROM chunk WHERE status <> ? ORDER BY first, id
            """, arguments: [ChunkStatus.split])
      }
      while let row = try chunks.next() {
        guard try forEachEvent(of: row, in: db, { try $0.status == wanted || wanted == nil ? body($0) : true })
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
          WHERE last >= ? AND first <= ? AND status <> ? ORDER BY id
          """, arguments: [time, time, ChunkStatus.split])
      var found: StoredEvent?
      while found == nil, let row = try chunks.next() {
        _ = try forEachEvent(of: row, in: db, at: id.timestamp) { event in
          if event.id == id { found = event }
          return found == nil
        }
      }
      return found
    }
  }

  /// False if `body` ended it.
  private func forEachEvent(
    of chunk: Row, in db: Database, at time: Instant? = nil, _ body: (StoredEvent) throws -> Bool
  ) throws -> Bool {
    let id: Int64 = chunk["id"]
    guard case .events(let status) = try chunk.status("status") else { return true }
    var exceptions: [Int: (status: ChunkStatus, reason: String)] = [:]
    for row in try Row.fetchAll(
      db, sql: "SELECT ordinal, status, reason FROM event_exception WHERE chunk = ?", arguments: [id])
    {
      exceptions[row["ordinal"]] = (try row.status("status"), row["reason"])
    }
    let reader = try format.codec.cursor(
      of: Self.block(pack: chunk["pack"], offset: chunk["offset"], length: chunk["length"], in: db))
    var json = ByteBuffer()
    var ordinal = -1
    while try reader.next() {
      ordinal += 1
      if let time, reader.timestamp != time { continue }
      var own = status == .notPosted && reader.isExpired ? EventStatus.expired : status
      var reason: String? = chunk["reason"]
      if let exception = exceptions[ordinal] {
        guard case .events(let status) = exception.status else { continue }
        own = status
        reason = exception.reason
      }
      json.removeAll()
      reader.appendJSON(to: &json)
      let stored = StoredEvent(
        id: EventID(timestamp: reader.timestamp, device: reader.device, emission: reader.emission), status: own,
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
