package import BatchFoundation
import GRDB

/// A stored event, with its status and its chunk.
package struct StoredEvent: Sendable, Equatable {
  package var id: EventID
  package var status: EventStatus
  package var chunk: Int64
  /// The reason for the status, in the words of the service or of the transport; nil if there is none.
  package var reason: String?
  /// The bytes of the device's id.
  package var device: [UInt8]
  /// The emission number, which increases from event to event of a device, across runs; see ``EmissionNumber``.
  package var emission: Int64
  /// The event as on the wire.
  package var json: [UInt8]
  /// The place where the event's record was read; `Runs.source(_:)` returns its file and line.
  package var source: StoredSource
  /// Whether the event is outside sessions and campaigns because its record arrived too late.
  package var isLate: Bool
}

/// An event of a listing, in its block. Valid only during the call that it is passed to.
package struct ListedEvent {
  private let event: EventBlockReader
  package let status: EventStatus
  package let chunk: Int64
  /// The reason for the status; nil if there is none (``StoredEvent/reason``).
  package let reason: String?

  fileprivate init(_ event: EventBlockReader, _ status: EventStatus, chunk: Int64, reason: String?) {
    (self.event, self.status, self.chunk, self.reason) = (event, status, chunk, reason)
  }

  package var id: EventID { event.id }
  package var device: Text { event.device }

  /// Appends the event as on the wire.
  ///
  /// - Parameter isWhole: false for the outline, without fields (``EventBlockReader/appendOutline(to:)``).
  package func appendJSON(to target: inout ByteBuffer, isWhole: Bool = true) {
    if isWhole { event.appendJSON(to: &target) } else { event.appendOutline(to: &target) }
  }

  /// The event as a copy, which stays valid.
  package var stored: StoredEvent {
    unsafe StoredEvent(
      id: id, status: status, chunk: chunk, reason: reason, device: Array(device.bytes), emission: event.emission,
      json: event.json, source: event.source, isLate: event.isLate)
  }
}

/// A selection of a store's events. A property that is nil selects all.
package struct EventFilter: Sendable {
  package var status: EventStatus?
  /// The devices, as the bytes of their ids.
  package var devices: [[UInt8]]?
  /// The span of the events' times, from `from` up to `to` (exclusive).
  package var from: Instant?
  package var to: Instant?
  /// The event after which the listing begins, in listing order.
  package var after: EventID?
  /// The texts that blocks must have. A block that lacks one is not decoded; all events of other blocks are selected.
  package var mentions: [BlockText] = []

  package init(status: EventStatus? = nil) { self.status = status }

  fileprivate var texts: [BytePattern] {
    // A selected block contains all of these texts. It may contain only one of several devices, so these are not
    // included.
    (mentions + (devices.flatMap { $0.count == 1 ? [.part($0[0])] : nil } ?? [])).compactMap(\.pattern)
  }

  func takes(_ event: EventBlockReader) -> Bool {
    if let from, event.timestamp < from { return false }
    if let to, event.timestamp >= to { return false }
    return devices?.contains { unsafe event.device.bytes.elementsEqual($0) } ?? true
  }

  /// Returns a query for the chunks that may have the events, in listing order, from the chunk `last` on. An index has
  /// that order, so rows can be read one by one, however many chunks there are.
  func chunks(after last: (first: Int64, chunk: Int64)?) -> (sql: String, arguments: StatementArguments) {
    let chunkStatus = status == .expired ? EventStatus.notPosted : status
    let condition =
      chunkStatus == nil
      ? "+status <> :split"
      : """
      +id IN (
        SELECT id FROM chunk WHERE status = :status AND (:expired = 0 OR expired > 0) OR :expired = 1 AND status = :own
        UNION SELECT chunk FROM event_exception WHERE status = :status)
      """
    var arguments: StatementArguments = [
      "from": from?.milliseconds ?? .min, "to": to?.milliseconds ?? .max, "first": last?.first ?? .min,
      "chunk": last?.chunk ?? 0,
    ]
    if let chunkStatus {
      arguments += ["status": chunkStatus, "expired": status == .expired ? 1 : 0, "own": EventStatus.expired]
    } else {
      arguments += ["split": ChunkStatus.split]
    }
    // The plus signs keep SQLite from using another index, because it would then have to sort.
    let sql = """
      SELECT id, status, reason, pack, offset, length FROM chunk
      WHERE \(condition)
        AND +last >= :from AND first < :to AND first >= :first AND (first > :first OR id >= :chunk)
      ORDER BY first, id
      """
    return (sql, arguments)
  }
}

extension Ledger {
  /// Returns the number of events by status, without zeros.
  package func statusCounts() throws -> [EventStatus: Int] {
    try connection.read { db in
      var counts: [EventStatus: Int] = [:]
      func add(_ count: Int, to status: ChunkStatus) {
        if case .events(let status) = status { counts[status, default: 0] += count }
      }
      try db.forEachRow("SELECT status, sum(events) AS events, sum(expired) AS expired FROM chunk GROUP BY status") {
        row in
        let status = try row.status("status")
        let expired: Int = try status == .events(.notPosted) ? row.value("expired") : 0
        try add(row.value("events") - expired, to: status)
        add(expired, to: .events(.expired))
      }
      try db.forEachRow(
        """
        SELECT c.status AS chunk, e.status AS event, count(*) AS events
        FROM event_exception e JOIN chunk c ON c.id = e.chunk GROUP BY c.status, e.status
        """
      ) { row in
        add(-(try row.value("events") as Int), to: try row.status("chunk"))
        try add(row.value("events"), to: try row.status("event"))
      }
      counts[.hold, default: 0] += try db.count("SELECT sum(held) FROM state_segment")
      // Posted events still count, even those of people who were forgotten.
      counts[.successfullyPosted, default: 0] += try db.count(
        "SELECT sum(count) FROM erased_count WHERE what = ?", [EventStatus.successfullyPosted.name])
      return counts.filter { $0.value > 0 }
    }
  }

  /// Passes the events with the given status (all if nil) to `body`, in order of their chunks, until it returns false.
  package func forEachEvent(status: EventStatus?, _ body: (StoredEvent) throws -> Bool) throws {
    try forEachEvent(EventFilter(status: status), body)
  }

  /// Passes the events that match the filter to `body`, in the order of their chunks, until it returns false. Events
  /// that the rules hold (status `HOLD`) are not included, because they are part of device states.
  package func forEachEvent(_ filter: EventFilter, _ body: (StoredEvent) throws -> Bool) throws {
    try forEachListedEvent(filter) { try body($0.stored) }
  }

  /// Like ``forEachEvent(_:_:)``, but without copying the events.
  package func forEachListedEvent(_ filter: EventFilter, _ body: (ListedEvent) throws -> Bool) throws {
    let after = try filter.after.flatMap { try place(of: $0) }
    var mentioning = MentioningChunks(filter.texts)
    let wanted = filter.status
    try connection.read { db in
      let listing = filter.chunks(after: after)
      let chunks = try Row.fetchCursor(db, sql: listing.sql, arguments: listing.arguments)
      while let row = try chunks.next() {
        let id: Int64 = try row.value("id")
        guard try mentioning.mayHave(id, in: db) else { continue }
        var skips = id == after?.chunk
        let more = try forEachEvent(of: row, in: db, mentioning: &mentioning, where: { skips || filter.takes($0) }) {
          event in
          if skips {
            skips = event.id != filter.after
            return true
          }
          return try event.status == wanted || wanted == nil ? body(event) : true
        }
        guard more else { return }
      }
    }
  }

  /// A request that the service acknowledged.
  package struct PostedChunk: Sendable {
    package var id: Int64
    package var events: Int
    /// The group chosen by the platform, as in ``EventBlocks/Entry/group``.
    package var group: Int
    /// The SHA-256 of the request's body.
    package var bodyDigest: [UInt8]
  }

  /// Passes every posted chunk to `body`, in the order of the chunks' numbers.
  package func forEachPostedChunk(_ body: (PostedChunk) throws -> Void) throws {
    try connection.forEach(
      "SELECT id, events, grouping, body_digest FROM chunk WHERE status = ? AND body_digest IS NOT NULL ORDER BY id",
      [EventStatus.successfullyPosted]
    ) { row in
      try body(
        PostedChunk(
          id: row.value("id"), events: row.value("events"), group: row.value("grouping"),
          bodyDigest: row.blob("body_digest")))
    }
  }

  /// Returns the chunk of an event and the time of the chunk's first event; nil if the store does not have the event.
  private func place(of id: EventID) throws -> (first: Int64, chunk: Int64)? {
    guard let event = try event(id) else { return nil }
    return try connection.read { db in
      try Int64.fetchOne(db, sql: "SELECT first FROM chunk WHERE id = ?", arguments: [event.chunk])
        .map { ($0, event.chunk) }
    }
  }

  /// Returns whether delivery of an event of the device at the instant was ever attempted, whatever the outcome.
  package func wasAttempted(_ device: Text, at instant: Instant) throws -> Bool {
    var filter = EventFilter()
    (filter.from, filter.to) = (instant, Instant(milliseconds: instant.milliseconds + 1))
    var chunks: Set<Int64> = []
    var isSettled = false
    try forEachEvent(filter) { event in
      guard unsafe device.bytes.elementsEqual(event.device) else { return true }
      isSettled = isSettled || ![.notPosted, .hold, .expired].contains(event.status)
      chunks.insert(event.chunk)
      return !isSettled
    }
    return try isSettled || chunks.contains { try !attempts(of: $0).isEmpty }
  }

  /// Returns the event with this id; nil if the store does not have it.
  package func event(_ id: EventID) throws -> StoredEvent? {
    try connection.read { db in
      let time = id.timestamp.milliseconds
      let chunks = try Row.fetchCursor(
        db,
        sql: """
          SELECT id, status, reason, pack, offset, length FROM chunk
          WHERE last >= ? AND first <= ? AND status <> ? ORDER BY id
          """, arguments: [time, time, ChunkStatus.split])
      var found: StoredEvent?
      var mentioning = MentioningChunks([])
      while found == nil, let row = try chunks.next() {
        _ = try forEachEvent(of: row, in: db, mentioning: &mentioning, where: { $0.timestamp == id.timestamp }) {
          event in
          if event.id == id { found = event.stored }
          return found == nil
        }
      }
      return found
    }
  }

  /// Passes the events of a chunk to `body` until it returns false.
  ///
  /// - Parameter mentioning: the texts that the block must have; counts a miss if it lacks one.
  /// - Returns: false if `body` did.
  private func forEachEvent(
    of chunk: Row, in db: Database, mentioning: inout MentioningChunks, where takes: (EventBlockReader) -> Bool,
    _ body: (ListedEvent) throws -> Bool
  ) throws -> Bool {
    let id: Int64 = try chunk.value("id")
    guard case .events(let status) = try chunk.status("status") else { return true }
    let block = try Self.block(of: chunk, in: db)
    guard mentioning.texts.isEmpty || block.withText({ BlockText.occur(mentioning.texts, in: $0) }) else {
      mentioning.miss()
      return true
    }
    let exceptions = try Self.exceptions(of: id, in: db)
    let reader = try connection.format.wireForm.reader(of: block)
    let common: String? = try chunk.value("reason")
    while try reader.next() {
      guard takes(reader) else { continue }
      var own = status == .notPosted && reader.isExpired ? EventStatus.expired : status
      var reason = common
      if !exceptions.isEmpty, let exception = exceptions[reader.ordinal] {
        guard case .events(let status) = exception.status else { continue }
        own = status
        reason = exception.reason
      }
      guard try body(ListedEvent(reader, own, chunk: id, reason: reason)) else { return false }
    }
    return true
  }

  /// Returns the status and the reason of the events of a chunk that have their own, by the event's index.
  static func exceptions(of chunk: Int64, in db: Database) throws -> [Int: (status: ChunkStatus, reason: String)] {
    let rows = try db.cachedStatement(sql: "SELECT ordinal, status, reason FROM event_exception WHERE chunk = ?")
    return try Row.fetchAll(rows, arguments: [chunk]).reduce(into: [:]) { exceptions, row in
      exceptions[try row.value("ordinal")] = (try row.status("status"), try row.value("reason"))
    }
  }

  /// - Parameter chunk: a row with the columns `pack`, `offset` and `length`.
  static func block(of chunk: Row, in db: Database) throws -> [UInt8] {
    try block(pack: chunk.value("pack"), offset: chunk.value("offset"), length: chunk.value("length"), in: db)
  }

  /// Returns the bytes of a block, verified by its checksum if there is one.
  static func block(pack: Int64, offset: Int, length: Int, in db: Database) throws -> [UInt8] {
    guard offset >= 0, length >= 0 else { throw StoreError.damagedBlock }
    let statement = try db.cachedStatement(sql: "SELECT substr(bytes, ?, ?), sums FROM pack WHERE id = ?")
    // Unlike a fetched row, the row of a cursor has not been copied.
    let rows = try Row.fetchCursor(statement, arguments: [offset + 1, length, pack])
    return try withExtendedLifetime(rows) {
      guard let row = try rows.next() else { throw StoreError.inconsistent("pack \(pack) is missing") }
      let bytes = try row.bytes(0)
      guard bytes.count == length else { throw StoreError.damagedBlock }
      if let sums = try row.bytes("sums"), !bytes.withText({ BlockSums.confirm($0, at: offset, by: sums) }) {
        throw StoreError.damagedBlock
      }
      return bytes
    }
  }
}
