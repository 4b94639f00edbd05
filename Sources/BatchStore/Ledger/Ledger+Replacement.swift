package import BatchFoundation
import GRDB

/// The delivery state of an event whose time span is processed again.
package struct EventStanding: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The service accepted the event, or may have accepted it.
  package static let sent = EventStanding(rawValue: 1)
  /// It is not known whether the service accepted the event.
  package static let inDoubt = EventStanding(rawValue: 2)
  /// The event has a correction: the service has, or may have, an outdated version of it, or should not have it at all.
  package static let corrected = EventStanding(rawValue: 4)
}

extension Ledger {
  /// Passes every event from `from` up to `to` (exclusive) to `body`: first the corrected events, in their corrected
  /// form, then all others in the order of their chunks.
  package func forEachEvent(
    from: Instant, to: Instant, _ body: (_ device: [UInt8], WireEvent, EventStanding) throws -> Void
  ) throws {
    let doubtful = try connection.read { try Self.chunksInDoubt(in: $0) }
    var (changed, withdrawn): ([Int64: Set<EventID>], [Int64: Set<EventID>]) = ([:], [:])
    try forEachCorrection { correction in
      guard let right = correction.right else {
        withdrawn[correction.chunk, default: []].insert(correction.event)
        return
      }
      changed[correction.chunk, default: []].insert(correction.event)
      guard from <= right.timestamp, right.timestamp < to else { return }
      let sent: EventStanding = doubtful.contains(correction.chunk) ? [.sent, .inDoubt] : .sent
      try body(correction.device, right, sent.union(.corrected))
    }
    var filter = EventFilter()
    (filter.from, filter.to) = (from, to)
    try forEachEvent(filter) { event in
      guard changed[event.chunk]?.contains(event.id) != true else { return true }
      var standing = Self.standing(of: event.status, isDoubtful: doubtful.contains(event.chunk))
      if withdrawn[event.chunk]?.contains(event.id) == true { standing.insert(.corrected) }
      try body(
        event.device, WireEvent(timestamp: event.id.timestamp, emission: event.emission, json: event.json), standing)
      return true
    }
  }

  static func standing(of status: EventStatus, isDoubtful: Bool) -> EventStanding {
    switch status {
    case .successfullyPosted: .sent
    case .unknown, .processing: [.sent, .inDoubt]
    case .notPosted, .failedPost, .hold, .expired: isDoubtful ? [.sent, .inDoubt] : []
    }
  }

  /// Returns the chunks with an attempt whose outcome is unknown or still open, and the parts of these chunks.
  static func chunksInDoubt(in db: Database) throws -> Set<Int64> {
    try Set(
      Int64.fetchAll(
        db,
        sql: """
          WITH RECURSIVE doubtful (id) AS (
            SELECT chunk FROM attempt WHERE outcome IS NULL OR outcome = ?
            UNION SELECT chunk.id FROM chunk JOIN doubtful ON chunk.parent = doubtful.id)
          SELECT id FROM doubtful
          """, arguments: [AttemptOutcome.unknown]))
  }

  /// Returns the events of a block as they would be sent now; nil if the platform changes none of them.
  package func amended(_ block: [UInt8]) throws -> EventBlocks? {
    try connection.read { try connection.format.amendment?.amended(block, limits: .ofParts, in: $0) }
  }

  /// Replaces the pending and the quarantined events of a span with others, in one transaction.
  ///
  /// - Parameter fill: passes replacements to `insert`, a batch at a time, and returns those with the number of a sent
  ///   event.
  package func replacePending(
    _ span: ReplacedSpan, run: RunID, limits: RequestLimits,
    by fill: (_ insert: (LocalBatch) throws -> Void) throws -> Set<NumberedEvent>
  ) throws {
    try connection.write { db in
      try removeUnsent(in: span.from...Instant(milliseconds: span.to.milliseconds - 1), in: db) { event, _, isSent in
        guard !isSent, span.contains(event) else { return false }
        try Self.forgetNumber(of: event, in: db)
        return true
      }
      try resolveQuarantined(span, in: db)
      var room = QuarantineRoom()
      let twins = try fill { try EventStore.insert($0, run: run, &room, into: db) }
      try Self.dropLooseRows(in: db)
      try renumberPending(besides: twins, by: run, limits, in: db)
    }
  }

  /// Resolves the quarantined events of the span, because it is processed again.
  private func resolveQuarantined(_ span: ReplacedSpan, in db: Database) throws {
    var resolved: [Int64] = []
    try db.forEachRow(
      """
      SELECT id, file, block FROM quarantine
      WHERE file LIKE 'event:%' AND replayed_run IS NULL AND resolution IS NULL
      """
    ) { row in
      let isReplaced: Bool
      if let block = try row.bytes("block") {
        let cursor = try connection.format.wireForm.reader(of: block)
        isReplaced = try cursor.next() && span.contains(cursor)
      } else {
        let file: String = try row.value("file")
        isReplaced =
          QuarantinedLine.event(at: file).flatMap { EventID($0) }.map { span.contains($0.timestamp) } ?? false
      }
      if isReplaced { resolved.append(try row.value("id")) }
    }
    for id in resolved {
      try db.execute(
        sql: "UPDATE quarantine SET resolution = ? WHERE id = ?",
        arguments: [QuarantineResolution.replaced.rawValue, id])
    }
  }
}

/// The events to replace: all in a time span, except those of some devices.
package struct ReplacedSpan: Sendable {
  package let from: Instant
  /// The end of the span (exclusive).
  package let to: Instant
  /// The ids of devices whose events are not replaced.
  package let excluded: Set<[UInt8]>

  package init(from: Instant, to: Instant, excluded: Set<[UInt8]>) {
    self.from = from
    self.to = to
    self.excluded = excluded
  }

  package func contains(_ instant: Instant) -> Bool { from <= instant && instant < to }

  package func contains(_ event: EventBlockReader) -> Bool {
    unsafe contains(event.timestamp) && (excluded.isEmpty || !excluded.contains(Array(event.device.bytes)))
  }
}
