import BatchFoundation
import FoundationEssentials
package import GRDB

extension EventStore {
  /// Stores a batch in one transaction.
  ///
  /// Events, device states and digests of the lines belong together: after a kill either all of them are there and a second
  /// reading of the lines finds duplicates, or none is.
  package func commit(_ batch: LocalBatch, run: RunID) throws { try commit([batch], run: run) }

  /// Stores several batches in one transaction: their rows share the pages of the indexes, which are then written once.
  package func commit(_ batches: [LocalBatch], run: RunID) throws {
    try connection.write { db in
      defer { CrashPoint.beforeLocalCommit.reach() }
      var left = quarantine.room.withLock { $0 }
      for batch in batches { try Self.insert(batch, run: run, &left, into: db) }
      let rest = left
      quarantine.room.withLock { $0 = rest }
    }
    CrashPoint.afterLocalCommit.reach()
  }

  static func insert(_ batch: LocalBatch, run: RunID, _ room: inout QuarantineRoom, into db: Database) throws {
    for series in batch.events { try Ledger.insert(series, run: run, into: db) }
    try Timelines.insert(batch.devices, into: db)
    try Timelines.insert(batch.digests, into: db)
    try Quarantine.insert(batch.quarantine, run: run, &room, into: db)
    try Timelines.insert(batch.rewoundNights, into: db)
    try Timelines.insert(batch.nights, run: run, into: db)
    try Ledger.insert(batch.changes, run: run, into: db)
    try Quarantine.markReplayed(batch.replayed, by: run, in: db)
    try batch.rows?.insert(run: run, into: db)
    if let counters = batch.counters {
      try db.execute(sql: "UPDATE run SET counters = ? WHERE id = ?", arguments: [counters, run.number])
    }
  }
}

extension [UInt8] {
  /// The bytes as a value of the database, copied once.
  package var blob: DatabaseValue { Data(self).databaseValue }
}
