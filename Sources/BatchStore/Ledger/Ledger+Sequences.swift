import BatchFoundation
import GRDB

/// A selection of chunks.
package enum ChunkSelection: Sendable {
  /// The chunks pending delivery.
  case waiting
  /// The chunks that the service acknowledged in a run.
  case posted(in: RunID)
  /// The chunks acknowledged in a run that earlier runs had stored.
  case backlog(postedIn: RunID)
  /// The chunks that a run stored, except those on `HOLD` or outside the service's window.
  case stored(by: RunID)
  /// The chunks that a run stored, with the same exceptions, and that the service has not acknowledged.
  case unposted(by: RunID)
}

extension Ledger {
  /// Returns the blocks of the selected chunks as sorted sequences, each chunk once; those whose times do not touch the
  /// span, if there is one, are left out. Blocks are read during the merge: nothing may be sent or purged meanwhile.
  package func sequences(_ selections: [ChunkSelection], touching span: ReplacedSpan? = nil) throws -> [BlockSequence] {
    var waiting = false
    var posted: Int64 = -1
    var backlog: Int64 = -1
    var stored: Int64 = -1
    var unposted: Int64 = -1
    for selection in selections {
      switch selection {
      case .waiting: waiting = true
      case .posted(let run): posted = run.number
      case .backlog(let run): backlog = run.number
      case .stored(let run): stored = run.number
      case .unposted(let run): unposted = run.number
      }
    }
    struct Place {
      var pack: Int64
      var offset: Int
      var length: Int
    }
    var series: [[Place]] = []
    try connection.read { db in
      var current: Int64?
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT series, pack, offset, length FROM chunk
          WHERE status <> :split
            AND ((:waits AND status = :waiting)
              OR (status = :posted AND (settled_run = :postedIn OR settled_run = :backlogOf AND run <> :backlogOf))
              OR (status NOT IN (:expired, :hold) AND (run = :storedBy OR run = :unpostedBy AND status <> :posted)))
            AND last >= :from AND first < :to
          ORDER BY series, rank, id
          """,
        arguments: [
          "split": ChunkStatus.split, "waits": waiting, "waiting": EventStatus.notPosted,
          "posted": EventStatus.successfullyPosted, "postedIn": posted, "backlogOf": backlog,
          "expired": EventStatus.expired, "hold": EventStatus.hold, "storedBy": stored, "unpostedBy": unposted,
          "from": span?.from.milliseconds ?? .min, "to": span?.to.milliseconds ?? .max,
        ])
      while let row = try rows.next() {
        let number: Int64 = try row.value(0)
        if number != current { series.append([]) }
        current = number
        try series[series.count - 1].append(Place(pack: row.value(1), offset: row.value(2), length: row.value(3)))
      }
    }
    return series.map { places in
      var index = 0
      return BlockSequence {
        guard index < places.count else { return nil }
        let place = places[index]
        index += 1
        return try connection.read { db in
          try Self.block(pack: place.pack, offset: place.offset, length: place.length, in: db)
        }
      }
    }
  }
}
