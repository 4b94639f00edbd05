package import BatchFoundation
import GRDB

/// The result of an erasure or of its rehearsal.
package struct ErasureReport: Sendable, Equatable {
  /// The ids of the devices that had any data. They are removed completely.
  package var devices: [[UInt8]]
  /// The number of removed events by status and of removed rows by kind, without zeros.
  package var counts: [String: Int]
  /// The given ids for which nothing was found.
  package var unknown: [PersonID] = []
}

package struct ErasureOptions: Sendable {
  /// Whether later records are accepted from devices that were found rather than given, because other people may use
  /// these devices.
  package var admitsFoundDevices: Bool
  /// Whether all changes are rolled back at the end.
  package var isRehearsal: Bool

  package init(admitsFoundDevices: Bool, isRehearsal: Bool) {
    self.admitsFoundDevices = admitsFoundDevices
    self.isRehearsal = isRehearsal
  }
}

/// The erasures of a store, with their proofs. Functions throw ``StoreError``; see ``EventStore``.
package struct Erasures: Sendable {
  let connection: StoreConnection

  /// Removes people from everything in the store, in one transaction, and keeps a proof.
  ///
  /// A device that belongs or belonged to one of the ids is removed completely, with its events, state and quarantined
  /// lines; other devices lose the events that have one of the ids. Removed events that were posted remain in the
  /// status counts. The file is then rebuilt, so that its free pages contain nothing that was removed.
  ///
  /// - Parameters:
  ///   - ids: at least one id.
  ///   - found: devices of these people that are known from elsewhere.
  ///   - isOf: returns whether a device's state has one of the ids, which only the platform knows.
  /// - Throws: `CommandError` if unfinished work prevents the erasure, and what `isOf` throws. If only the
  ///   rebuilding fails, the people are removed, but free pages may still contain them.
  package func erase(
    _ ids: [PersonID], found: Set<[UInt8]> = [], at now: Instant, _ options: ErasureOptions,
    isOf: ([PersonID]) -> (StoredDevice) throws -> Bool
  ) throws -> ErasureReport {
    let hash = try personHash
    let owned = try owned(by: ids, isOf)
    let people = ErasedPeople(
      ids: ids, devices: found.union(owned.devices).sorted { $0.lexicographicallyPrecedes($1) })
    let work = { (db: Database) throws -> ErasureReport in
      if let obstacle = try connection.format.personal?.obstacle(toErasing: people, in: db) {
        throw CommandError(.configuration, obstacle)
      }
      var unknown = Dictionary(
        ids.filter { $0.kind != .device && !owned.ids.contains($0) }.map { ($0, PersonTrace($0.bytes)) },
        uniquingKeysWith: { first, _ in first })
      let strike: RowRemoval.Witness = { _, row in
        let bytes = Array(row.compactText.utf8)
        unknown = unknown.filter { !$0.value.occurs(in: bytes) }
      }
      var report = try self.erase(people, hash, witness: unknown.isEmpty ? nil : strike, in: db)
      let devices = Set(report.devices)
      report.unknown = ids.filter { $0.kind == .device ? !devices.contains($0.bytes) : unknown[$0] != nil }
      try Self.prove(people, report, hash, at: now, options, in: db)
      return report
    }
    guard !options.isRehearsal else { return try connection.rehearse(work) }
    let report = try connection.write(work)
    try connection.rebuild()
    return report
  }

  /// Passes to `body` the data that ``erase(_:found:at:_:isOf:)`` would remove, and changes nothing.
  package func forEachTrace(of ids: [PersonID], devices: [[UInt8]], _ body: @escaping RowRemoval.Witness) throws {
    let hash = try personHash
    _ = try connection.rehearse { try erase(ErasedPeople(ids: ids, devices: devices), hash, witness: body, in: $0) }
  }

  /// Returns the devices of people, given or found, as the bytes of their ids.
  package func devices(
    of ids: [PersonID], _ isOf: ([PersonID]) -> (StoredDevice) throws -> Bool
  ) throws -> Set<[UInt8]> {
    try owned(by: ids, isOf).devices
  }

  /// Returns the devices of people, given or found, and the ids of other kinds for which a device was found.
  private func owned(
    by ids: [PersonID], _ isOf: ([PersonID]) -> (StoredDevice) throws -> Bool
  ) throws -> (devices: Set<[UInt8]>, ids: Set<PersonID>) {
    var devices = Set(ids.filter { $0.kind == .device }.map(\.bytes))
    let others = ids.filter { $0.kind != .device }
    guard !others.isEmpty else { return (devices, []) }
    var owners: Set<PersonID> = []
    let (isOfAny, tests) = (isOf(others), others.map { (id: $0, isOf: isOf([$0])) })
    try Timelines(connection: connection).forEachDevice { device in
      guard try isOfAny(device) else { return }
      devices.insert(device.device)
      for test in tests where try !owners.contains(test.id) && test.isOf(device) { owners.insert(test.id) }
    }
    try connection.read { db in
      for id in others {
        guard let found = try connection.format.personal?.devices(of: [id], in: db), !found.isEmpty else { continue }
        devices.formUnion(found)
        owners.insert(id)
      }
    }
    return (devices, owners)
  }

  /// Returns the ids of people in the platform's own tables.
  package func personalTableIDs() throws -> Set<String> {
    try connection.read { try connection.format.personal?.ids(in: $0) ?? [] }
  }

  private func erase(
    _ people: ErasedPeople, _ hash: PersonHash, witness: RowRemoval.Witness?, in db: Database
  ) throws -> ErasureReport {
    let devices = Set(people.devices)
    let allIDs = Set(people.devices + people.ids.map(\.bytes))
    let traces = allIDs.sorted { $0.lexicographicallyPrecedes($1) }.map(PersonTrace.init)
    var removal = RowRemoval(witness)
    var found: Set<[UInt8]> = []

    var removed: Set<EventID> = []
    for row in try Row.fetchAll(
      db, sql: "SELECT id, status, pack, offset, length FROM chunk WHERE status <> ?", arguments: [ChunkStatus.split])
    {
      let counts = try Ledger(connection: connection).removeEvents(of: row, in: db) { event, status in
        let (device, json) = (Array(event.device), event.json)
        if devices.contains(device) { found.insert(device) }
        guard devices.contains(device) || traces.contains(where: { $0.occurs(in: json) }) else {
          return false
        }
        let id = event.id
        removed.insert(id)
        if case .events(let status) = status {
          try removal.show(
            "events",
            [
              "id": .text("\(id)"), "status": .text(status.name),
              "event": try JSONNode.parse(json, options: .nulCharacters),
            ])
        }
        return true
      }
      for (status, count) in counts { removal.count(count, status.name) }
    }
    try Ledger.dropLooseRows(in: db)
    try Self.clearUnusedBlocks(in: db)
    // Lines of these people are refused from now on, so known files must be read again.
    try Runs.forgetKnownFiles(in: db)

    try eraseQuarantine(devices, traces, removed, with: &removal, in: db)
    // A replaced state may have ids that the last one lacks.
    for state in try Timelines(connection: connection).removeStates(
      in: db, isThorough: true, where: { state, _ in devices.contains(state.device) })
    {
      found.insert(state.device)
      removal.count(1, "devices")
      removal.count(state.held, EventStatus.hold.name)
    }
    for device in people.devices {
      for (what, table) in [("eventChanges", "event_change"), ("corrections", "correction")] {
        try removal.delete(
          what, from: table, where: "device = ?1", device.blob.databaseValue, isCounted: false, in: db)
      }
    }
    try Timelines.eraseNights(of: devices, traces, with: removal, in: db)
    try connection.format.personal?.erase(people, with: &removal, in: db)
    let pseudonyms = allIDs.map { PersonTrace(Array(hash.pseudonym($0).utf8)) }
    try Self.eraseReports(traces + pseudonyms, with: &removal, in: db)
    try Self.eraseWords(traces, with: removal, in: db)
    return ErasureReport(devices: people.devices.filter(found.contains), counts: removal.counts)
  }

  /// Removes quarantined lines and events of these people, pending or not.
  private func eraseQuarantine(
    _ devices: Set<[UInt8]>, _ traces: [PersonTrace], _ removed: Set<EventID>, with removal: inout RowRemoval,
    in db: Database
  ) throws {
    var erased: [Int64] = []
    try db.forEachRow("SELECT id, file, raw, block FROM quarantine") { row in
      let file: String = try row.value("file")
      let event = QuarantinedLine.event(at: file).flatMap { EventID($0) }
      let isErased =
        try event.map { removed.contains($0) } ?? false || Self.occurs(traces, in: row.blob("raw"))
        || row.bytes("block").map { try self.isOf(devices, traces, block: $0) } ?? false
      if isErased { erased.append(try row.value("id")) }
    }
    for id in erased {
      try removal.delete("quarantined", from: "quarantine", where: "id = ?1", id.databaseValue, in: db)
    }
  }

  /// Returns whether a line contains one of the ids, however it is escaped.
  private static func occurs(_ traces: [PersonTrace], in line: [UInt8]) -> Bool {
    if traces.contains(where: { $0.occurs(in: line) }) { return true }
    guard line.contains(UInt8(ascii: "\\")) else { return false }
    // A line that is not JSON has no JSON escapes.
    guard let plain = try? Array(JSONNode.parse(line, options: [.duplicateKeys, .nulCharacters]).canonicalText.utf8)
    else { return false }
    return traces.contains { $0.occurs(in: plain) }
  }

  private func isOf(_ devices: Set<[UInt8]>, _ traces: [PersonTrace], block: [UInt8]) throws -> Bool {
    let cursor = try connection.format.wireForm.reader(of: block)
    while try cursor.next() {
      let json = cursor.json
      if devices.contains(Array(cursor.device)) || traces.contains(where: { $0.occurs(in: json) }) { return true }
    }
    return false
  }

  /// Replaces ids and their pseudonyms in the reports of runs.
  private static func eraseReports(
    _ traces: [PersonTrace], with removal: inout RowRemoval, in db: Database
  ) throws {
    for id in try Int64.fetchAll(db, sql: "SELECT id FROM run WHERE report IS NOT NULL ORDER BY id") {
      guard let row = try Row.fetchOne(db, sql: "SELECT report FROM run WHERE id = ?", arguments: [id]) else {
        continue
      }
      let bytes = try row.blob("report")
      let rest = traces.reduce(bytes) { $1.erased(from: $0) ?? $0 }
      guard rest != bytes else { continue }
      try db.execute(sql: "UPDATE run SET report = ? WHERE id = ?", arguments: [rest.blob, id])
      try removal.show("reports", .object(["run": .number(id)]))
      removal.count(1, "reports")
    }
  }

  /// Replaces ids in text columns, such as those for file names and for the reasons given by a service.
  private static func eraseWords(_ traces: [PersonTrace], with removal: RowRemoval, in db: Database) throws {
    for table in try StoredTable.all(in: db) where table.hasRowNumbers {
      for column in table.columns where column.type == "TEXT" {
        let name = StoredTable.Column.quoted(column.name)
        var changed: [(Int64, String)] = []
        try db.forEachRow(
          "SELECT rowid AS number, \(name) AS text FROM \(table.quoted) WHERE length(\(name)) >= 8"
        ) { row in
          let text: String = try row.value("text")
          let bytes = Array(text.utf8)
          let rest = traces.reduce(bytes) { $1.erased(from: $0) ?? $0 }
          guard rest != bytes else { return }
          try removal.show(
            "words", .object(["table": .text(table.name), "column": .text(column.name), "text": .text(text)]))
          changed.append((try row.value("number"), String(decoding: rest, as: UTF8.self)))
        }
        for (row, text) in changed {
          try db.execute(sql: "UPDATE \(table.quoted) SET \(name) = ? WHERE rowid = ?", arguments: [text, row])
        }
      }
    }
  }

  /// Zeroes the blocks that no chunk uses, in packs that other chunks still use.
  private static func clearUnusedBlocks(in db: Database) throws {
    let packs = try Int64.fetchAll(
      db,
      sql: """
        SELECT p.id FROM pack p
        JOIN (SELECT pack, sum(length) AS used FROM chunk WHERE pack IS NOT NULL GROUP BY pack) c ON c.pack = p.id
        WHERE length(p.bytes) > c.used
        """)
    for pack in packs {
      guard let row = try Row.fetchOne(db, sql: "SELECT bytes FROM pack WHERE id = ?", arguments: [pack]) else {
        continue
      }
      let bytes = try row.blob("bytes")
      var rest = [UInt8](repeating: 0, count: bytes.count)
      for chunk in try Row.fetchAll(db, sql: "SELECT offset, length FROM chunk WHERE pack = ?", arguments: [pack]) {
        let (offset, length) = (try chunk.value("offset") as Int, try chunk.value("length") as Int)
        guard offset >= 0, length >= 0, offset + length <= bytes.count else { throw StoreError.damagedBlock }
        rest.replaceSubrange(offset..<offset + length, with: bytes[offset..<offset + length])
      }
      if rest != bytes { try db.execute(sql: "UPDATE pack SET bytes = ? WHERE id = ?", arguments: [rest.blob, pack]) }
    }
  }

  private static func prove(
    _ people: ErasedPeople, _ report: ErasureReport, _ hash: PersonHash, at now: Instant, _ options: ErasureOptions,
    in db: Database
  ) throws {
    try db.execute(sql: "INSERT INTO erasure (at) VALUES (?)", arguments: [now.milliseconds])
    let erasure = db.lastInsertedRowID
    func add(_ kind: PersonID.Kind, _ id: [UInt8], isRefused: Bool) throws {
      let mark = id.withText { hash.mark($0) }
      try db.execute(
        sql: "INSERT OR IGNORE INTO erased_id (erasure, kind, code, mark, is_refused) VALUES (?, ?, ?, ?, ?)",
        arguments: [erasure, kind.name, hash.code(kind, id).blob, mark, isRefused])
    }
    for id in people.ids { try add(id.kind, id.bytes, isRefused: true) }
    for device in people.devices { try add(.device, device, isRefused: !options.admitsFoundDevices) }
    for (what, count) in report.counts {
      try db.execute(
        sql: "INSERT INTO erased_count (erasure, what, count) VALUES (?, ?, ?)", arguments: [erasure, what, count])
    }
  }
}
