import BatchFoundation
import Engage
import EngageRules
import FoundationEssentials
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// What is left of a damaged store is taken over into a new one.
extension DamagedStoreTests {
  @Test func salvageTakesOverWhatIsWholeAndListsTheRest() throws {
    let store = try EventStore.open(folder.store)
    let run = try store.runs.begin(
      job: "nightly", configurationDigest: "c", started: Instant(milliseconds: 1), asOf: Instant(milliseconds: 2))
    let events = (1...40).map { fixtures.event(Int64($0), emission: Int64($0)) }
    try store.commit(fixtures.batch(events, limits: RequestLimits(maxEvents: 10, maxBodyBytes: 100_000)), run: run)
    let key = try store.runs.reportKey()
    try store.close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { try $0.execute(sql: "UPDATE chunk SET length = length + 1 WHERE id = 4") }
    try queue.close()

    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    let new = folder.path + "/new.sqlite"
    let report = try damaged.salvage(to: new)
    #expect(report.lost == [StoreDamage(table: "chunk", row: 4, problem: "the block of its events is damaged")])
    #expect(report.rows.first { $0.table == "chunk" }?.rows == 4)
    #expect(throws: StoreError.exists(path: new)) { try damaged.salvage(to: new) }
    // It used to stay beside the new store.
    #expect(!FileManager.default.fileExists(atPath: new + ".salvage.lock"))
    try damaged.close()
    let salvaged = try EventStore.open(new)
    #expect(try salvaged.ledger.statusCounts() == [.notPosted: 30])
    #expect(try salvaged.runs.reportKey() == key)
    #expect(try salvaged.runs.all().map(\.id) == [run])
    try salvaged.close()
  }

  /// Of rows that were lost nobody learned the number. The index of their places is whole.
  @Test func salvageTellsHowManyRowsAreMissing() throws {
    let store = try EventStore.open(folder.store)
    try store.write { db in
      for number in 1...400 {
        try db.execute(
          sql: "INSERT INTO quarantine (run, file, line, offset, reason, detail, raw) VALUES (1, 'f', ?, 0, '', '', ?)",
          arguments: [number, Data(repeating: 7, count: 200)])
      }
    }
    let (root, pageSize) = try store.connection.read { db in
      (
        try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'quarantine'") ?? 0,
        try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
      )
    }
    try store.close()
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.store)))
    // The page of the left-most rows: the first child of the table's root.
    let page = (root - 1) * pageSize
    let cell = page + Int(bytes[page + 12]) << 8 + Int(bytes[page + 13])
    let child = bytes[cell..<cell + 4].reduce(0) { $0 << 8 | Int($1) }
    for place in (child - 1) * pageSize..<child * pageSize { bytes[place] = 0xFF }
    try Data(bytes).write(to: URL(filePath: folder.store))

    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    let report = try damaged.salvage(to: folder.path + "/new.sqlite")
    try damaged.close()
    let taken = try #require(report.rows.first { $0.table == "quarantine" }?.rows)
    #expect(taken > 0 && taken < 400)
    let lost = report.lost.filter { $0.table == "quarantine" }
    #expect(
      lost.map(\.problem) == [
        "unreadable rows were not copied (\(400 - taken) of 400): 11 (database disk image is malformed)"
      ])
  }

  /// A salvage that was killed used to leave a store that was whole, and a run on it would have sent everything again.
  @Test func aSalvageThatWasStoppedIsNoStore() throws {
    let store = try EventStore.open(folder.store)
    let new = folder.path + "/new.sqlite"
    let draft = try EventStore.open(new + ".salvage")
    try draft.write { try $0.execute(sql: "PRAGMA application_id = \(StoreSchema.salvageID)") }
    try draft.close()
    #expect(throws: StoreError.unfinished(path: new + ".salvage")) { try EventStore.open(new + ".salvage") }
    #expect(throws: StoreError.unfinished(path: new + ".salvage")) { try EventStore.openReading(new + ".salvage") }
    // Nor is there room for a new one, which would send again what the damaged one has sent.
    #expect(throws: StoreError.unfinished(path: new + ".salvage")) { try EventStore.open(new) }
    #expect(!FileManager.default.fileExists(atPath: new))
    _ = try store.salvage(to: new)
    #expect(!FileManager.default.fileExists(atPath: new + ".salvage"))
    try EventStore.openReading(new).close()
    // What somebody else has there stays.
    let other = folder.path + "/other.sqlite"
    try EventStore.open(other + ".salvage").close()
    #expect(throws: StoreError.exists(path: other + ".salvage")) { try store.salvage(to: other) }
    try store.close()
  }

  @Test func salvageGoesOnBehindAPageThatIsGone() throws {
    let store = try EventStore.open(folder.store)
    try store.write { db in
      for number in 1...3000 {
        try db.execute(
          sql: "INSERT INTO service_mark (name, value) VALUES (?, ?)",
          arguments: ["mark \(10_000 + number)", String(repeating: "v", count: 40)])
      }
    }
    try store.close()
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.store)))
    // The page in the middle of the table's leaves.
    let middle = Array("mark 11500".utf8)
    let at = try #require(bytes.indices.first { bytes[$0...].starts(with: middle) })
    for index in at / 16_384 * 16_384..<at / 16_384 * 16_384 + 16_384 { bytes[index] = 0xA5 }
    try Data(bytes).write(to: URL(filePath: folder.store))
    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    let report = try damaged.salvage(to: folder.path + "/new.sqlite")
    let rows = report.rows.first { $0.table == "service_mark" }?.rows ?? 0
    #expect((2000..<3000).contains(rows), "\(rows)")
    #expect(report.lost.map(\.table) == ["service_mark"])
  }
}
