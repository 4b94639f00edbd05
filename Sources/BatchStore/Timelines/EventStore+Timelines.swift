package import BatchFoundation
import GRDB

/// The nights of devices within the reach of a rewind.
extension EventStore {
  /// Notes by what a run decides, before its first night is kept.
  package func beginNights(of run: RunID, rules: String, knownBefore: Instant?, known: Instant?) throws {
    try write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO night_run (run, rules, known_before, known) VALUES (?, ?, ?, ?)",
        arguments: [run.number, rules, knownBefore?.milliseconds, known?.milliseconds])
    }
  }

  static func insert(_ nights: [DeviceNight], run: RunID, into db: Database) throws {
    guard !nights.isEmpty else { return }
    let statement = try BoundStatement(
      db,
      """
      INSERT OR REPLACE INTO device_night (bucket, name, run, until, is_mark, version, held, state, records)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    for night in nights {
      try unsafe night.device.withUnsafeBytes { name in
        statement.bind(1, night.device.withText { DeviceHash($0).bucket })
        unsafe statement.bind(2, blob: name)
        statement.bind(3, run.number)
        statement.bind(4, night.until.milliseconds)
        statement.bind(5, night.isMark ? 1 : 0)
        try unsafe (night.before?.state ?? []).withUnsafeBytes { state in
          if let before = night.before {
            statement.bind(6, before.version)
            statement.bind(7, before.held)
            unsafe statement.bind(8, blob: state)
          } else {
            for column: Int32 in 6...8 { statement.bindNull(column) }
          }
          try unsafe night.records.withUnsafeBytes { records in
            unsafe statement.bind(9, blob: records)
            try statement.run()
          }
        }
      }
    }
  }

  /// What a rewind made of nights that were there.
  static func replace(_ nights: [StoredNight], in db: Database) throws {
    guard !nights.isEmpty else { return }
    let statement = try db.cachedStatement(
      sql: """
        UPDATE device_night SET until = ?, version = ?, held = ?, state = ?, records = ?
        WHERE bucket = ? AND name = ? AND run = ?
        """)
    for stored in nights {
      let night = stored.night
      try statement.execute(arguments: [
        night.until.milliseconds, night.before?.version, night.before?.held, night.before?.state.blob,
        night.records.blob, night.device.withText { DeviceHash($0).bucket }, night.device.blob, stored.run.number,
      ])
    }
  }

  /// The nights of a device, in their order.
  package func nights(of device: Text) throws -> [StoredNight] {
    let name = unsafe Array(device.bytes)
    return try read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT until, is_mark, version, held, state, records, device_night.run AS run, rules, known_before, known
          FROM device_night JOIN night_run ON night_run.run = device_night.run
          WHERE bucket = ? AND name = ? ORDER BY device_night.run
          """)
      return try Row.fetchAll(statement, arguments: [DeviceHash(device).bucket, name.blob]).map { row in
        let version: Int? = try row.value("version")
        let before = try version.map {
          try StoredDevice(device: name, version: $0, held: row.value("held"), state: row.bytes("state") ?? [])
        }
        return try StoredNight(
          night: DeviceNight(
            device: name, before: before, records: row.bytes("records") ?? [], isMark: row.value("is_mark"),
            until: Instant(milliseconds: row.value("until"))),
          run: RunID(number: row.value("run")), rules: row.value("rules"),
          knownBefore: (row.value("known_before") as Int64?).map { Instant(milliseconds: $0) },
          known: (row.value("known") as Int64?).map { Instant(milliseconds: $0) })
      }
    }
  }

  /// Takes the nights of devices away whose records name somebody who is forgotten; what comes late of such a device is decided as
  /// from before all it did.
  static func eraseNights(_ traces: [PersonTrace], in db: Database) throws {
    var devices: Set<[UInt8]> = []
    let rows = try Row.fetchCursor(db, sql: "SELECT name, records, state FROM device_night")
    while let row = try rows.next() {
      let (records, state) = (try row.bytes(1), try row.bytes(2))
      if traces.contains(where: { $0.stands(in: records) || $0.stands(in: state) }) { devices.insert(try row.bytes(0)) }
    }
    for device in devices {
      try db.execute(
        sql: "DELETE FROM device_night WHERE bucket = ? AND name = ?",
        arguments: [device.withText { DeviceHash($0).bucket }, device.blob])
    }
  }

  /// Lets go of nights that no rewind reaches any more.
  static func dropNights(before reach: Instant, in db: Database) throws {
    try db.execute(sql: "DELETE FROM device_night WHERE until < ?", arguments: [reach.milliseconds])
    try db.execute(sql: "DELETE FROM night_run WHERE run NOT IN (SELECT run FROM device_night)")
  }
}
