import BatchFoundation
import BatchStore
import EngageRules
import StoreSupport
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
    let lines = try Self.lines(of: spool.sequences())
    #expect(lines == all.sorted(by: Event.precedes).map(json))
    let narrow = try EventMerge.narrowed(spool.sequences(), width: 2, folder: "/tmp")
    #expect(narrow.count <= 2)
    #expect(try Self.lines(of: narrow) == lines)
  }

  private static func lines(of sequences: [BlockSequence]) throws -> [String] {
    var merge = try EventMerge(sequences)
    var lines: [String] = []
    var buffer = ByteBuffer()
    while try merge.appendNext(to: &buffer) {
      lines.append(String(decoding: buffer.bytes, as: UTF8.self))
      buffer.removeAll()
    }
    return lines
  }

  /// A caller may name another device in an attribute; the order is that of the phones all the same.
  @Test func anAttributeThatNamesAnotherDeviceDoesNotChangeTheOrder() throws {
    let fixtures = EventFixtures()
    let spool = try EventSpool(folder: "/tmp")
    for (device, named) in [("D2", "D0"), ("D1", "D9")] {
      var core = EventFixtures.core.map { "\($0.1)" }
      core[CoreAttribute.deviceId.rawValue] = named
      let event = fixtures.event(5, code: "17", device: device, emission: 1, core: core, extra: [])
      try spool.append(fixtures.blocks([event]))
    }
    var merge = try EventMerge(spool.sequences())
    var buffer = ByteBuffer()
    _ = try merge.appendNext(to: &buffer)
    #expect(String(decoding: buffer.bytes, as: UTF8.self).contains(#""Device Id","value":"D9""#))
  }
}
