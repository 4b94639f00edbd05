package import BatchFoundation
import GRDB

/// The states of devices, the digests of lines, and the nights within the rewind window.
/// Functions throw ``StoreError``; see ``EventStore``.
package struct Timelines: Sendable {
  let connection: StoreConnection

  /// Records a run's rules and known times before its first night is stored.
  ///
  /// - Parameters:
  ///   - rules: the digest of `settings`.
  ///   - knownBefore: the store's known time before the run; nil for none.
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

  /// Returns the rule settings of nights by their digest; nil if the store does not have them.
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

  /// Inserts a rewind's changes to existing nights, each under the run of its night, and keeps those nights at least as
  /// long as the changes.
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

  /// Returns the nights of a bucket's devices.
  package func nights(bucket: Int) throws -> BucketNights {
    let series = try connection.all(
      """
      SELECT run, rules, known_before, known FROM night_run
      WHERE run IN (SELECT run FROM device_night WHERE bucket = ?) ORDER BY run DESC
      """, [bucket]
    ) { row in
      let run: RunID = try row.value("run")
      return BucketNights.Series(
        run: run, rules: try row.value("rules"), knownBefore: try row.value("known_before"),
        known: try row.value("known"), nights: { try nights(bucket: bucket, of: run) })
    }
    return BucketNights(series)
  }

  private func nights(bucket: Int, of run: RunID) throws -> [DeviceNight] {
    try connection.all(
      "SELECT nights FROM device_night WHERE bucket = ? AND run = ? ORDER BY id", [bucket, run.number]
    ) { try NightCoding.nights($0.blob("nights")) }.flatMap(\.self)
  }

  /// Returns the amount of data stored for late records: the number of runs with nights, of records, and of bytes.
  package func kept() throws -> (nights: Int, records: Int, bytes: Int) {
    try connection.first(
      """
      SELECT count(DISTINCT run) AS nights, coalesce(sum(records), 0) AS records,
        coalesce(sum(length(nights)), 0) AS bytes FROM device_night
      """
    ) { try ($0.value("nights"), $0.value("records"), $0.value("bytes")) } ?? (0, 0, 0)
  }

  /// Deletes the nights of these devices, and of devices whose records contain an id. A late record of any of them is
  /// then processed as if it preceded everything that the device did.
  static func eraseNights(
    of devices: Set<[UInt8]>, _ traces: [PersonTrace], with removal: RowRemoval, in db: Database
  ) throws {
    var touched = devices
    var rows: [(id: Int64, nights: [DeviceNight])] = []
    try db.forEachRow("SELECT id, nights FROM device_night") { row in
      let nights = try NightCoding.nights(row.blob("nights"))
      for night in nights
      where traces.contains(where: { trace in
        [night.records, night.beyond, night.before?.state ?? []].contains { trace.occurs(in: $0) }
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

  /// Deletes nights that no rewind can reach.
  static func dropNights(before reach: Instant, in db: Database) throws {
    try db.execute(sql: "DELETE FROM device_night WHERE until < ?", arguments: [reach.milliseconds])
    try db.execute(sql: "DELETE FROM night_run WHERE run NOT IN (SELECT run FROM device_night)")
    try db.execute(sql: "DELETE FROM night_rules WHERE digest NOT IN (SELECT rules FROM night_run)")
  }
}

extension Timelines {
  /// Returns the segments of a bucket that may hold digests of lines from `first` to `last`.
  ///
  /// - Throws: ``StoreError/digestFile(path:)`` for a changed digest file, and other errors, such as for a missing one.
  package func knownDigests(bucket: Int, from first: Instant, to last: Instant) throws -> [DigestSegment] {
    try connection.all(
      """
      SELECT first, last, digests, file, offset, lines, sum FROM digest_segment
      WHERE bucket = ? AND last >= ? AND first <= ? ORDER BY id
      """, [bucket, first.milliseconds, last.milliseconds]
    ) { row in
      try DigestSegment(bucket: bucket, first: row.value("first"), last: row.value("last"), digests: digests(of: row))
    }
  }

  /// Returns the earliest processed instant from `to` on; nil if there is none, or if a line between `from` (nil for
  /// the beginning) and `to` (exclusive) was processed.
  package func firstProcessed(after to: Instant, withNothingSince from: Instant?) throws -> Instant? {
    try connection.read { db in
      let known = "SELECT EXISTS (SELECT 1 FROM digest_segment WHERE last >= ? AND first < ?)"
      guard try db.count(known, [from?.milliseconds ?? 0, to]) == 0 else { return nil }
      let first = "SELECT min(first) AS first FROM digest_segment WHERE first >= ?"
      return try Row.integer(db, sql: first, arguments: [to]).map { Instant(milliseconds: $0) }
    }
  }

  /// Returns the times of the first and the last processed record; nil if there is none.
  package func processedSpan() throws -> (first: Instant, last: Instant)? {
    try connection.first(
      "SELECT min(first) AS first, max(last) AS last FROM digest_segment HAVING count(*) > 0"
    ) { try ($0.value("first"), $0.value("last")) }
  }

  /// Returns the names of the files next to the store that have digests from earlier runs (``DigestFile``).
  package func digestFiles() throws -> [String] {
    try connection.all("SELECT DISTINCT file FROM digest_segment WHERE file IS NOT NULL ORDER BY file") {
      DigestFile.name(try $0.value(0))
    }
  }

  /// Returns the digests of a row, which are in the store or in a file.
  func digests(of row: Row) throws -> [UInt8] {
    guard let file: Int64 = try row.value("file") else { return try row.blob("digests") }
    return try DigestFile.read(
      "\(PathText.folder(of: connection.path))/\(DigestFile.name(file))", from: row.value("offset"),
      bytes: 16 * row.value("lines"), sum: row.value("sum"))
  }

  /// Passes to `body`, in order, the digests of lines that are in the store itself. In the store of a part's result,
  /// these are the digests that its run added.
  package func forEachOwnDigestSegment(_ body: (DigestSegment) throws -> Void) throws {
    try connection.forEach(
      "SELECT bucket, first, last, digests FROM digest_segment WHERE file IS NULL AND bucket < 256 ORDER BY id"
    ) { row in
      try body(
        DigestSegment(
          bucket: row.value("bucket"), first: row.value("first"), last: row.value("last"),
          digests: row.blob("digests")))
    }
  }

  static func insert(_ segments: [DigestSegment], into db: Database) throws {
    guard !segments.isEmpty else { return }
    let statement = try db.cachedStatement(
      sql: "INSERT INTO digest_segment (bucket, first, last, digests) VALUES (?, ?, ?, ?)")
    for segment in segments {
      try statement.execute(arguments: [segment.bucket, segment.first, segment.last, segment.digests.blob])
    }
  }
}
