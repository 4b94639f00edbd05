package import BatchFoundation
import GRDB

/// An event that the service accepted and later rejected, with the service's reason.
package struct LateRejection: Sendable, Equatable {
  package var timestamp: Instant
  /// The event as on the wire.
  package var json: [UInt8]
  package var reason: String

  package init(timestamp: Instant, json: [UInt8], reason: String) {
    self.timestamp = timestamp
    self.json = json
    self.reason = reason
  }
}

extension Ledger {
  /// Records events that the service rejected after accepting them. Each becomes `FAILED_POST` and is quarantined.
  ///
  /// - Parameter mark: the position reached in the service's list, with a name. It is stored in the same transaction,
  ///   so that no part of the list is read twice or skipped.
  /// - Returns: the number of these events that this store posted, and the number that this run posted.
  package func reject(
    _ events: [LateRejection], mark: (name: String, value: String), run: RunID
  ) throws -> (found: Int, ofRun: Int) {
    try connection.write { db in
      var found = (found: 0, ofRun: 0)
      for event in events {
        guard let posted = try reject(event, run: run, in: db) else { continue }
        found.found += 1
        if posted == run.number { found.ofRun += 1 }
      }
      try Self.setMark(mark.name, mark.value, in: db)
      return found
    }
  }

  /// Stores a value under a name, replacing the previous value.
  package func setMark(_ name: String, _ value: String) throws {
    try connection.write { try Self.setMark(name, value, in: $0) }
  }

  private static func setMark(_ name: String, _ value: String, in db: Database) throws {
    try db.execute(
      sql: "INSERT INTO service_mark (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
      arguments: [name, value])
  }

  /// Returns the value that was last stored under a name; nil if there is none.
  package func mark(_ name: String) throws -> String? {
    try connection.read {
      try String.fetchOne($0, sql: "SELECT value FROM service_mark WHERE name = ?", arguments: [name])
    }
  }

  /// Returns the posted event with the same bytes; nil if there is none, or if its rejection is already recorded.
  package func postedEvent(like event: LateRejection) throws -> EventID? {
    try connection.read { db in try postedEvent(like: event, in: db)?.id }
  }

  /// - Returns: the run that posted the event; nil for an event that this store did not post.
  private func reject(_ event: LateRejection, run: RunID, in db: Database) throws -> Int64? {
    guard let posted = try postedEvent(like: event, in: db) else { return nil }
    try db.execute(
      sql: "INSERT INTO event_exception (chunk, ordinal, status, reason) VALUES (?, ?, ?, ?)",
      arguments: [posted.chunk, posted.ordinal, EventStatus.failedPost, event.reason])
    let line = QuarantinedLine(event: posted.id, reason: .rejectedByService, detail: event.reason, raw: event.json)
    try Quarantine.insert([line], run: run, into: db)
    return posted.run
  }

  private func postedEvent(
    like event: LateRejection, in db: Database
  ) throws -> (id: EventID, chunk: Int64, ordinal: Int, run: Int64)? {
    let time = event.timestamp.milliseconds
    let chunks = try Row.fetchAll(
      db,
      sql: """
        SELECT id, pack, offset, length, form, settled_run FROM chunk WHERE last >= ? AND first <= ? AND status = ? ORDER BY id
        """, arguments: [time, time, EventStatus.successfullyPosted])
    for chunk in chunks {
      let id: Int64 = try chunk.value("id")
      let known = Set(
        try Int.fetchAll(db, sql: "SELECT ordinal FROM event_exception WHERE chunk = ?", arguments: [id]))
      let reader = try connection.format.wireForm.reader(of: Self.block(of: chunk, in: db))
      var json = ByteBuffer()
      while try reader.next() {
        guard reader.timestamp == event.timestamp, !known.contains(reader.ordinal) else { continue }
        json.removeAll()
        reader.appendJSON(to: &json)
        guard unsafe json.bytes.elementsEqual(event.json) else { continue }
        return (reader.id, id, reader.ordinal, try chunk.value(5))
      }
    }
    return nil
  }
}
