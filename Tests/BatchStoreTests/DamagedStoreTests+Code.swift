import BatchFoundation
import Engage
import FoundationEssentials
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// What computes in place of a table is not read by anybody: `store status` and `run --dry-run` read views without end, and columns of 900 MB.
extension DamagedStoreTests {
  /// What somebody made of the table `chunk`, or beside it.
  struct Foreign: Sendable, CustomTestStringConvertible {
    var what: String
    var sql: String
    var replacesTable = true
    var testDescription: String { what }

    static let all = [
      Foreign(
        what: "view",
        sql: """
          CREATE VIEW chunk AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
          SELECT COLUMNS FROM c
          """),
      Foreign(
        what: "computed column",
        sql: "CREATE TABLE chunk (COLUMNS, more TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL)"),
      Foreign(
        what: "computed column",
        sql: "CREATE TABLE chunk (COLUMNS, more TEXT GENERATED ALWAYS AS (hex(zeroblob(1))) STORED)"),
      Foreign(
        what: "virtual table", sql: "CREATE VIRTUAL TABLE more USING rtree(id, a, b)", replacesTable: false),
      Foreign(
        what: "computed index", sql: "CREATE INDEX evil ON run (hex(zeroblob(10)))", replacesTable: false),
      Foreign(
        what: "computed index condition",
        // No row has that id: a sanitizer computes such a text for half an hour.
        sql: "CREATE INDEX evil ON run (id) WHERE id < 0 AND length(printf('%.*c', 900000000, 'x')) > id",
        replacesTable: false),
      Foreign(
        what: "computed index condition", sql: "CREATE INDEX evil ON run (id) WHERE (job GLOB '*a*a*a*b')",
        replacesTable: false),
      Foreign(
        what: "comment in its schema", sql: "CREATE INDEX evil ON run (id) WHERE length/* IN */(job) > 1",
        replacesTable: false),
      Foreign(
        what: "CHECK constraint",
        sql: "CREATE TABLE evil (a INTEGER Check(length(printf('%.*c', 900000000, 'x')) > a))", replacesTable: false),
      Foreign(
        what: "computed default", sql: "CREATE TABLE evil (a TEXT DEFAULT (hex(randomblob(9))))", replacesTable: false),
      Foreign(
        what: "trigger", sql: "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END", replacesTable: false),
      Foreign(what: "view", sql: "CREATE VIEW more AS SELECT 1", replacesTable: false),
    ]
  }

  @Test(.timeLimit(.minutes(1)), arguments: Foreign.all)
  func aStoreThatComputesIsNotOpened(_ foreign: Foreign) throws {
    let store = try EventStore.open(folder.store)
    let events = (1...40).map { fixtures.event(Int64($0), emission: Int64($0)) }
    let run = try store.runs.begin(
      job: "nightly", configurationDigest: "c", started: Instant(milliseconds: 1), asOf: Instant(milliseconds: 2))
    try store.commit(fixtures.batch(events, limits: RequestLimits(maxEvents: 10, maxBodyBytes: 100_000)), run: run)
    try store.close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { db in
      let names = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('chunk')")
      let isView = foreign.sql.hasPrefix("CREATE VIEW")
      let columns = names.map { isView ? "1 AS \"\($0)\"" : "\"\($0)\"" }.joined(separator: ", ")
      try db.execute(sql: "PRAGMA legacy_alter_table = ON")
      if foreign.replacesTable { try db.execute(sql: "DROP TABLE chunk") }
      try db.execute(sql: foreign.sql.replacing("COLUMNS", with: columns))
    }
    try queue.close()

    let problem = "the file contains a \(foreign.what), which is not allowed in a store"
    let error = StoreError.damaged(path: folder.store, detail: problem)
    #expect(throws: error) { try EventStore.open(folder.store) }
    #expect(throws: error) { try EventStore.openReading(folder.store) }
    #expect(throws: error) { try EventStore.openProved(folder.store, format: .engage) }
    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    var found: [StoreDamage] = []
    try damaged.check { found.append($0) }
    #expect(Set(found.map(\.problem)) == [problem])
    let report = try damaged.salvage(to: folder.path + "/new.sqlite")
    try damaged.close()
    #expect(
      report.lost
        == (foreign.replacesTable
          ? [StoreDamage(table: "chunk", problem: "a view or other computed object has this name; it was not copied")]
          : []))
    #expect(report.rows.first { $0.table == "run" }?.rows == 1)
    try EventStore.openReading(folder.path + "/new.sqlite").close()
  }

  /// Whose the store is stands in a table, too.
  @Test(.timeLimit(.minutes(1))) func aViewInPlaceOfTheDestinationIsNotAsked() throws {
    try EventStore.open(folder.store).close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { db in
      try db.execute(
        sql: """
          DROP TABLE destination;
          CREATE VIEW destination AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
          SELECT x AS kind, x AS address, x AS share, x AS is_used FROM c
          """)
    }
    try queue.close()
    let damaged = try EventStore.openReading(folder.store, checksPages: false)
    var found: [StoreDamage] = []
    try damaged.check { found.append($0) }
    #expect(found == [StoreDamage(table: "", problem: "the file contains a view, which is not allowed in a store")])
    try damaged.close()
  }
}
