package import BatchFoundation
import GRDB

/// The states of devices. Reading one throws ``StoreError/damagedRow(path:table:row:column:)`` if any segment of its
/// bucket is damaged.
extension Timelines {
  /// Returns the stored states of devices, in the same order; nil for a device that the store does not know.
  package func states(of devices: [Text]) throws -> [StoredDevice?] {
    // The devices of a partition belong to one bucket.
    var (bucket, states) = (-1, DeviceStates())
    return try devices.map { device in
      let own = DeviceHash(device).bucket
      if own != bucket { (bucket, states) = (own, try self.states(ofBucket: own)) }
      return states.state(of: device)
    }
  }

  /// Returns the state of the device with this id; nil if the store does not know the device.
  package func device(_ name: [UInt8]) throws -> StoredDevice? {
    try name.withText { try states(of: [$0])[0] }
  }

  /// Returns the number of known devices in a bucket.
  package func deviceCount(bucket: Int) throws -> Int {
    try connection.count("SELECT sum(added) FROM state_segment WHERE bucket = ?", [bucket])
  }

  /// Returns the devices of a bucket for which something changes before the instant even without new records, sorted by
  /// the bytes of their ids.
  package func dueDevices(bucket: Int, before instant: Instant) throws -> [StoredDevice] {
    let isDue = "SELECT EXISTS (SELECT 1 FROM state_segment WHERE bucket = ? AND due < ?)"
    guard try connection.count(isDue, [bucket, instant]) > 0 else { return [] }
    let states = try states(ofBucket: bucket)
    return states.entries.filter { $0.due.map { $0 < instant } ?? false }.map(states.device)
  }

  /// Passes every device with events on hold to `body`.
  package func forEachHoldingDevice(_ body: (StoredDevice) throws -> Void) throws {
    for bucket in try buckets(having: "sum(held) > 0") {
      let states = try states(ofBucket: bucket)
      for entry in states.entries where entry.held > 0 { try body(states.device(entry)) }
    }
  }

  /// Passes every known device to `body`, bucket by bucket.
  package func forEachDevice(_ body: (StoredDevice) throws -> Void) throws {
    for bucket in try buckets() {
      let states = try states(ofBucket: bucket)
      for entry in states.entries { try body(states.device(entry)) }
    }
  }

  /// The approximate number of bytes of states that ``forEachDevice(after:_:)`` sorts at a time.
  private static let pageBytes = 1 << 25

  /// Passes the known devices whose ids follow `after` (nil for all) to `body`, sorted by the bytes of their ids, until
  /// it returns false.
  package func forEachDevice(after: [UInt8]?, _ body: (StoredDevice) throws -> Bool) throws {
    var last = after
    while true {
      let (page, end) = try page(after: last)
      for device in page { guard try body(device) else { return } }
      guard let end else { return }
      last = end
    }
  }

  /// Returns the next devices whose ids follow `after` (nil for the first ones), sorted by the bytes of their ids.
  /// `end` is the last of these ids if more may follow.
  private func page(after: [UInt8]?) throws -> (devices: [StoredDevice], end: [UInt8]?) {
    var page: [StoredDevice] = []
    var size = 0
    var end: [UInt8]?
    try forEachDevice { device in
      if let after, !after.lexicographicallyPrecedes(device.device) { return }
      if let end, end.lexicographicallyPrecedes(device.device) { return }
      page.append(device)
      size += device.device.count + device.state.count
      guard size > 2 * Self.pageBytes else { return }
      page.sort { $0.device.lexicographicallyPrecedes($1.device) }
      while size > Self.pageBytes, page.count > 1 {
        let last = page.removeLast()
        size -= last.device.count + last.state.count
      }
      end = page.last?.device
    }
    return (page.sorted { $0.device.lexicographicallyPrecedes($1.device) }, end)
  }

  // MARK: - Buckets

  private func buckets(having condition: String = "true") throws -> [Int] {
    try connection.read { try Self.buckets(having: condition, in: $0) }
  }

  /// Returns the buckets with states whose segments together meet the SQL condition.
  private static func buckets(having condition: String = "true", in db: Database) throws -> [Int] {
    try Row.fetchAll(
      db, sql: "SELECT bucket FROM state_segment GROUP BY bucket HAVING \(condition) ORDER BY bucket"
    ).map { try $0.value(0) }
  }

  /// Returns the states of a bucket's devices, sorted by the bytes of their ids.
  private func states(ofBucket bucket: Int) throws -> DeviceStates {
    // Other threads can use the connection while the states are unpacked.
    try states(connection.read { try Self.segments(ofBucket: bucket, in: $0) })
  }

  private func states(_ segments: [StateSegment]) throws -> DeviceStates {
    var states = DeviceStates()
    for segment in segments where states.append(segment) != segment.devices {
      throw StoreError.damagedRow(
        path: connection.path, table: "state_segment", row: segment.id, column: "states")
    }
    return states.latest()
  }

  /// Returns the segments of a bucket. Each replaces the states that earlier ones have for the same devices.
  private static func segments(ofBucket bucket: Int, in db: Database) throws -> [StateSegment] {
    let statement = try db.cachedStatement(
      sql: "SELECT id, bucket, devices, states FROM state_segment WHERE bucket = ? ORDER BY id")
    return try Row.fetchAll(statement, arguments: [bucket]).map { try StateSegment($0) }
  }

  /// Passes each damaged segment, with its intact states, to `body`.
  static func forEachDamagedSegment(in db: Database, _ body: (StateSegment, DeviceStates) throws -> Void) throws {
    try db.forEachRow("SELECT id, bucket, devices, states FROM state_segment ORDER BY id") { row in
      // Other damage is reported when columns are checked.
      guard let segment = try? StateSegment(row) else { return }
      var states = DeviceStates()
      if states.append(segment) != segment.devices { try body(segment, states) }
    }
  }

  static func insert(_ devices: DeviceStates, into db: Database) throws {
    guard devices.count > 0 else { return }
    let statement = try db.cachedStatement(
      sql: "INSERT INTO state_segment (bucket, devices, added, held, holding, due, states) VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    for row in devices.rows {
      try statement.execute(arguments: [
        row.bucket, row.devices, row.added, row.held, row.holding, row.due, row.states.blob,
      ])
    }
  }

  /// Merges the segments of buckets with many small ones, or with more replaced states than current ones, a few buckets
  /// per transaction. An error leaves earlier buckets merged.
  package func mergeStates() throws {
    var rest = try buckets(having: "count(*) > 8 + sum(devices) / 256 OR sum(devices) > 2 * sum(added)")[...]
    while !rest.isEmpty {
      try connection.write { db in
        for bucket in rest.prefix(Self.bucketsAtOnce) { try rewriteStates(ofBucket: bucket, in: db) }
      }
      rest = rest.dropFirst(Self.bucketsAtOnce)
    }
  }

  /// The number of buckets whose segments one transaction merges.
  private static let bucketsAtOnce = 16

  /// Removes the states of devices for which `isGone` returns true, and all replaced states in the buckets of these
  /// devices.
  ///
  /// - Parameters:
  ///   - isThorough: whether replaced states are removed in all buckets.
  ///   - isGone: receives a state and the instant at which it changes even without new records (nil for never).
  /// - Returns: the removed states.
  @discardableResult
  func removeStates(
    in db: Database, isThorough: Bool = false, where isGone: (StoredDevice, Instant?) throws -> Bool
  ) throws -> [StoredDevice] {
    try Self.buckets(in: db).flatMap { bucket in
      let segments = try Self.segments(ofBucket: bucket, in: db)
      var states = try states(segments)
      let hasReplaced = segments.reduce(0) { $0 + $1.devices } > states.count
      let removed = try states.removeAll(where: isGone)
      if !removed.isEmpty || isThorough && hasReplaced { try Self.rewrite(bucket, states, in: db) }
      return removed
    }
  }

  /// Replaces a damaged segment with its intact states.
  static func keep(_ states: DeviceStates, of segment: StateSegment, in db: Database) throws {
    guard states.count > 0 else {
      return try db.execute(sql: "DELETE FROM state_segment WHERE id = ?", arguments: [segment.id])
    }
    try db.execute(
      sql: "UPDATE state_segment SET devices = ?, states = ? WHERE id = ?",
      arguments: [states.count, states.packed(states.entries).blob, segment.id])
  }

  /// Removes replaced states and recounts all states.
  func rewriteStates(in db: Database) throws {
    for bucket in try Self.buckets(in: db) { try rewriteStates(ofBucket: bucket, in: db) }
  }

  private func rewriteStates(ofBucket bucket: Int, in db: Database) throws {
    try Self.rewrite(bucket, states(Self.segments(ofBucket: bucket, in: db)), in: db)
  }

  private static func rewrite(_ bucket: Int, _ states: DeviceStates, in db: Database) throws {
    try db.execute(sql: "DELETE FROM state_segment WHERE bucket = ?", arguments: [bucket])
    try insert(states, into: db)
  }
}

extension StateSegment {
  init(_ row: Row) throws {
    try self.init(
      id: row.value("id"), bucket: row.value("bucket"), devices: row.value("devices"), states: row.blob("states"))
  }
}
