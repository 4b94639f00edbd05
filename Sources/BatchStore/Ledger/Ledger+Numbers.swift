package import BatchFoundation
import GRDB

/// The numbers of events (``EventID``). An event that a service may have keeps its number, even if late records add
/// events before it.
extension Ledger {
  /// The value of `chunk` in corrections that are about unsent events, which are pending under a different number.
  static let renumbered: Int64 = 0

  /// Gives each pending event that has the number of a sent event a number that no other event of its device will ever
  /// have. Such events exist if late records shifted the numbers at an instant after some of that instant's
  /// events were sent. Corrections hold both numbers of the sent events and, after this, of the pending ones, so that
  /// later runs find them.
  package func renumberPending(by run: RunID, limits: RequestLimits) throws {
    try connection.write { try self.renumberPending(besides: [], by: run, limits, in: $0) }
  }

  /// - Parameter taken: events that were sent under their numbers, but have no correction.
  func renumberPending(
    besides taken: Set<NumberedEvent>, by run: RunID, _ limits: RequestLimits, in db: Database
  ) throws {
    let taken = try taken.union(Self.movedEvents(in: db))
    let times = taken.map(\.at).sorted()
    guard let first = times.first, let last = times.last else { return }
    let doubtful = try Self.chunksInDoubt(in: db)
    var blocks: [[UInt8]] = []
    for row in try Row.fetchAll(
      db,
      sql: """
        SELECT id, status, pack, offset, length, first, last FROM chunk
        WHERE last >= ? AND first <= ? AND status NOT IN (?, ?) ORDER BY id
        """,
      arguments: [first.milliseconds, last.milliseconds, ChunkStatus.split, EventStatus.successfullyPosted])
    {
      guard try !doubtful.contains(row.value("id")), try times.hasOne(in: row.value("first")...row.value("last")) else {
        continue
      }
      _ = try removeEvents(of: row, in: db) { cursor, own in
        guard case .events(let status) = own, status != .failedPost,
          Self.standing(of: status, isDoubtful: false).isEmpty, case let event = NumberedEvent(cursor),
          taken.contains(event)
        else { return false }
        let writer = EventBlockCopier(self.connection.format.wireForm, .ofParts)
        writer.append(cursor, emission: try self.renumber(event, in: db))
        blocks.append(writer.finish().block(0))
        return true
      }
    }
    guard let events = try connection.format.wireForm.events(of: blocks, limits) else { return }
    try Self.insert(events, run: run, into: db)
    try Self.dropLooseRows(in: db)
  }

  /// Returns the sent events whose numbers may now belong to other events.
  private static func movedEvents(in db: Database) throws -> Set<NumberedEvent> {
    var events: Set<NumberedEvent> = []
    try db.forEachRow(
      """
      SELECT device, sent_at, sent_emission FROM correction
      WHERE chunk <> ? AND (right_emission IS NOT sent_emission OR right_at IS NOT sent_at)
      """, [renumbered]
    ) { row in
      events.insert(
        try NumberedEvent(
          at: row.value("sent_at"), device: row.blob("device"), emission: row.emission("sent_emission")))
    }
    return events
  }

  /// Gives a pending event a new number, and returns it.
  private func renumber(_ event: NumberedEvent, in db: Database) throws -> Int64 {
    let first = NumberedEvent.firstFree(at: event.emission)
    let known = try db.cachedStatement(
      sql: """
        SELECT max(sent_emission) FROM correction WHERE device = ? AND sent_at = ? AND sent_emission BETWEEN ? AND ?
        """)
    let last = try Int64.fetchOne(
      known, arguments: [event.device.blob, event.at.milliseconds, first, first + NumberedEvent.free - 1])
    let number = last.map { $0 + 1 } ?? first
    try db.cachedStatement(
      sql: """
        INSERT INTO correction (run, device, key, chunk, is_moved, sent_at, sent_emission, sent, produced, right_at, right_emission, right,
          file, line)
        VALUES (0, ?, x'', ?, 1, ?, ?, x'', x'', ?, ?, x'', 0, 0)
        """
    ).execute(arguments: [
      event.device.blob, Self.renumbered, event.at.milliseconds, number, event.at.milliseconds, event.emission,
    ])
    try connection.format.amendment?.renumber(event.device, from: event.emission, to: number, in: db)
    return number
  }

  /// Returns the other number under which an event of a device is pending; nil if it is pending under its own.
  package func number(of event: WireEvent, _ device: [UInt8]) throws -> Int64? {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT sent_emission FROM correction WHERE device = ? AND chunk = ? AND right_at = ? AND right_emission = ?
          """)
      let arguments: StatementArguments = [
        device.blob, Self.renumbered, event.timestamp.milliseconds, event.emission,
      ]
      return try Row.fetchOne(statement, arguments: arguments)?.emission("sent_emission")
    }
  }

  /// Deletes the record of the other number under which a removed event was pending.
  static func forgetNumber(of cursor: EventBlockReader, in db: Database) throws {
    let event = NumberedEvent(cursor)
    guard event.emission >= NumberedEvent.firstFree(at: event.emission) else { return }
    try db.cachedStatement(
      sql: "DELETE FROM correction WHERE device = ? AND chunk = ? AND sent_at = ? AND sent_emission = ?"
    ).execute(arguments: [event.device.blob, renumbered, event.at.milliseconds, event.emission])
  }
}

/// The components of an ``EventID``, which identify an event.
package struct NumberedEvent: Hashable {
  let at: Instant
  let device: [UInt8]
  let emission: Int64

  package init(at: Instant, device: [UInt8], emission: Int64) {
    self.at = at
    self.device = device
    self.emission = emission
  }

  init(_ cursor: EventBlockReader) {
    unsafe self.init(at: cursor.timestamp, device: Array(cursor.device.bytes), emission: cursor.emission)
  }

  /// Half the size of an instant's range of numbers. Rules reach the second half only after four thousand events.
  static var free: Int64 { EmissionNumber.begin(at: Instant(milliseconds: 1)) / 2 }

  static func firstFree(at emission: Int64) -> Int64 { emission - emission % (2 * free) + free }
}

extension [Instant] {
  /// Returns whether one of these times, which must be ascending, is in the span.
  func hasOne(in span: ClosedRange<Instant>) -> Bool {
    let next = place { $0 < span.lowerBound }
    return next < count && self[next] <= span.upperBound
  }
}
