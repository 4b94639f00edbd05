import BatchFoundation
import FoundationEssentials
import GRDB
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// What a disk changes in a block is found before anything of it is sent.
@Suite struct BlockSumTests {
  let folder: TemporaryFolder
  let fixtures = EventFixtures()

  init() throws { folder = try TemporaryFolder() }

  /// Changes the store as no command does.
  private func change(_ sql: String, _ arguments: StatementArguments = []) throws {
    let queue = try DatabaseQueue(path: folder.store)
    try queue.inDatabase { try $0.execute(sql: sql, arguments: arguments) }
    try queue.close()
  }

  private func bodies(_ store: EventStore) throws -> [[UInt8]] {
    try store.ledger.pendingChunks(after: nil, limit: 100).map {
      try store.ledger.prepare($0, form: 0, limits: .test()).body
    }
  }

  private func fill() throws {
    let events = (1...30).map { fixtures.event(Int64($0), emission: Int64($0), name: "event \($0)") }
    let (store, _) = try folder.filled(events, maxEvents: 10)
    try store.close()
  }

  @Test func aBitThatIsFlippedAnywhereInABlockIsFound() throws {
    try fill()
    let queue = try DatabaseQueue(path: folder.store)
    let whole = try #require(try queue.inDatabase { try Data.fetchOne($0, sql: "SELECT bytes FROM pack") })
    try queue.close()
    for place in stride(from: 0, to: whole.count, by: 7) {
      var bytes = whole
      bytes[bytes.startIndex + place] ^= 1 << UInt8(place % 8)
      try change("UPDATE pack SET bytes = ?", [bytes])
      let store = try EventStore.openReading(folder.store)
      #expect(throws: StoreError.damagedBlock, "byte \(place)") { try bodies(store) }
      var damaged: [StoreDamage] = []
      try store.check { damaged.append($0) }
      #expect(damaged.map(\.table) == ["chunk"], "byte \(place): \(damaged)")
      try store.close()
    }
    try change("UPDATE pack SET bytes = ?", [whole])
    let store = try EventStore.openReading(folder.store)
    #expect(try bodies(store).count == 3)
    try store.close()
  }

  @Test func aPlaceThatIsNoBlockIsFound() throws {
    try fill()
    try change("UPDATE chunk SET offset = offset + 1, length = length - 1 WHERE id = 2")
    let store = try EventStore.openReading(folder.store)
    #expect(throws: StoreError.damagedBlock) { try bodies(store) }
    try store.close()
  }

  @Test func aPackOfAnEarlierReleaseIsReadAsItIs() throws {
    try fill()
    try change("UPDATE pack SET sums = NULL")
    let store = try EventStore.openReading(folder.store)
    #expect(try bodies(store).count == 3)
    try store.close()
  }
}
