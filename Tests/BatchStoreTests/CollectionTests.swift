import Engage
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// What parts bring goes from store to store in one pass.
@Suite struct CollectionTests {
  /// A statement that asks the table that it fills for its last row copies what it takes into a temporary file first.
  @Test func blocksGoFromStoreToStoreWithoutATemporaryCopy() throws {
    let folder = try TemporaryFolder()
    let part = folder.path + "/part.sqlite"
    try EventStore.open(part, format: .engage).close()
    let store = try EventStore.open(folder.store, format: .engage)
    let tables = ["event_exception", "chunk", "event_change", "pack"]
    var opcodes: [String: Set<String>] = [:]
    try store.parts.connection.attaching(part) { db in
      for table in tables {
        let statement = try #require(Parts.collection.first { $0.hasPrefix("INSERT INTO main.\(table)") })
        let count = (1...9).last { statement.contains("?\($0)") } ?? 0
        let arguments = StatementArguments([Int64](repeating: 1, count: count))
        let steps = try Row.fetchAll(db, sql: "EXPLAIN " + statement, arguments: arguments)
        opcodes[table] = try Set(steps.map { try $0.value("opcode") })
      }
    }
    for table in tables {
      #expect(opcodes[table]?.contains("Insert") == true, "\(table)")
      #expect(opcodes[table]?.contains("OpenEphemeral") == false, "\(table)")
    }
    try store.close()
  }
}
