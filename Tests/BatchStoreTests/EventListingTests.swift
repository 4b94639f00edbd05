import BatchFoundation
import Engage
import EngageRules
import GRDB
import StoreSupport
import Testing

@testable import BatchStore

/// Listings read the blocks that they need and no others.
@Suite("First rows at once") struct EventListingTests {
  /// 100 blocks of 10 events, one a millisecond.
  private let filled: FilledStore

  init() throws {
    filled = try FilledStore(events: 1000, perChunk: 10)
    try filled.store.close()
  }

  private func listed(_ filter: EventFilter, limit: Int = .max) throws -> (events: Int, blocks: Int) {
    let opened = Guarded(0)
    var format = StoreFormat.engage
    format.wireForm.opened = { opened.withLock { $0 += 1 } }
    let store = try EventStore.openReading(filled.path, format: format)
    var events = 0
    try store.ledger.forEachEvent(filter) { _ in
      events += 1
      return events < limit
    }
    return (events, opened.withLock { $0 })
  }

  @Test("A limit ends at its block, wherever a listing begins")
  func limit() throws {
    #expect(try listed(EventFilter(), limit: 15) == (15, 2))
    var late = EventFilter()
    late.from = Instant(milliseconds: 801)
    #expect(try listed(late, limit: 5) == (5, 1))
    var behind = EventFilter()
    behind.after = EventID(timestamp: Instant(milliseconds: 500), device: "D1", emission: 500)
    // One to find the event, one that it stands in, and one behind.
    #expect(try listed(behind, limit: 5) == (5, 3))
    #expect(try listed(EventFilter(status: .failedPost)) == (0, 0))
  }

  @Test("Chunks come in their order from an index, so that the first row waits for no sort")
  func order() throws {
    let store = try EventStore.open(filled.path)
    try store.ledger.makeIndexes()
    for filter in [nil, .notPosted, .expired].map({ EventFilter(status: $0) }) {
      for after in [nil, (first: Int64(100), chunk: Int64(10))] {
        let plan = try store.read { db in
          let listing = filter.chunks(after: after)
          return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + listing.sql, arguments: listing.arguments)
            .map { try $0.value("detail") as String }
        }
        #expect(plan.first == "SEARCH chunk USING INDEX chunk_by_order (first>? AND first<?)", "\(plan)")
        #expect(!plan.contains { $0.contains("ORDER BY") }, "\(plan)")
      }
    }
    try store.close()
  }

  @Test("Blocks without a text that the wanted events have are not decoded")
  func mentions() throws {
    var filter = EventFilter()
    filter.mentions = [.whole(Array("event 123".utf8))]
    #expect(try listed(filter) == (10, 1))
    filter.mentions = [.part(Array("event 12".utf8))]
    // 12, 120, and 121 to 129.
    #expect(try listed(filter) == (30, 3))
    filter.mentions = [.whole(Array("event 12".utf8)), .part(Array("event 13".utf8))]
    #expect(try listed(filter) == (10, 1))
    filter.mentions = [.whole(Array("99".utf8))]
    #expect(try listed(filter) == (0, 0))
    // What may be written in several ways, or is in many blocks anyhow, does not choose.
    for text in ["say \"", "caf\u{e9}"] {
      filter.mentions = [.whole(Array(text.utf8)), .part(Array(text.utf8))]
      #expect(try listed(filter).blocks == 100, "\(text)")
    }
    var device = EventFilter()
    device.devices = [Array("nobody".utf8)]
    #expect(try listed(device) == (0, 0))
    device.devices = [Array("D1".utf8)]
    #expect(try listed(device, limit: 1) == (1, 1))
  }

  @Test("A rare text is looked for in each pack once, and comes in the order of the listing")
  func rare() throws {
    let filled = try FilledStore(events: 2000, perChunk: 2)
    try filled.store.close()
    let store = try EventStore.openReading(filled.path)
    let reads = Guarded(0)
    let packs = try store.read { db in
      db.trace { event in if "\(event)".contains("FROM pack WHERE id") { reads.withLock { $0 += 1 } } }
      return try Int.fetchOne(db, sql: "SELECT count(*) FROM pack") ?? 0
    }
    func times(_ filter: EventFilter) throws -> [Int64] {
      var times: [Int64] = []
      try store.ledger.forEachEvent(filter) { event in
        times.append(event.id.timestamp.milliseconds)
        return true
      }
      return times
    }
    var filter = EventFilter()
    // 190, and 1900 to 1909, in blocks of two.
    filter.mentions = [.part(Array("event 190".utf8))]
    #expect(try times(filter) == [189, 190] + Array(1899...1910))
    #expect(reads.withLock { $0 } <= MentioningChunks.patience + 1 + packs + 6)
    filter.after = EventID(timestamp: Instant(milliseconds: 1903), device: "D1", emission: 1903)
    #expect(try times(filter) == Array(1904...1910))
    filter.mentions = [.part(Array("nowhere".utf8))]
    filter.after = nil
    #expect(try times(filter) == [])
  }

  @Test("A block in which a character is written as its number is decoded, whatever it lacks")
  func escapes() {
    let pattern = [BytePattern(Array("abc".utf8))]
    #expect(BlockText.occur(pattern, in: "xxabcxx"))
    #expect(!BlockText.occur(pattern, in: "xxab"))
    #expect(BlockText.occur(pattern, in: #"xx\u0061bc"#))
  }

  @Test("A pattern is found at its first place behind a start, however short it is")
  func patterns() {
    let text = Array(#"aababcabcdabcde\u00e9\n\u"#.utf8)
    for count in 1...6 {
      for start in 0...text.count - count {
        let bytes = Array(text[start..<start + count])
        for from in 0...text.count {
          let place = text.indices.first { $0 >= from && text[$0...].starts(with: bytes) }
          #expect(BytePattern(bytes).place(in: text, from: from) == place, "\(bytes) from \(from)")
        }
      }
    }
    #expect(BytePattern(Array("xyz".utf8)).place(in: text) == nil)
    #expect(BytePattern(Array("wxyz".utf8)).place(in: text) == nil)
    #expect(BytePattern([0]).place(in: []) == nil)
  }

  @Test("Changes are in the order in which they are settled: new events, then the others by their earlier times")
  func changes() {
    func change(_ key: String, _ at: Int64?) -> EventChange {
      let before = at.map { WireEvent(timestamp: Instant(milliseconds: $0), emission: 1, json: []) }
      return EventChange(device: [], key: Array(key.utf8), before: before, after: nil, source: .unknown)
    }
    let changes = [change("b", 2), change("c", nil), change("d", 3), change("e", 2), change("f", nil), change("g", -1)]
    let keys = changes.inOrderOfSettlement.map { String(decoding: $0.key, as: UTF8.self) }
    #expect(keys == ["c", "f", "g", "b", "e", "d"])
  }
}
