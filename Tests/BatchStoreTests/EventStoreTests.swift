import BatchFoundation
import Engage
import EngageRules
import GRDB
import Glibc
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

@Suite struct EventStoreTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()
  static let now = Instant(milliseconds: 1_767_225_600_000)

  init() throws { folder = try TemporaryFolder() }

  func run(_ store: EventStore) throws -> RunID {
    try store.runs.begin(job: "nightly", configurationDigest: "c", started: Self.now, asOf: Self.now)
  }

  // MARK: Opening

  @Test func makesFilesThatOnlyTheOwnerMayRead() throws {
    let store = try EventStore.open(folder.store)
    _ = try run(store)
    #expect(try folder.names() == ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal", "store.sqlite.lock"])
    for name in try folder.names() {
      var info = stat()
      #expect(stat(folder.path + "/" + name, &info) == 0)
      #expect(info.st_mode & 0o777 == 0o600)
    }
    try store.close()
    #expect(try folder.names() == ["store.sqlite", "store.sqlite.lock"])
  }

  /// While a transaction is under way, the store is read as it was before it.
  @Test func isReadBesideATransactionAndClosedAsOne() throws {
    let store = try EventStore.open(folder.store)
    _ = try run(store)
    let beside = try store.beside()
    #expect(try store.beside().connection === beside.connection)
    try store.write { db in
      try db.execute(sql: "DELETE FROM run")
      #expect(try beside.runs.all().count == 1)
    }
    #expect(try beside.runs.all().isEmpty)
    #expect(throws: StoreError.self) { try beside.write { try $0.execute(sql: "DELETE FROM run") } }
    try store.close()
    #expect(try folder.names() == ["store.sqlite", "store.sqlite.lock"])
    // What nobody writes, or what has no log, is read through its own connection.
    let read = try EventStore.openReading(folder.store)
    #expect(try read.beside().connection === read.connection)
    let scratch = try EventStore.open(folder.path + "/scratch", format: .engage, isScratch: true)
    #expect(try scratch.beside().connection === scratch.connection)
    try scratch.close()
  }

  /// The words were those of a disk that cannot be read.
  @Test func aStoreThatIsGoneIsNotReadBeside() throws {
    let store = try EventStore.open(folder.store)
    _ = try run(store)
    #expect(unlink(folder.store) == 0)
    #expect(throws: StoreError.replaced(path: folder.store)) { try store.beside() }
    // What is left of the store cannot be written anywhere.
    try? store.close()
  }

  @Test func aChangeNeedsAStoreAndClosesIt() throws {
    #expect(throws: StoreError.missing(path: folder.store)) {
      try EventStore.change(folder.store, format: .engage) { _ in Issue.record("opened") }
    }
    #expect(try folder.names() == [])
    try EventStore.open(folder.store).close()
    // The error of the body passes through, and the lock is free afterwards.
    for _ in 1...2 {
      #expect(throws: CancellationError.self) {
        try EventStore.change(folder.store, format: .engage) { store in
          _ = try run(store)
          throw CancellationError()
        }
      }
    }
    let runs = try EventStore.change(folder.store, format: .engage) { try $0.runs.all().count }
    #expect(runs == 2)
    #expect(try folder.names() == ["store.sqlite", "store.sqlite.lock"])
  }

  @Test func refusesAStoreOfALaterRelease() throws {
    try EventStore.open(folder.store).close()
    // The schema number stands in the header, four bytes from 60 on, the high one first.
    let file = open(folder.store, O_RDWR)
    var version: UInt32 = UInt32(99).bigEndian
    #expect(pwrite(file, &version, 4, 60) == 4)
    Glibc.close(file)
    #expect(throws: StoreError.newer(path: folder.store, version: 99, known: StoreSchema.currentVersion)) {
      try EventStore.open(folder.store)
    }
  }

  /// It was opened, and what met the column first ended with words of SQLite.
  @Test func refusesAStoreOfAnEarlierFormWithTheSameNumber() throws {
    try EventStore.open(folder.store).close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { try $0.execute(sql: "ALTER TABLE digest_segment DROP COLUMN file") }
    try queue.close()
    let error = StoreError.otherForm(path: folder.store, table: "digest_segment", column: "file")
    #expect(error.exit == .configuration)
    #expect(throws: error) { try EventStore.open(folder.store) }
    #expect(throws: error) { try EventStore.openReading(folder.store) }
    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    var found: [String] = []
    try damaged.check { found.append($0.problem) }
    #expect(found.first == "table 'digest_segment' has no column 'file': another build created the store")
    #expect(throws: error) { try damaged.salvage(to: folder.path + "/new.sqlite") }
    try damaged.close()
    // The same of a table that came later.
    try EventStore.open(folder.path + "/two.sqlite").close()
    let other = try DatabaseQueue(path: folder.path + "/two.sqlite")
    try other.inDatabase { try $0.execute(sql: "DROP TABLE device_night") }
    try other.close()
    #expect(throws: StoreError.otherForm(path: folder.path + "/two.sqlite", table: "device_night", column: nil)) {
      try EventStore.open(folder.path + "/two.sqlite")
    }
  }

  @Test func findsAPageThatWasOverwritten() throws {
    let store = try EventStore.open(folder.store)
    try store.commit(fixtures.batch((1...500).map { fixtures.event(Int64($0), emission: Int64($0)) }), run: run(store))
    try store.close()
    let file = open(folder.store, O_RDWR)
    let noise = [UInt8](repeating: 0xA5, count: 4096)
    #expect(pwrite(file, noise, 4096, 4096 * 3) == 4096)
    Glibc.close(file)
    let error = #expect(throws: StoreError.self) { try EventStore.open(folder.store) }
    #expect(error?.exit == .inputOutput)
  }

  @Test func readingChangesNothing() throws {
    #expect(throws: StoreError.missing(path: folder.store)) { try EventStore.openReading(folder.store) }
    #expect(try folder.names() == [])
    let store = try EventStore.open(folder.store)
    try store.commit(fixtures.batch([fixtures.event(1)]), run: run(store))
    let beside = try EventStore.openReading(folder.store)
    #expect(try beside.ledger.statusCounts() == [.notPosted: 1])
    try beside.close()
    try store.close()
    let before = try folder.names()
    let alone = try EventStore.openReading(folder.store)
    #expect(try alone.ledger.statusCounts() == [.notPosted: 1])
    #expect(try folder.names() == before)
    #expect(throws: StoreError.self) { try run(alone) }
    try alone.close()
    #expect(try folder.names() == before)
  }

  @Test func aMissingStoreReadsAsAnEmptyOne() throws {
    let store = try EventStore.temporary()
    #expect(try store.ledger.statusCounts() == [:])
    #expect(try store.timelines.states(of: ["D1"]) == [nil])
    #expect(try store.timelines.knownDigests(bucket: 1, from: Self.now, to: Self.now) == [])
  }

  // MARK: The local part

  @Test func keepsWhatABatchBrings() throws {
    let store = try EventStore.open(folder.store)
    let run = try run(store)
    var batch = fixtures.batch([fixtures.event(5), fixtures.event(6, emission: 2, expired: true)])
    let state: [UInt8] = [1, 2, 0, 3]
    state.withUnsafeBufferPointer { batch.devices.append(device: "D1", version: 7, held: 2, state: $0) }
    let segment = DigestSegment(
      bucket: 3, first: Instant(milliseconds: 5), last: Instant(milliseconds: 9),
      digests: [UInt8](repeating: 9, count: 32))
    batch.digests = [segment]
    let line = QuarantinedLine(
      file: "/a.ndjson", line: 4, offset: 99, reason: .invalidUTF8, detail: "at byte 3", raw: [0xFF, 0x00])
    batch.quarantine = [line]
    batch.counters = "{\"read\":3}"
    try store.commit(batch, run: run)
    try store.close()

    let again = try EventStore.openReading(folder.store)
    #expect(try again.ledger.statusCounts() == [.notPosted: 1, .expired: 1, .hold: 2])
    #expect(
      try again.timelines.states(of: ["D2", "D1"]) == [
        nil, StoredDevice(device: Array("D1".utf8), version: 7, held: 2, state: state),
      ])
    #expect(
      try again.timelines.knownDigests(bucket: 3, from: Instant(milliseconds: 9), to: Instant(milliseconds: 20)) == [
        segment
      ])
    #expect(
      try again.timelines.knownDigests(bucket: 3, from: Instant(milliseconds: 10), to: Instant(milliseconds: 20)) == [])
    #expect(
      try again.timelines.knownDigests(bucket: 4, from: Instant(milliseconds: 0), to: Instant(milliseconds: 20)) == [])
    var lines: [QuarantinedLine] = []
    try again.quarantine.forEachLine(all: false) { lines.append($0.line) }
    #expect(lines == [line])
    #expect(try again.quarantine.counts() == [.invalidUTF8: 1])
    #expect(try again.runs.all().map(\.counters) == ["{\"read\":3}"])
    #expect(try again.runs.all().map(\.finished) == [nil])
  }

  @Test func setsAReplayedLineFree() throws {
    let store = try EventStore.open(folder.store)
    let run = try run(store)
    var batch = LocalBatch()
    batch.quarantine = [
      QuarantinedLine(file: "f", line: 1, offset: 0, reason: .wrongType, detail: "", raw: Array("{}".utf8))
    ]
    try store.commit(batch, run: run)
    try store.quarantine.markReplayed([1], by: run)
    var waiting = 0
    try store.quarantine.forEachLine(all: false) { _ in waiting += 1 }
    #expect(waiting == 0)
    var all: [RunID?] = []
    try store.quarantine.forEachLine(all: true) { all.append($0.replayedRun) }
    #expect(all == [run])
  }

  // MARK: Questions

  @Test func findsAnEventByItsId() throws {
    let store = try EventStore.open(folder.store)
    let events = (1...250).map { fixtures.event(Int64($0), device: "D\($0 % 7)", emission: Int64($0)) }
    try store.commit(fixtures.batch(events), run: run(store))
    let wanted = events[120]
    let id = EventID(timestamp: wanted.timestamp, device: wanted.device, emission: wanted.emission)
    let found = try store.ledger.event(id)
    #expect(found?.id == id)
    #expect(found?.status == .notPosted)
    #expect(found.map { String(decoding: $0.json, as: UTF8.self) } == json(wanted))
    #expect(try store.ledger.event(EventID(timestamp: wanted.timestamp, device: wanted.device, emission: 999)) == nil)
  }

  @Test func listsEventsOfAStatus() throws {
    let store = try EventStore.open(folder.store)
    let events = (1...5).map { fixtures.event(Int64($0), emission: Int64($0), expired: $0 == 3) }
    try store.commit(
      fixtures.batch(events, limits: RequestLimits(maxEvents: 2, maxBodyBytes: 100_000)), run: run(store))
    func list(_ status: EventStatus?, limit: Int = 100) throws -> [String] {
      var found: [String] = []
      try store.ledger.forEachEvent(status: status) { event in
        found.append(String(decoding: event.json, as: UTF8.self))
        return found.count < limit
      }
      return found
    }
    #expect(try list(nil) == events.map(json))
    #expect(try list(nil, limit: 3) == events.prefix(3).map(json))
    #expect(try list(.expired) == [json(events[2])])
    #expect(try list(.notPosted) == [0, 1, 3, 4].map { json(events[$0]) })
    #expect(try list(.failedPost) == [])
  }
}
