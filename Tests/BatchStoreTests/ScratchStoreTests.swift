import BatchFoundation
import Engage
import EngageRules
import FoundationEssentials
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// A store that is thrown away if it is not closed has no log, and once it is closed it is a store as any other.
@Suite struct ScratchStoreTests {
  private struct Refused: Error {}

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ store: EventStore, _ rows: Range<Int>, fails: Bool = false) throws {
    try store.write { db in
      for row in rows {
        try db.execute(
          sql: "INSERT INTO input_file (id, path, last_run) VALUES (?, ?, 1)",
          arguments: [row, String(repeating: "x", count: 3000)])
      }
      if fails { throw Refused() }
    }
  }

  private func count(_ store: EventStore) throws -> Int? {
    try store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM input_file") }
  }

  @Test func hasNoLogAndIsAStoreLikeAnyOtherOnceItIsClosed() throws {
    let store = try EventStore.open(folder.store, format: .engage, isScratch: true)
    try fill(store, 0..<1000)
    #expect(try folder.names() == ["store.sqlite", "store.sqlite.lock"])
    #expect(try Int.fetchOne(in: store, "PRAGMA synchronous") == 0)
    try store.close()
    #expect(try folder.names() == ["store.sqlite", "store.sqlite.lock"])
    // The bytes that say how the file is written, and read: with a log.
    #expect(Array(try Data(contentsOf: URL(filePath: folder.store))[18..<20]) == [2, 2])
    #expect(try count(try EventStore.openReading(folder.store)) == 1000)
    let later = try EventStore.open(folder.store)
    try fill(later, 1000..<1001)
    #expect(try folder.names().contains("store.sqlite-wal"))
    #expect(try Int.fetchOne(in: later, "PRAGMA synchronous") == 2)
    try later.close()
  }

  /// More than the cache holds, so that pages were written over before the transaction ended.
  @Test func takesBackWhatFailed() throws {
    let store = try EventStore.open(folder.store, format: .engage, isScratch: true)
    try fill(store, 0..<5000)
    #expect(throws: Refused.self) {
      try store.write {
        try $0.execute(sql: "UPDATE input_file SET path = replace(path, 'x', 'y')")
        throw Refused()
      }
    }
    #expect(throws: Refused.self) { try fill(store, 5000..<20_000, fails: true) }
    #expect(try count(store) == 5000)
    #expect(try Int.fetchOne(in: store, "SELECT count(*) FROM input_file WHERE path LIKE '%y%'") == 0)
    try store.close()
    let later = try EventStore.open(folder.store)
    #expect(try count(later) == 5000)
    #expect(try String.fetchOne(in: later, "PRAGMA integrity_check") == "ok")
    try later.close()
  }
}

extension DatabaseValueConvertible {
  fileprivate static func fetchOne(in store: EventStore, _ sql: String) throws -> Self? {
    try store.read { try Self.fetchOne($0, sql: sql) }
  }
}
