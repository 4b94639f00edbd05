import BatchFoundation
import GRDB

package enum ChunkSelection: Sendable {
  /// The chunks that are pending delivery.
  case pending
  /// The chunks that the service acknowledged in a run.
  case posted(in: RunID)
  /// The chunks that the service acknowledged in a run and that earlier runs had stored.
  case backlog(postedIn: RunID)
  /// The chunks that a run stored, except those on `HOLD` or outside the service's window.
  case stored(by: RunID)
  /// The chunks that a run stored, with the same exceptions, if the service has not acknowledged them.
  case unposted(by: RunID)

  /// The SQL condition that selects the chunks.
  fileprivate var condition: String {
    let posted = EventStatus.successfullyPosted.rawValue
    let sent = "status NOT IN (\(EventStatus.expired.rawValue), \(EventStatus.hold.rawValue))"
    return switch self {
    case .pending: "status = \(EventStatus.notPosted.rawValue)"
    case .posted(let run): "status = \(posted) AND settled_run = \(run.number)"
    case .backlog(let run): "status = \(posted) AND settled_run = \(run.number) AND run <> \(run.number)"
    case .stored(let run): "\(sent) AND run = \(run.number)"
    case .unposted(let run): "\(sent) AND run = \(run.number) AND status <> \(posted)"
    }
  }
}

extension Ledger {
  /// Returns the blocks of the selected chunks as sorted sequences, each chunk once. If a span is given, chunks whose
  /// times do not overlap it are left out. A block is read, and damage to it reported, only when its sequence reaches
  /// it, so nothing may be sent or purged before that.
  package func sequences(_ selections: [ChunkSelection], touching span: ReplacedSpan? = nil) throws -> [BlockSequence] {
    struct Place {
      var pack: Int64
      var offset: Int
      var length: Int
    }
    var series: [[Place]] = []
    var current: Int64?
    try connection.forEach(
      """
      SELECT series, pack, offset, length FROM chunk
      WHERE status <> ? AND (\(selections.map(\.condition).joined(separator: " OR ")))
        AND last >= ? AND first < ?
      ORDER BY series, rank, id
      """, [ChunkStatus.split, span?.from.milliseconds ?? .min, span?.to.milliseconds ?? .max]
    ) { row in
      let number: Int64 = try row.value(0)
      if number != current { series.append([]) }
      current = number
      try series[series.count - 1].append(Place(pack: row.value(1), offset: row.value(2), length: row.value(3)))
    }
    return series.map { places in
      var index = 0
      return {
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
