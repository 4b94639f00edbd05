package import BatchFoundation
import GRDB

extension Timelines {
  /// Returns the stored states of devices, in the same order; nil for a device that the store does not know.
  package func states(of devices: [Text]) throws -> [StoredDevice?] {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: "SELECT version, held, state FROM device WHERE bucket = ? AND name = ?")
      return try devices.map { device in
        let name = unsafe Array(device.bytes)
        return try Row.fetchOne(statement, arguments: [DeviceHash(device).bucket, name.blob]).map { row in
          try StoredDevice(device: name, version: row.value(0), held: row.value(1), state: row.bytes(2))
        }
      }
    }
  }

  /// Returns the number of devices in a bucket that the store knows.
  package func deviceCount(bucket: Int) throws -> Int {
    try connection.read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM device WHERE bucket = ?", arguments: [bucket]) ?? 0
    }
  }

  /// Returns the devices of a bucket that change before the instant without a new record, sorted by the bytes of their
  /// ids.
  package func dueDevices(bucket: Int, before instant: Instant) throws -> [StoredDevice] {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: "SELECT name, version, held, state FROM device WHERE bucket = ? AND due < ? ORDER BY name")
      return try Row.fetchAll(statement, arguments: [bucket, instant.milliseconds]).map { try StoredDevice($0) }
    }
  }

  /// Returns the segments of a bucket that may have digests of lines from `first` to `last` (inclusive).
  package func knownDigests(bucket: Int, from first: Instant, to last: Instant) throws -> [DigestSegment] {
    try connection.read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT first, last, digests, file, offset, lines, sum FROM digest_segment
          WHERE bucket = ? AND last >= ? AND first <= ? ORDER BY id
          """)
      return try Row.fetchAll(statement, arguments: [bucket, first.milliseconds, last.milliseconds]).map { row in
        try DigestSegment(
          bucket: bucket, first: row.value("first"), last: row.value("last"), digests: digests(of: row))
      }
    }
  }

  /// Passes to `body` every device whose state has held events.
  package func forEachHoldingDevice(_ body: (StoredDevice) throws -> Void) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(db, sql: "SELECT name, version, held, state FROM device WHERE held > 0")
      while let row = try rows.next() {
        try body(StoredDevice(row))
      }
    }
  }

  /// Passes every known device to `body`, sorted by the bytes of their ids.
  package func forEachDevice(_ body: (StoredDevice) throws -> Void) throws {
    try forEachDevice(after: nil) {
      try body($0)
      return true
    }
  }

  /// Passes the known devices after an id (nil for all) to `body`, sorted by the bytes of their ids, until it returns
  /// false. Only ids are sorted in advance, so the first devices are passed soon, and states are read only when needed.
  package func forEachDevice(after: [UInt8]?, _ body: (StoredDevice) throws -> Bool) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(
        db, sql: "SELECT id FROM device WHERE ?1 IS NULL OR name > ?1 ORDER BY name", arguments: [after?.blob])
      let statement = try db.makeStatement(sql: "SELECT name, version, held, state FROM device WHERE id = ?")
      while let row = try rows.next() {
        guard let device = try Row.fetchOne(statement, arguments: [try row.value("id") as Int64]) else { continue }
        guard try body(StoredDevice(device)) else { return }
      }
    }
  }

  /// Passes the ids of all known devices to `body`, in no particular order.
  package func forEachDeviceName(_ body: ([UInt8]) throws -> Void) throws {
    try connection.read { db in
      let rows = try Row.fetchCursor(db, sql: "SELECT name FROM device")
      while let row = try rows.next() { try body(row.blob("name")) }
    }
  }

  /// Returns the state of the device with this id; nil if the store does not know the device.
  package func device(_ name: [UInt8]) throws -> StoredDevice? {
    try name.withText { try states(of: [$0])[0] }
  }

  static func insert(_ devices: DeviceStates, into db: Database) throws {
    try unsafe devices.bytes.withUnsafeBytes { bytes in
      var rest = devices.entries[...]
      // Several rows share a statement, because SQLite's overhead for a statement is a third of the work for one row.
      for count in [16, 1] where rest.count >= count {
        let statement = try BoundStatement(db, insertion(ofRows: count))
        while rest.count >= count {
          for (row, entry) in rest.prefix(count).enumerated() {
            let first = Int32(row * 6 + 1)
            statement.bind(first, entry.bucket)
            unsafe statement.bind(first + 1, blob: UnsafeRawBufferPointer(rebasing: bytes[entry.name]))
            statement.bind(first + 2, entry.version)
            statement.bind(first + 3, entry.held)
            if let due = entry.due {
              statement.bind(first + 4, due.milliseconds)
            } else {
              statement.bindNull(first + 4)
            }
            unsafe statement.bind(first + 5, blob: UnsafeRawBufferPointer(rebasing: bytes[entry.state]))
          }
          try statement.run()
          rest.removeFirst(count)
        }
      }
    }
  }

  private static func insertion(ofRows count: Int) -> String {
    """
    INSERT INTO device (bucket, name, version, held, due, state)
    VALUES \(Array(repeating: "(?, ?, ?, ?, ?, ?)", count: count).joined(separator: ", "))
    ON CONFLICT (bucket, name) DO UPDATE
    SET version = excluded.version, held = excluded.held, due = excluded.due, state = excluded.state
    """
  }
}

extension StoredDevice {
  fileprivate init(_ row: Row) throws {
    try self.init(
      device: row.blob("name"), version: row.value("version"), held: row.value("held"), state: row.blob("state"))
  }
}
