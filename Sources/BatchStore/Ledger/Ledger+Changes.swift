package import BatchFoundation
import GRDB

/// The changes that rewinds made: stored with the devices' new states, and settled before anything is sent.
extension Ledger {
  static func insert(_ changes: [EventChange], run: RunID, into db: Database) throws {
    guard !changes.isEmpty else { return }
    let insert = try BoundStatement(
      db,
      """
      INSERT INTO event_change (run, device, key, before_at, before_emission, before, after, file, line)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    for change in changes {
      insert.bind(1, run.number)
      insert.bind(2, copyOf: change.device)
      insert.bind(3, copyOf: change.key)
      insert.bind(4, change.before?.timestamp.milliseconds)
      insert.bind(5, change.before?.emission)
      insert.bind(6, copyOf: change.before?.json)
      insert.bind(7, copyOf: change.after)
      insert.bind(8, Int64(change.source.file))
      insert.bind(9, Int64(bitPattern: change.source.line))
      try insert.run()
    }
  }

  /// Settles the changes that rewinds made; new events are stored under `run`. An event that no service can have is
  /// replaced; any other gets a correction. Each transaction settles a few thousand changes; after a kill or an error,
  /// the next run settles the rest.
  package func settleChanges(by run: RunID, limits: RequestLimits) throws -> RewoundEvents {
    var events = RewoundEvents()
    while let more = try connection.write({ try self.settlePage(run, limits, in: $0) }) { events.add(more) }
    return events
  }

  private static let page = 4096

  /// Settles a page of changes in the order of event times, so that few chunks are read, and rarely more than once;
  /// returns nil if no changes are left.
  private func settlePage(_ run: RunID, _ limits: RequestLimits, in db: Database) throws -> RewoundEvents? {
    // Events of the run that found the changes may reuse earlier numbers, so its chunks are not searched.
    guard let processed = try Int64.fetchOne(db, sql: "SELECT min(run) FROM event_change") else { return nil }
    var changes: [EventChange] = []
    try db.forEachRow(
      """
      SELECT device, key, before_at, before_emission, before, after, file, line FROM event_change
      WHERE run = ? ORDER BY before_at, device, key LIMIT ?
      """, [processed, Self.page]
    ) { changes.append(try Self.change($0)) }
    var settlement = ChangeSettlement(changes, run: run, processedBy: processed, connection.format.wireForm)
    try settlement.findCorrections(in: db)
    try find(&settlement, besides: processed, in: db)
    try settlement.resolveQuarantined(in: db)
    try settlement.keepCorrections(in: db)
    let added = try settlement.newEvents(limits)
    var batch = LocalBatch()
    if let added { batch.events = [added] }
    var room = QuarantineRoom()
    try EventStore.insert(batch, run: run, &room, into: db)
    try Self.dropLooseRows(in: db)
    let settled = """
      DELETE FROM event_change
      WHERE id IN (SELECT id FROM event_change WHERE run = ? ORDER BY before_at, device, key LIMIT ?)
      """
    try db.cachedStatement(sql: settled).execute(arguments: [processed, Self.page])
    return settlement.events
  }

  /// - Parameter row: a row with the columns of an `event_change` from `device` on.
  private static func change(_ row: Row) throws -> EventChange {
    let at: Int64? = try row.value(2)
    let before = try at.map {
      try WireEvent(
        timestamp: Instant(milliseconds: $0), emission: row.emission("before_emission"), json: row.bytes(4))
    }
    return try EventChange(
      device: row.bytes(0), key: row.bytes(1), before: before, after: row.hasNull(atIndex: 5) ? nil : row.bytes(5),
      source: StoredSource(file: row.value(6), line: row.value(7)))
  }

  /// Finds the events as they were before the changes, in the chunks that cover their times.
  private func find(_ settlement: inout ChangeSettlement, besides run: Int64, in db: Database) throws {
    guard let first = settlement.times.first, let last = settlement.times.last else { return }
    let times = settlement.times
    try removeUnsent(in: first...last, besides: run, in: db, chunks: times.hasOne) { event, chunk, isSent in
      guard let place = settlement.place(of: event, in: chunk) else { return false }
      if isSent { settlement.found(place, sent: event, in: chunk) } else { settlement.foundPending(place) }
      return true
    }
  }

  /// Passes all corrections to `body`, oldest first, with the events as they would be sent now.
  package func forEachCorrection(_ body: (Correction) throws -> Void) throws {
    try connection.read { db in
      let query = """
        SELECT id, run, device, chunk, sent_at, sent_emission, sent, right, file, line FROM correction WHERE NOT is_moved
        ORDER BY id
        """
      try db.forEachRow(query) { row in
        let device = try row.blob("device")
        let (at, emission): (Instant, Int64) = try (row.value("sent_at"), row.emission("sent_emission"))
        let source = try StoredSource(file: row.value("file"), line: row.value("line"))
        try body(
          Correction(
            number: row.value("id"),
            event: device.withText { EventID(timestamp: at, device: $0, emission: emission) },
            chunk: row.value("chunk"), device: device,
            sent: row.blob("sent"), right: row.bytes("right").map { try self.amended($0, in: db) },
            source: Runs.source(source, in: db), run: row.value("run")))
      }
    }
  }

  private func amended(_ block: [UInt8], in db: Database) throws -> WireEvent {
    let amended = try connection.format.amendment?.amended(block, limits: .ofParts, in: db)?.block(0) ?? block
    return try connection.format.wireForm.event(amended)
  }

  /// Returns whether the device has a sent event that, according to later records, should not have been sent.
  package func hasWithdrawals(_ device: Text) throws -> Bool {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: "SELECT EXISTS (SELECT 1 FROM correction WHERE device = ? AND right IS NULL)")
      return try unsafe Bool.fetchOne(statement, arguments: [Array(device.bytes).blob]) ?? false
    }
  }

  /// Returns the number of corrections, not counting events that only got a different number.
  package func correctionCount() throws -> Int {
    try connection.count("SELECT count(*) FROM correction WHERE NOT is_moved")
  }
}

extension RewoundEvents {
  /// Counts a change.
  ///
  /// - Parameter right: the current event; nil if it is withdrawn. If only its number differs, nothing is counted.
  package mutating func count(_ change: EventChange, right: WireEvent?) {
    switch (change.before, right) {
    case (nil, _): added += 1
    case (_?, nil): withdrawn += 1
    case (let before?, let right?): if before.json != right.json { replaced += 1 }
    }
  }

  package mutating func add(_ more: RewoundEvents) {
    replaced += more.replaced
    withdrawn += more.withdrawn
    added += more.added
    sentWrongly += more.sentWrongly
    corrections += more.corrections
  }
}
