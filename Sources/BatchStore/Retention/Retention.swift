package import BatchFoundation
import GRDB

/// The result of a purge.
package struct PurgeReport: Sendable, Equatable {
  /// The number of posted events that were deleted.
  package var purged: Int
  /// The number of events of the same age that were kept, because they were not posted.
  package var kept: Int
  /// The number of rows that were deleted from the platform's own tables.
  package var platformRows = 0
}

/// The deletion of old data from a store. Functions throw ``StoreError``; see ``EventStore``.
package struct Retention: Sendable {
  let connection: StoreConnection

  /// Deletes posted events and platform rows with times up to UTC midnight of `asOf` minus `days` days, but never an
  /// event that was not posted (reference events 6).
  package func purge(asOf: Instant, days: Int) throws -> PurgeReport {
    let cutoff = Self.midnight(asOf, before: days)
    return try connection.write { db in
      var report = PurgeReport(purged: 0, kept: 0)
      for row in try Row.fetchAll(
        db, sql: "SELECT id, status, last, pack, offset, length, events FROM chunk WHERE first <= ? AND status <> ?",
        arguments: [cutoff, ChunkStatus.split])
      {
        try purge(row, cutoff: Instant(milliseconds: cutoff), &report, in: db)
      }
      for statement in connection.format.retention?.statements ?? [] {
        try db.execute(sql: statement, arguments: [cutoff])
        report.platformRows += db.changesCount
      }
      if report.purged > 0 { try EventStore.noteUse(of: db) }
      try Ledger.dropLooseRows(in: db)
      try Runs.purgeInputs(in: db)
      return report
    }
  }

  private func purge(_ row: Row, cutoff: Instant, _ report: inout PurgeReport, in db: Database) throws {
    let id: Int64 = try row.value("id")
    let status = try row.status("status")
    let last: Int64 = try row.value("last")
    let pack: Int64 = try row.value("pack")
    let events: Int = try row.value("events")
    let hasExceptions = try db.count("SELECT EXISTS (SELECT 1 FROM event_exception WHERE chunk = ?)", [id]) > 0
    if last <= cutoff.milliseconds, !hasExceptions {
      guard status == .events(.successfullyPosted) else {
        report.kept += events
        return
      }
      try db.execute(sql: "DELETE FROM chunk WHERE id = ?", arguments: [id])
      try Ledger.releasePack(pack, in: db)
      report.purged += events
      return
    }
    let removed = try Ledger(connection: connection).removeEvents(of: row, in: db) { event, own in
      guard event.timestamp <= cutoff else { return false }
      switch own {
      case .events(.successfullyPosted), .split: return true
      case .events:
        report.kept += 1
        return false
      }
    }
    report.purged += removed[.successfullyPosted] ?? 0
  }
}

/// The result of a purge of digests and device states.
package struct KnowledgeReport: Sendable, Equatable {
  /// The number of deleted digests of lines.
  package var digests = 0
  /// The number of deleted device states.
  package var devices = 0
}

/// The purge of digests and device states, which grow with each night. Runs never rely on purged data, because lines
/// that are old enough to be affected are skipped.
extension Retention {
  /// Returns the instant before which lines are skipped, because knowledge about them was purged; nil if none was.
  package func knownSince() throws -> Instant? {
    try connection.read { try Self.knownSince(in: $0) }
  }

  private static func knownSince(in db: Database) throws -> Instant? {
    try Row.integer(db, sql: "SELECT max(at) AS at FROM known_since").map { Instant(milliseconds: $0) }
  }

  /// Deletes digests of lines older than `digestDays` and states of devices idle for `deviceDays`, both counted from
  /// UTC midnight of `asOf`; nil keeps all. A device is kept if its state holds events, or if the next run must process
  /// it. A deleted device that returns counts as new.
  ///
  /// - Parameter lastSeen: returns the time of a device's last record, which only the platform knows.
  package func purgeKnowledge(
    asOf: Instant, digestDays: Int?, deviceDays: Int?, lastSeen: (StoredDevice) throws -> Instant?
  ) throws -> KnowledgeReport {
    var report = KnowledgeReport()
    try connection.write { db in
      var horizons: [Int64] = []
      if let deviceDays {
        let cutoff = Self.midnight(asOf, before: deviceDays)
        report.devices = try Timelines(connection: connection).removeStates(in: db) { device, due in
          guard device.held == 0, due.map({ $0 >= asOf }) ?? true, let last = try lastSeen(device) else { return false }
          return last.milliseconds < cutoff
        }.count
        if report.devices > 0 { horizons.append(cutoff) }
      }
      if let digestDays {
        let cutoff = Self.midnight(asOf, before: digestDays)
        report.digests = try db.count(
          "SELECT sum(coalesce(lines, length(digests) / 16)) FROM digest_segment WHERE last < ? AND bucket < 256",
          [cutoff])
        if report.digests > 0 {
          try db.execute(sql: "DELETE FROM digest_segment WHERE last < ?", arguments: [cutoff])
          horizons.append(cutoff)
        }
      }
      // If nothing was deleted, no lines need to be skipped.
      guard let horizon = horizons.max() else { return }
      let known = try Self.knownSince(in: db)?.milliseconds ?? .min
      try db.execute(sql: "DELETE FROM known_since")
      try db.execute(sql: "INSERT INTO known_since (at) VALUES (?)", arguments: [max(horizon, known)])
      try Runs.forgetKnownFiles(in: db)
      try EventStore.noteUse(of: db)
    }
    return report
  }

  /// Gives free pages back to the file system, and returns the number of bytes freed. Throws
  /// ``StoreError/inputOutput(path:operation:code:)`` if the disk has no room for a copy of the file.
  package func shrink() throws -> Int {
    let before = try byteCount()
    try connection.rebuild()
    return max(0, before - (try byteCount()))
  }

  private func byteCount() throws -> Int {
    try connection.read { try $0.count("PRAGMA page_count") * $0.count("PRAGMA page_size") }
  }

  /// Returns UTC midnight of `asOf` minus `days` days, in milliseconds; -1 on overflow.
  static func midnight(_ asOf: Instant, before days: Int) -> Int64 {
    let day: Int64 = 86_400_000
    let (span, overflow) = Int64(days).multipliedReportingOverflow(by: day)
    return overflow ? -1 : asOf.milliseconds - asOf.milliseconds % day - span
  }
}
