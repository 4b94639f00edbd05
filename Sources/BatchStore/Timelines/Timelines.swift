package import BatchFoundation
import GRDB

/// The states of devices, the digests of lines, and the nights within the rewind window.
package struct Timelines: Sendable {
  let connection: StoreConnection

  /// Records the rules of a run before its first night is kept: a digest of the settings, and for ``ruleSettings(_:)``
  /// the settings themselves.
  package func beginNights(
    of run: RunID, rules: String, settings: String, knownBefore: Instant?, known: Instant?
  ) throws {
    try connection.write { db in
      try db.execute(
        sql: "INSERT OR IGNORE INTO night_rules (digest, settings) VALUES (?, ?)", arguments: [rules, settings])
      try db.execute(
        sql: "INSERT OR REPLACE INTO night_run (run, rules, known_before, known) VALUES (?, ?, ?, ?)",
        arguments: [run.number, rules, knownBefore?.milliseconds, known?.milliseconds])
    }
  }

  /// Returns the settings by which nights were processed; nil if the store has none with the digest.
  package func ruleSettings(_ digest: String) throws -> String? {
    try connection.read {
      try String.fetchOne($0, sql: "SELECT settings FROM night_rules WHERE digest = ?", arguments: [digest])
    }
  }

  static func insert(_ nights: [DeviceNight], run: RunID, into db: Database) throws {
    let buckets = Dictionary(grouping: nights) { $0.device.withText { DeviceHash($0).bucket } }
    for (bucket, nights) in buckets.sorted(by: { $0.key < $1.key }) {
      let until = nights.map(\.until).max() ?? Instant(milliseconds: 0)
      let statement = try db.cachedStatement(
        sql: "INSERT INTO device_night (bucket, run, until, records, nights) VALUES (?, ?, ?, ?, ?)")
      try statement.execute(arguments: [
        bucket, run.number, until.milliseconds, nights.reduce(0) { $0 + $1.count }, NightCoding.packed(nights).blob,
      ])
    }
  }

  /// Inserts what a rewind adds to existing nights, each with its run, and keeps those nights as long.
  static func insert(_ nights: [StoredNight], into db: Database) throws {
    for (run, nights) in Dictionary(grouping: nights, by: \.run).sorted(by: { $0.key.number < $1.key.number }) {
      try insert(nights.map(\.night), run: run, into: db)
      let statement = try db.cachedStatement(
        sql: "UPDATE device_night SET until = ?1 WHERE bucket = ?2 AND run = ?3 AND until < ?1")
      for night in nights {
        let bucket = night.night.device.withText { DeviceHash($0).bucket }
        try statement.execute(arguments: [night.night.until.milliseconds, bucket, run.number])
      }
    }
  }

  /// Returns the nights of the devices of a bucket.
  package func nights(bucket: Int) throws -> BucketNights {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT run, rules, known_before, known FROM night_run
          WHERE run IN (SELECT run FROM device_night WHERE bucket = ?) ORDER BY run DESC
          """)
      return BucketNights(
        try Row.fetchAll(statement, arguments: [bucket]).map { row in
          let run: RunID = try row.value("run")
          return BucketNights.Series(
            run: run, rules: try row.value("rules"), knownBefore: try row.value("known_before"),
            known: try row.value("known"), nights: { try nights(bucket: bucket, of: run) })
        })
    }
  }

  private func nights(bucket: Int, of run: RunID) throws -> [DeviceNight] {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: "SELECT nights FROM device_night WHERE bucket = ? AND run = ? ORDER BY id")
      return try Row.fetchAll(statement, arguments: [bucket, run.number]).flatMap { row in
        try NightCoding.nights(row.blob("nights"))
      }
    }
  }

  /// Returns what is kept for late records: the number of runs with nights, of records, and of bytes.
  package func kept() throws -> (nights: Int, records: Int, bytes: Int) {
    try connection.read { db in
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT count(DISTINCT run) AS nights, coalesce(sum(records), 0) AS records,
            coalesce(sum(length(nights)), 0) AS bytes FROM device_night
          """)
      return try (row?.value("nights") ?? 0, row?.value("records") ?? 0, row?.value("bytes") ?? 0)
    }
  }

  /// Deletes the nights of devices, and of those whose records contain an id. A late record of one of these devices is
  /// then processed as if it preceded everything that the device did.
  static func eraseNights(
    of devices: Set<[UInt8]>, _ traces: [PersonTrace], with removal: RowRemoval, in db: Database
  ) throws {
    var touched = devices
    var rows: [(id: Int64, nights: [DeviceNight])] = []
    let cursor = try Row.fetchCursor(db, sql: "SELECT id, nights FROM device_night")
    while let row = try cursor.next() {
      let nights = try NightCoding.nights(row.blob("nights"))
      for night in nights
      where traces.contains(where: { trace in
        [night.records, night.beyond, night.before?.state ?? []].contains { trace.stands(in: $0) }
      }) {
        touched.insert(night.device)
      }
      rows.append((try row.value("id"), nights))
    }
    for (id, nights) in rows where nights.contains(where: { touched.contains($0.device) }) {
      let rest = nights.filter { !touched.contains($0.device) }
      for night in nights where touched.contains(night.device) {
        try removal.show(
          "rewindRecords",
          .object([
            "device": .text(String(decoding: night.device, as: UTF8.self)),
            "bytes": .number(night.records.count + night.beyond.count), "until": .text(night.until.rfc3339),
          ]))
      }
      try db.execute(
        sql: "UPDATE device_night SET records = ?, nights = ? WHERE id = ?",
        arguments: [rest.reduce(0) { $0 + $1.count }, NightCoding.packed(rest).blob, id])
    }
  }

  /// Deletes nights that no rewind can reach any more.
  static func dropNights(before reach: Instant, in db: Database) throws {
    try db.execute(sql: "DELETE FROM device_night WHERE until < ?", arguments: [reach.milliseconds])
    try db.execute(sql: "DELETE FROM night_run WHERE run NOT IN (SELECT run FROM device_night)")
    try db.execute(sql: "DELETE FROM night_rules WHERE digest NOT IN (SELECT rules FROM night_run)")
  }
}
