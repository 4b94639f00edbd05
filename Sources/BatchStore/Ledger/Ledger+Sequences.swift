import BatchFoundation
import GRDB

/// Which chunks of the store are meant.
package enum ChunkSelection: Sendable {
  /// Those that wait to be sent.
  case waiting
  /// Those that the service acknowledged in a run.
  case posted(in: RunID)
  /// Of those, what earlier runs had stored.
  case backlog(postedIn: RunID)
  /// Those that a run stored, whatever became of them, but for those that wait as `HOLD` or are out of the service's window.
  case stored(by: RunID)
  /// Of those, what the service has not acknowledged.
  case unposted(by: RunID)
}

extension Ledger {
  /// The blocks of the selected chunks as sorted sequences; a chunk that several selections name comes once.
  ///
  /// Read while the merge goes on: nothing may be sent or purged meanwhile.
  ///
  /// - Parameters:
  ///   - selections: what is taken.
  ///   - span: leaves chunks out that have no event of it; nil takes all.
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
