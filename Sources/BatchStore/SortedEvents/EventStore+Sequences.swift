import BatchFoundation
import GRDB

/// Which chunks of the store are meant.
package enum ChunkSelection: Sendable {
  /// Those that wait to be sent.
  case waiting
  /// Those that the service acknowledged in a run.
  case posted(in: RunID)
  /// Those that a run stored, whatever became of them, but for those that wait as `HOLD` or are out of the service's window.
  case stored(by: RunID)
}

extension EventStore {
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
    var stored: Int64 = -1
    for selection in selections {
      switch selection {
      case .waiting: waiting = true
      case .posted(let run): posted = run.number
      case .stored(let run): stored = run.number
      }
    }
    struct Place {
      var pack: Int64
      var offset: Int
      var length: Int
    }
    var series: [[Place]] = []
    try read { db in
      var current: Int64?
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT series, pack, offset, length FROM chunk
          WHERE status <> ? AND ((? AND status = ?) OR (status = ? AND settled_run = ?)
            OR (run = ? AND status NOT IN (?, ?)))
            AND last >= ? AND first < ?
          ORDER BY series, rank, id
          """,
        arguments: [
          ChunkStatus.split, waiting, EventStatus.notPosted, EventStatus.successfullyPosted, posted, stored,
          EventStatus.expired, EventStatus.hold, span?.from.milliseconds ?? .min, span?.to.milliseconds ?? .max,
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
        return try self.read { db in
          try Self.block(pack: place.pack, offset: place.offset, length: place.length, in: db)
        }
      }
    }
  }
}
