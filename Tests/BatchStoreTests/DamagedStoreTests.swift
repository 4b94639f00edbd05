import BatchFoundation
import EngageRules
import FoundationEssentials
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore
@testable import Engage

/// A damaged store ends in an error whose words hold no value of it, whatever is damaged and whoever reads.
///
/// `ENGAGE_EVERY_BYTE=1` damages every byte of the store and puts every value into every column; else a sample.
@Suite struct DamagedStoreTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()

  /// What must not be told.
  private static let secret = "someone@example.com"

  init() throws { folder = try TemporaryFolder() }

  private var damagesEverything: Bool { ProcessInfo.processInfo.environment["ENGAGE_EVERY_BYTE"] == "1" }

  /// A store with a row in every table.
  private func makeStore() throws {
    let store = try EventStore.open(folder.store)
    let run = try store.runs.begin(
      job: "nightly", configurationDigest: "c", started: Instant(milliseconds: 1), asOf: Instant(milliseconds: 2))
    let events = (1...40).map { fixtures.event(Int64($0), emission: Int64($0), user: Self.secret, name: Self.secret) }
    var batch = fixtures.batch(events, limits: RequestLimits(maxEvents: 10, maxBodyBytes: 100_000))
    [1, 2, 3].withUnsafeBufferPointer { batch.devices.append(device: "D1", version: 1, held: 1, state: $0) }
    batch.digests = [
      DigestSegment(
        bucket: 3, first: Instant(milliseconds: 5), last: Instant(milliseconds: 9),
        digests: [UInt8](repeating: 9, count: 32))
    ]
    batch.quarantine = [
      QuarantinedLine(
        file: "f", line: 4, offset: 9, reason: .invalidUTF8, detail: "", raw: Array(Self.secret.utf8), kind: .events)
    ]
    try store.commit(batch, run: run)
    try store.ledger.makeIndexes()
    let chunk = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
    let prepared = try store.ledger.prepare(chunk, form: 0, limits: .test())
    _ = try store.ledger.commit(
      results: [], intents: [(prepared, Instant(milliseconds: 3))], run: run,
      limits: .test())
    try store.write { db in
      for table in try StoredTable.all(in: db) {
        guard try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.quoted)") == 0 else { continue }
        let values = table.columns.map { column in
          switch column.type {
          case "INTEGER": "1"
          case "TEXT": "'\(Self.secret)'"
          default: "x'00'"
          }
        }
        try db.execute(sql: "INSERT INTO \(table.quoted) VALUES (\(values.joined(separator: ", ")))")
      }
    }
    try store.close()
  }

  /// Reads everything in every way; what is thrown is told without values.
  private func readAll(_ path: String, _ comment: String) {
    func attempt(_ body: () throws -> Void) {
      do {
        try body()
      } catch {
        let words = "\(error)"
        #expect(error is StoreError, "\(comment): \(type(of: error)) \(words)")
        #expect(!words.contains(Self.secret), "\(comment): \(words)")
      }
    }
    attempt {
      let store = try EventStore.openReading(path, checksPages: false)
      attempt { _ = try store.ledger.statusCounts() }
      attempt { try store.ledger.forEachEvent(status: nil) { _ in true } }
      for status in EventStatus.allCases { attempt { try store.ledger.forEachEvent(status: status) { _ in true } } }
      attempt { _ = try store.overview() }
      attempt { _ = try store.runs.all() }
      attempt { _ = try store.runs.reportKey() }
      attempt { _ = try store.destination() }
      attempt { try store.timelines.forEachDevice { _ in } }
      attempt { try store.timelines.forEachHoldingDevice { _ in } }
      attempt { _ = try store.timelines.knownDigests(bucket: 3, from: Instant(milliseconds: 0), to: Instant.last) }
      attempt { _ = try store.timelines.device(Array("D1".utf8)) }
      attempt { _ = try store.timelines.dueDevices(bucket: DeviceHash("D1").bucket, before: Instant.last) }
      attempt { try store.quarantine.forEachLine(all: true) { _ in } }
      attempt { _ = try store.quarantine.counts() }
      attempt { _ = try store.quarantine.pendingLines(store.quarantine.pendingLines()) }
      attempt { _ = try store.merges.plans() }
      attempt { _ = try store.merges.openPlans() }
      attempt { _ = try store.identities.pendingChecks(after: nil, limit: 10) }
      attempt { _ = try store.identities.personsToSetUp(after: nil, limit: 10) }
      attempt { _ = try store.identities.pendingLocations() }
      attempt { _ = try store.identities.who { try $0.identity(of: Self.secret, "", recorded: "") } }
      attempt { _ = try store.identities.awaiting() }
      attempt {
        for sequence in try store.ledger.sequences([.pending]) {
          while let block = try sequence() { _ = try EventBlockReader(block, .engage) }
        }
      }
      attempt {
        var last: PendingChunk?
        while let chunk = try store.ledger.pendingChunks(after: last, limit: 1).first {
          last = chunk
          _ = try store.ledger.prepare(chunk, form: 0, limits: .test())
        }
      }
      attempt { try store.check { damage in #expect(!damage.problem.contains(Self.secret)) } }
      attempt { try store.close() }
    }
    let copy = path + ".write"
    attempt {
      // A file that cannot be copied is no matter of the store.
      try? FileManager.default.removeItem(atPath: copy)
      try? FileManager.default.copyItem(atPath: path, toPath: copy)
      let store = try EventStore.open(copy)
      attempt { _ = try store.ledger.recoverAttempts(hold: false, run: RunID(number: 9), at: Instant(milliseconds: 9)) }
      attempt { _ = try store.ledger.requeue([.failedPost, .unknown]) }
      attempt { _ = try store.retention.purge(asOf: Instant.last, days: 1) }
      attempt {
        _ = try store.ledger.expire(outOf: DeliveryWindow(after: Instant(milliseconds: 5), before: Instant.last))
      }
      attempt { _ = try store.ledger.hold(eventsOf: ["D1"]) }
      attempt { try store.timelines.mergeStates() }
      attempt { try store.close() }
    }
  }

  @Test func everyColumnMayHoldAnything() throws {
    try makeStore()
    let whole = try Data(contentsOf: URL(filePath: folder.store))
    let columns = try DamagedStore.columns(of: folder.store)
    #expect(columns.count > 100)
    for (turn, column) in columns.enumerated() where damagesEverything || turn % 2 == 0 {
      // Every second column meets one of the values, and neighbours meet others, unless all are asked for.
      let values = DamagedStore.values
      for value in damagesEverything ? values : [values[turn / 2 % values.count]] {
        let path = "\(folder.path)/damaged.sqlite"
        try whole.write(to: URL(filePath: path))
        if try DamagedStore.set(column, to: value, in: path) { readAll(path, "\(column) = \(value)") }
      }
    }
  }

  /// Found by ``everyColumnMayHoldAnything()``: a delivery would have met the same chunk again and again.
  @Test func anOrderThatIsDamagedEndsInWords() throws {
    try makeStore()
    #expect(try DamagedStore.set(StoreColumn("chunk", "first"), to: "20.5", in: folder.store))
    let store = try EventStore.openReading(folder.store, checksPages: false)
    let chunk = try #require(try store.ledger.pendingChunks(after: nil, limit: 1).first)
    #expect(throws: StoreError.inconsistent("the pending chunks are out of order")) {
      _ = try store.ledger.pendingChunks(after: chunk, limit: 1)
    }
    try store.close()
  }

  /// Found by ``anyByteMayBeFlipped(stretch:)``: the schema's page led to one of another table, and SQLite's words quoted what stands there.
  @Test func aSchemaThatHoldsAValueDoesNotTellIt() throws {
    try EventStore.open(folder.store).close()
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
    let queue = try DatabaseQueue(path: folder.store, configuration: configuration)
    try queue.inDatabase { db in
      try db.execute(
        sql: "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('1', ?, '2', 3, '')",
        arguments: [Self.secret])
    }
    try queue.close()
    let error = StoreError.damaged(path: folder.store, detail: "malformed database schema")
    #expect(throws: error) { try EventStore.open(folder.store) }
    #expect(throws: error) { try EventStore.openReading(folder.store) }
    #expect(throws: error) { try EventStore.openReading(folder.store, checksPages: false) }
  }

  /// `store status` ended with a trap: such a time overflows in the calendar.
  @Test func aTimeThatNoStoreHasEndsInWords() throws {
    try makeStore()
    #expect(try DamagedStore.set(StoreColumn("chunk", "first"), to: "-9223372036854775808", in: folder.store))
    let store = try EventStore.openReading(folder.store, checksPages: false)
    #expect(throws: StoreError.damagedRow(path: folder.store, table: "chunk", row: 1, column: "first")) {
      _ = try store.overview()
    }
    try store.close()
  }

  /// A run that asked how far its rewinding reaches ended with a trap.
  @Test func aKnownTimeThatNoRunHasEndsInWords() throws {
    try makeStore()
    #expect(try DamagedStore.set(StoreColumn("run", "known_until"), to: "-9223372036854775808", in: folder.store))
    let store = try EventStore.openReading(folder.store, checksPages: false)
    #expect(throws: StoreError.damagedRow(path: folder.store, table: nil, row: nil, column: "max(known_until)")) {
      _ = try store.runs.knownUntil()
    }
    try store.close()
  }

  /// A run that settled replaced lines ended with a trap: such a place overflows in a file.
  @Test func aPlaceBeforeTheFileEndsInWords() throws {
    try makeStore()
    #expect(try DamagedStore.set(StoreColumn("quarantine", "offset"), to: "-1", in: folder.store))
    let store = try EventStore.openReading(folder.store, checksPages: false)
    #expect(throws: StoreError.damagedRow(path: folder.store, table: nil, row: nil, column: "offset")) {
      _ = try store.quarantine.pendingLines(store.quarantine.pendingLines())
    }
    try store.close()
  }

  /// The number of the next chunk overflowed, and ended the run with a trap.
  @Test func aChunkWithTheLastNumberEndsARunInWords() throws {
    let limits = RequestLimits(maxEvents: 10, maxBodyBytes: 100_000)
    func commit(_ number: Int64) throws {
      let store = try EventStore.open(folder.store)
      let run = try store.runs.begin(
        job: "nightly", configurationDigest: "c", started: Instant(milliseconds: 1), asOf: Instant(milliseconds: 2))
      try store.commit(fixtures.batch([fixtures.event(number, emission: number)], limits: limits), run: run)
      try store.close()
    }
    try commit(1)
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { try $0.execute(sql: "UPDATE chunk SET id = 9223372036854775807") }
    try queue.close()
    #expect(throws: StoreError.damagedRow(path: folder.store, table: nil, row: nil, column: "id")) { try commit(2) }
  }

  /// In stretches, which machines with several processors try beside one another.
  @Test(arguments: UInt64(0)..<8)
  func anyByteMayBeFlipped(stretch: UInt64) throws {
    try makeStore()
    try DamagedStore.shrink(folder.store)
    let whole = [UInt8](try Data(contentsOf: URL(filePath: folder.store)))
    var random = SplitMix64(seed: 14 + stretch)
    let places =
      damagesEverything
      ? whole.indices.filter { $0 % 8 == stretch }
      : (0..<8).map { _ in random.below(whole.count) } + (0..<3).map { _ in random.below(100) }
    for place in places {
      var bytes = whole
      bytes[place] ^= UInt8(1 << random.below(8))
      let path = "\(folder.path)/flipped.sqlite"
      try Data(bytes).write(to: URL(filePath: path))
      readAll(path, "byte \(place)")
    }
  }

  @Test func checkFindsNothingInAWholeStoreAndNamesTableAndRowInADamagedOne() throws {
    try makeStore()
    func damages() throws -> [StoreDamage] {
      let store = try EventStore.openReading(folder.store, checksPages: false)
      defer { try? store.close() }  // Nothing was written.
      var found: [StoreDamage] = []
      try store.check { found.append($0) }
      return found
    }
    // The rows that were made up are what no run writes.
    let checked = ["chunk", "digest_segment", "state_segment", "report_key", ""]
    let before = try damages().filter { checked.contains($0.table) }
    #expect(before == [])
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { db in
      try db.execute(sql: "UPDATE chunk SET events = 7 WHERE id = 2")
      try db.execute(sql: "UPDATE pack SET bytes = zeroblob(length(bytes))")
      try db.execute(sql: "UPDATE digest_segment SET digests = x'0102'")
      try db.execute(sql: "DELETE FROM report_key")
    }
    try queue.close()
    let found = try damages()
    #expect(found.contains(StoreDamage(table: "chunk", row: 2, problem: "the block of its events is damaged")))
    #expect(found.contains(StoreDamage(table: "digest_segment", row: 1, problem: "the digests are truncated")))
    let keyless = "the key for hashes is missing ('store salvage' creates a new one)"
    #expect(found.contains { $0.table == "report_key" && $0.problem.hasSuffix(keyless) })
  }

  @Test func aTriggerOfSomebodyElseDoesNotRun() throws {
    try EventStore.open(folder.store).close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { db in
      try db.execute(sql: "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END")
    }
    try queue.close()
    #expect(
      throws: StoreError.damaged(
        path: folder.store, detail: "the file contains a trigger, which is not allowed in a store")
    ) {
      try EventStore.open(folder.store)
    }
  }

  /// It was told that a run would mend it, and the run ended.
  @Test func aStoreWithoutItsNumberIsDamagedForWhoeverOpensIt() throws {
    try EventStore.open(folder.store).close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { try $0.execute(sql: "PRAGMA user_version = 0") }
    try queue.close()
    let error = StoreError.damaged(path: folder.store, detail: "its schema has no version number")
    #expect(throws: error) { try EventStore.open(folder.store) }
    #expect(throws: error) { try EventStore.openReading(folder.store) }
    // The two commands that the error names read it.
    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    var found: [StoreDamage] = []
    try damaged.check { found.append($0) }
    #expect(found == [StoreDamage(table: "", problem: "its schema has no version number")])
    let new = folder.path + "/new.sqlite"
    _ = try damaged.salvage(to: new)
    try damaged.close()
    try EventStore.openReading(new).close()
  }
}
