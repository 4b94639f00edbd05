import EngageModel
import EngageStore
import Testing

@Suite struct EventMergeTests {
  @Test(arguments: 1...30)
  func bringsSortedBatchesIntoOneOrder(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let fixtures = EventFixtures()
    let spool = try EventSpool(folder: "/tmp")
    var all: [Event] = []
    for batch in 0..<Int.random(in: 0...9, using: &random) {
      let events = (0..<Int.random(in: 0...60, using: &random)).map { index in
        fixtures.event(
          Int64.random(in: 0...50, using: &random), device: "D\"\(Int.random(in: 0...9, using: &random))",
          emission: Int64(batch * 100 + index))
      }
      all += events
      try spool.append(fixtures.blocks(events, limits: BlockLimits(maxEvents: 7, maxBodyBytes: 1_000_000)))
    }
    var merge = try EventMerge(spool.sequences())
    var lines: [String] = []
    var buffer = ByteBuffer()
    while try merge.appendNext(to: &buffer) {
      lines.append(String(decoding: buffer.bytes, as: UTF8.self))
      buffer.removeAll()
    }
    #expect(lines == all.sorted(by: Event.precedes).map(json))
  }
}
